"""Who makes a plan of a goal: each planner by name, and which of them are asked in turn if nobody names one.

A planner makes a plan, or declines with a reason. `plan_for` tells the reasons of all that declined, and what to do.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from os.path import isfile
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from perdure.agents.planner import create_execution_plan, with_lookups
from perdure.agents.requests.selecting import Catalogue
from perdure.agents.requests.wanting import Want, wants_of
from perdure.agents.templates import Template, classify, fill
from perdure.errors import PerdureError
from perdure.plan.expr import escaped
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import UNPLANNED
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import Raw
from perdure.plan.reading import read_data
from perdure.plan.reading.numbered import ExecutionPlan
from perdure.tools.tool import AnyTool

Name = Literal["template", "tools", "contracts", "model"]
SERVING: Final = "generalist"
"""The agent that does what nobody has a plan for."""
CONFIGURE: Final = (
    "name the tools in the goal (perdure tools ls), add a template, or have a model make the plan: none is configured"
)


class NoPlanner(PerdureError):
    """Nobody can make a plan of this goal."""

    code: ClassVar[str] = "PRD4205"
    exit_code: int = 6


class LeavesOut(PerdureError):
    """A plan does not do all that its goal says."""

    code: ClassVar[str] = "PRD4206"
    exit_code: int = 6


@dataclass(frozen=True)
class Asked:
    """A goal, and all that a planner may make a plan of it with."""

    goal: str
    tools: Mapping[str, AnyTool]
    templates: tuple[Template, ...] = ()
    template: str = ""
    """The template to take, whatever fits better."""
    given: Mapping[str, Raw] = field(default_factory=dict[str, Raw])
    """Values that somebody gives by name, read as JSON where they are JSON."""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The same as they were written."""
    filled: Mapping[str, Raw] = field(default_factory=dict[str, Raw])
    """What a model has found in the goal of what would be asked for, by the names in which it is."""
    named: tuple[str, ...] = ()
    """The tools that somebody has named: no search passes them over."""
    id: str = ""
    """The name of the plan, where it gets one."""
    at: datetime | None = None

    def known(self, wants: tuple[Want, ...]) -> dict[str, Raw]:
        """The values as those who take them want them: `-i zip=10115` is a number or a text."""
        by_name = {want.name: want for want in reversed(wants)}
        return {name: self._fitting(name, by_name.get(name)) for name in self.given}

    def _fitting(self, name: str, want: Want | None) -> Raw:
        value, text = self.given[name], self.texts.get(name)
        return value if want is None or text is None or want.fits(value) or not want.fits(text) else text


@dataclass(frozen=True)
class Made:
    """A plan, who made it, and why so."""

    plan: Plan
    planner: Name | Literal["nobody"]
    why: tuple[str, ...]
    asks: tuple[str, ...] = ()
    """What a person is asked for first."""
    left: tuple[str, ...] = ()
    """What the goal says and the plan does not do."""
    loose: tuple[str, ...] = ()
    """Of that, the values that might be what is asked for."""
    form: Mapping[str, Raw] = field(default_factory=dict[str, Raw])
    """JSON Schema of what a model may find in the goal of what is asked for; none of it has to be there."""
    numbered: ExecutionPlan | None = None
    """The same plan as a numbered one, where it was made so."""

    def whole(self, hint: str = "say it in other words") -> Plan:
        """The plan, if it does all that the goal says; else `LeavesOut`."""
        if self.left:
            raise LeavesOut(f"the plan would leave out: {'; '.join(self.left)}", hint)
        return self.plan


@dataclass(frozen=True)
class Declined:
    """Why a planner makes no plan."""

    why: str


Planner = Callable[[Asked], Made | Declined]


def by_template(asked: Asked) -> Made | Declined:
    """From a template that fits, or from the one that is named."""
    verdict = classify(asked.goal, asked.templates)
    if asked.template:
        chosen, why = _called(asked), (f"the template {asked.template} was named",)
    elif verdict.chosen:
        chosen, why = verdict.chosen.template, (verdict.why, f"from {verdict.chosen.template.origin}")
    else:
        return Declined(verdict.why)
    known = asked.known(chosen.wants)
    given = {name: value for name, value in known.items() if name in chosen.plan.inputs}
    filled = fill(chosen, asked.goal, given, asked.filled)
    values = tuple(f"{name} is {taken.how}" for name, taken in filled.taken.items())
    loose = _loose(filled.unused, asked.filled)
    left = (*loose, *(f"-i {name}" for name in known if name not in chosen.plan.inputs))
    wants = {want.name: dict(want.schema) for want in chosen.wants if want.sort != "secret"}
    form = _form({name: wants[name] for name in filled.missing if name in wants})
    return Made(filled.plan, "template", (*why, *values), filled.missing, left, loose, form)


def _form(fields: Mapping[str, Raw], shared: Raw = None) -> dict[str, Raw]:
    """A form in which nothing has to be filled in."""
    form: dict[str, Raw] = {"type": "object", "properties": dict(fields), "additionalProperties": False}
    return ({**form, "$defs": shared} if shared else form) if fields else {}


def _loose(unused: Iterable[str], filled: Mapping[str, Raw]) -> tuple[str, ...]:
    """The values of a goal that nothing takes, also nothing that a model has found there."""
    found = [str(value) for value in filled.values()]
    return tuple(each for each in unused if not any(each.strip("\"'`") in value for value in found))


def _called(asked: Asked) -> Template:
    for each in asked.templates:
        if each.name == asked.template:
            return each
    hint = did_you_mean(asked.template, (each.name for each in asked.templates))
    raise NoPlanner(f'there is no template "{asked.template}"', hint or "put it into perdure/templates/ of the project")


def by_tools(asked: Asked) -> Made | Declined:
    """From the tools that a search finds for the parts of the goal."""
    found = Catalogue(asked.tools).select(asked.goal)
    if not found.choices:
        told = f": {'; '.join(found.unmatched)}" if found.unmatched else ""
        return Declined(f"no tool fits{told}")
    tools = with_lookups(asked.goal, found.tools, asked.tools)
    spans = found.spans if len(tools) == len(found.tools) else ()
    known = asked.known(tuple(want for tool in tools for want in wants_of(tool.facts().inputs)))
    made = create_execution_plan(asked.goal, tools, known, id=asked.id, at=asked.at, spans=spans, filled=asked.filled)
    why = (*(f"{choice.tool.name}: {choice.why}" for choice in found.choices), *made.reasoning.splitlines())
    asked_for: Mapping[str, Raw] = made.ask["properties"] if made.ask else {}
    loose = _loose(made.metadata.get("unused", ()), asked.filled)
    left = (*found.unmatched, *loose, *_untaken(made, known))
    form = _form(asked_for, made.ask.get("$defs") if made.ask else None)
    return Made(_plan_of(made), "tools", why, tuple(asked_for), left, loose, form, made)


def _plan_of(made: ExecutionPlan) -> Plan:
    """The plan; if all its steps lead to one, what that one gives is what the plan gives."""
    plan = read_data(made.as_document()).usable()
    needed = {number for step in made.steps for number in step.depends_on}
    last = [step.id for step in made.steps if step.step_number not in needed]
    return plan.model_copy(update={"output": f"${{steps.{last[0]}.output}}"}) if len(last) == 1 else plan


def _untaken(made: ExecutionPlan, known: Mapping[str, Raw]) -> list[str]:
    origins: Mapping[str, Mapping[str, Any]] = made.metadata["parameters"]
    taken = {name for each in origins.values() for name, told in each.items() if told["from"] == "context"}
    return [f"-i {name}" for name in known if name not in taken]


def by_contracts(asked: Asked) -> Made | Declined:
    """From what tools require and change; the goal is a file that says what is wanted."""
    file = Path(asked.goal)
    if not isfile(file):  # noqa: PTH113  pathlib breaks at goals that are longer than a name may be
        return Declined("planning from contracts needs a file that says what holds and what is wanted")
    from perdure.agents.contracts import load_contracts, plan_from_contracts  # noqa: PLC0415  few goals are files

    found = plan_from_contracts(load_contracts(file), asked.tools.values())
    plan, values = found.usable(), asked.known(wants_of({"properties": found.usable().inputs}))
    inputs = {name: {**schema, **_default_in(values, name)} for name, schema in plan.inputs.items()}
    left = tuple(f"-i {name}" for name in values if name not in inputs)
    why = (f"the wanted facts follow, at a cost of {found.cost:g}",)
    return Made(plan.model_copy(update={"inputs": inputs}), "contracts", why, left=left)


def _default_in(values: Mapping[str, Raw], name: str) -> dict[str, Raw]:
    return {"default": values[name]} if name in values else {}


def unplanned(asked: Asked, why: str) -> Made:
    """The goal as the work of one agent, without a plan (X7)."""
    goal = str(escaped(asked.goal))
    given = {name: escaped(value) for name, value in asked.given.items()}
    step = {"id": "work", "agent": SERVING, "task": goal, **({"with": given} if given else {})}
    raw = {"perdure": 1, "name": "unplanned", "goal": goal, "steps": [step], "output": "${steps.work.output}"}
    plan = Plan.model_validate({**raw, "meta": {UNPLANNED: why}})
    return Made(plan, "nobody", (why, f"the agent {SERVING} does it without a plan"))


PLANNERS: Final[dict[Name, Planner]] = {
    "template": by_template,
    "tools": by_tools,
    "contracts": by_contracts,
}
AUTO: Final[tuple[Name, ...]] = ("template", "tools")
"""Who is asked, in this order, if nobody is named."""


def plan_for(asked: Asked, planner: Literal["template", "tools", "contracts", "auto"] = "auto") -> Made:
    """The plan of the first planner that makes one. `NoPlanner` tells why nobody does, and what to do."""
    names = AUTO if planner == "auto" else (planner,)
    if planner == "auto" and asked.template:
        names = ("template",)
    reasons: list[str] = []
    for name in names:
        found = PLANNERS[name](asked)
        if isinstance(found, Made):
            return found
        reasons.append(f"{name}: {found.why}")
    raise NoPlanner(f"no plan could be made: {'; '.join(reasons)}", CONFIGURE)

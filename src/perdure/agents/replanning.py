"""Another way, where steps of a numbered plan have failed (X2, X8): what is done stays, what failed is marked.

Another tool takes the place of one that failed if it says that it has the same skills, does nothing to the world that
the other one does not do, and gives what later steps take. Where there is none, the step and all that depends on it are
dropped: they stay in the plan, with a condition that never holds, so that the numbers keep their meaning. Where nothing
is left to be done that way, `NoWay` says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

from perdure.agents.requests.binding import Binder
from perdure.agents.requests.extracting import Request
from perdure.agents.requests.wanting import Want, wants_of
from perdure.errors import PerdureError
from perdure.plan.expr import template, texts_in
from perdure.plan.model.parts import JsonObject, Many
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading.numbered import ExecutionPlan, ExecutionStep, PlanStatus
from perdure.tools.skills import able_instead
from perdure.tools.tool import AnyTool

NEVER: Final = "false"
"""The condition of a step that was dropped."""
HISTORY: Final = "history"
"""Where in the metadata of a plan its earlier forms are kept."""


class NoWay(PerdureError):
    """What failed cannot be done in another way, and nothing is left to do without it."""

    code: ClassVar[str] = "PRD4202"
    exit_code: int = 6


class BadReplan(PerdureError):
    """A request to plan again that does not fit the plan."""

    code: ClassVar[str] = "PRD4203"
    exit_code: int = 6


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class ExecutionState(_Strict):
    """How far a plan has come when it is planned again."""

    completed_steps: Many[int] = ()
    """The steps that are done, by number."""
    facts: JsonObject = {}
    """What has become known meanwhile: it counts like context."""


class ReplanRequest(_Strict):
    """That a plan has to change, and why."""

    current_plan: ExecutionPlan
    execution_state: ExecutionState = ExecutionState()
    reason: str
    failed_steps: Annotated[Many[int], Field(min_length=1)]


class Way(_Strict):
    """What became of one step that failed."""

    step: int
    tool: str
    """The tool that failed."""
    instead: ExecutionStep | None = None
    """The step that takes its place; None: it was dropped."""
    why: str

    @property
    def told(self) -> dict[str, Raw]:
        """The same for the history of a plan."""
        instead = self.instead.tool if self.instead else None
        return {"step": self.step, "tool": self.tool, "instead": instead, "why": self.why}


def replan(request: ReplanRequest, known: Mapping[str, AnyTool], *, at: datetime | None = None) -> ExecutionPlan:
    """The plan with another way for each step that failed, or without it. `NoWay` if that leaves nothing to do."""
    _check(request)
    plan = request.current_plan
    ways = {number: another_way(request, number, known) for number in sorted(set(request.failed_steps))}
    dropped = _dropped(request, [number for number, way in ways.items() if way.instead is None])
    steps = tuple(_changed(step, ways.get(step.step_number), dropped) for step in plan.steps)
    _refuse_nothing(request, ways, dropped)
    return plan.model_copy(
        update={
            "steps": steps,
            "status": PlanStatus.REPLANNING,
            "reasoning": "\n".join([plan.reasoning, *_told(ways, dropped)]).strip(),
            "completed_steps": _done(request),
            "failed_steps": tuple(ways),
            "updated_at": at or plan.updated_at,
            "context": {**plan.context, **request.execution_state.facts},
            "metadata": {**plan.metadata, HISTORY: [*_history(plan), _remembered(request, ways, dropped)]},
        }
    )


def another_way(request: ReplanRequest, number: int, known: Mapping[str, AnyTool]) -> Way:
    """What can be done in the place of a step that failed."""
    plan = request.current_plan
    step = plan.steps[number - 1]
    tried = {step.tool, *_tried(plan, number)}
    own = known.get(step.tool)
    if own is None or not own.declared.skills:
        lacks = "is not known here" if own is None else "declares no skills"
        return Way(step=number, tool=step.tool, why=f"{step.tool} {lacks}, so nothing can stand in for it")
    for name in able_instead(known, own, own.declared.skills):
        taken = None if name in tried else _taken_over(request, step, known[name])
        if taken is not None and gives(known[name], _wanted_of(plan, number)):
            way = step.model_copy(update={"tool": name, "parameters": taken})
            return Way(step=number, tool=step.tool, instead=way, why=f"{name} has the same skills")
    return Way(
        step=number, tool=step.tool, why=f"no other tool can {' and '.join(own.declared.skills)} with these values"
    )


# ------------------------------------------------------------------------------- another tool


def _taken_over(request: ReplanRequest, step: ExecutionStep, tool: AnyTool) -> dict[str, Raw] | None:
    """The parameters of another tool: those of the step by name, else from the request; nothing if one is missing."""
    wants, known = wants_of(tool.facts().inputs), request.execution_state.facts
    found = {want.name: step.parameters[want.name] for want in wants if may_keep(want, step.parameters)}
    binding = Binder(Request(request.current_plan.request), [tool], {**request.current_plan.context, **known}).bind()[0]
    for want in binding.missing:
        if want.name not in found:
            return None
    others = {name: each.written for name, each in binding.bound.items() if name not in found}
    required = {want.name for want in wants if want.required}
    return {**found, **{name: written for name, written in others.items() if name in required}}


def may_keep(want: Want, parameters: Mapping[str, Raw]) -> bool:
    """Whether a value is one for the other tool too; of a value that is not known yet, only the name tells."""
    if want.name not in parameters:
        return False
    value = parameters[want.name]
    literal = all(template(text).is_literal for _, text in texts_in(value))
    return want.fits(_unescaped(value)) if literal else True


def _unescaped(value: Raw) -> Raw:
    """A value without expressions as a tool is given it."""
    if isinstance(value, str):
        return template(value).texts[0]
    if is_mapping(value):
        return {key: _unescaped(inner) for key, inner in value.items()}
    return [_unescaped(inner) for inner in value] if is_list(value) else value


def _wanted_of(plan: ExecutionPlan, number: int) -> set[str]:
    """The fields of its output that other steps take; empty texts for the whole."""
    root, found = f"step_{number}", set[str]()
    for step in plan.steps:
        for _, text in texts_in(step.parameters):
            for expression, _ in template(text).expressions:
                for reference in expression.references:
                    if reference.root == "steps" and reference.parts[:2] == (root, "output"):
                        found.add(str(reference.parts[2]) if len(reference.parts) > 2 else "")  # noqa: PLR2004  after them
    return found


def gives(tool: AnyTool, fields: set[str]) -> bool:
    """Whether it promises what is taken of it."""
    returns = tool.facts().returns
    known: Raw = returns.get("properties") if returns else None
    return not fields - {""} or (is_mapping(known) and fields - {""} <= set(known))


# ------------------------------------------------------------------------------- the plan


def _check(request: ReplanRequest) -> None:
    numbers = {step.step_number for step in request.current_plan.steps}
    state = set(request.execution_state.completed_steps)
    if unknown := sorted({*request.failed_steps, *state} - numbers):
        raise BadReplan(f"the plan has no step {unknown[0]}", f"name steps from 1 to {len(numbers)}")
    if both := sorted(state & set(request.failed_steps)):
        raise BadReplan(f"step {both[0]} is said to be both completed and failed", "name it in one of the two lists")


def _dropped(request: ReplanRequest, without: Sequence[int]) -> set[int]:
    """The steps that failed without another way, and all that depends on them and is not done yet."""
    gone, done = set(without), _done(request)
    for step in request.current_plan.steps:  # a step depends on earlier ones only
        if gone & set(step.depends_on) and step.step_number not in done:
            gone.add(step.step_number)
    return gone


def _changed(step: ExecutionStep, way: Way | None, dropped: set[int]) -> ExecutionStep:
    if step.step_number in dropped:
        return step.model_copy(update={"condition": NEVER})
    return way.instead if way and way.instead else step


def _done(request: ReplanRequest) -> tuple[int, ...]:
    known = {*request.current_plan.completed_steps, *request.execution_state.completed_steps}
    return tuple(sorted(known - set(request.failed_steps)))


def _refuse_nothing(request: ReplanRequest, ways: Mapping[int, Way], dropped: set[int]) -> None:
    """A plan in which everything that is left was dropped is no plan."""
    plan = request.current_plan
    if {step.step_number for step in plan.steps} - dropped - set(_done(request)):
        return
    told = "; ".join(f"step {way.step}: {way.why}" for way in ways.values() if way.instead is None)
    raise NoWay(
        f"there is no other way: {told}", "give a step `alternates`, declare skills of tools, or change the goal"
    )


def _told(ways: Mapping[int, Way], dropped: set[int]) -> Iterator[str]:
    for way in ways.values():
        what = f"is now done by {way.instead.tool}" if way.instead else "was dropped"
        yield f"Step {way.step} ({way.tool}) failed and {what}: {way.why}."
    if others := sorted(dropped - set(ways)):
        yield f"Dropped with them: {', '.join(f'step {each}' for each in others)}."


def _history(plan: ExecutionPlan) -> list[Raw]:
    found = plan.metadata.get(HISTORY)
    return list(found) if is_list(found) else []


def _tried(plan: ExecutionPlan, number: int) -> set[str]:
    """The tools that were tried for a step before."""
    steps = [step for each in _history(plan) for step in each.get("ways", ()) if step.get("step") == number]
    return {str(step.get("tool")) for step in steps}


def _remembered(request: ReplanRequest, ways: Mapping[int, Way], dropped: set[int]) -> dict[str, Raw]:
    """What is kept of the plan as it was."""
    plan = request.current_plan
    return {
        "reason": request.reason,
        "status": plan.status.value,
        "failed_steps": list(ways),
        "completed_steps": list(_done(request)),
        "dropped": sorted(dropped),
        "ways": [way.told for way in ways.values()],
        "steps": [step.model_dump(mode="json", exclude_defaults=True) for step in plan.steps],
    }

"""Plans without a model: selected tools in order, with parameters from the request (X2, X8), and lookups first (M4).

Nothing is guessed. What has to be there and stands nowhere is asked for, in one form, before the first step. Steps run
beside each other where they may: a step waits for those whose outputs it takes, and one that changes the world waits
for all before it, and all after it wait for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from graphlib import TopologicalSorter
from typing import Any, ClassVar, Final

from perdure.agents.requests.binding import Binder, Binding, Bound
from perdure.agents.requests.extracting import FOUND, Request
from perdure.agents.requests.feeding import acts, is_lookup, path_to
from perdure.agents.requests.selecting import Span
from perdure.agents.requests.wanting import Want
from perdure.core.values import digest_of
from perdure.errors import PerdureError
from perdure.plan.expr import escaped
from perdure.plan.raw import Raw
from perdure.plan.reading.numbered import ASK, ExecutionPlan, ExecutionStep
from perdure.tools.tool import AnyTool

PLANNER: Final = "tools"
"""Who made a plan, in its metadata."""
MOST: Final = 1_000
"""Tools in one plan."""


class NoPlan(PerdureError):
    """No plan can be made of this."""

    code: ClassVar[str] = "PRD4201"
    exit_code: int = 6


@dataclass(frozen=True)
class _Question:
    """What a person is asked for: fields of a form, and which parameter takes which."""

    fields: Mapping[str, Want]
    names: Mapping[tuple[int, str], str]


def create_execution_plan(  # noqa: PLR0913  two of them only say who and when
    request: str,
    selected_tools: Sequence[AnyTool],
    context: Mapping[str, Raw] | None = None,
    *,
    id: str = "",  # noqa: A002  as the plan calls it
    at: datetime | None = None,
    spans: Sequence[Span] = (),
    filled: Mapping[str, Raw] | None = None,
) -> ExecutionPlan:
    """A plan that calls the selected tools in order. `NoPlan` where there is none to call.

    `id` names the plan; left out, the name follows from what it is made of, and the same request has the same. `at` is
    when it was made. `spans` say where the request speaks of each tool. `filled` is what a model has found in the
    request of what would be asked for, by the names of the fields.
    """
    if not selected_tools or len(selected_tools) > MOST:
        hint = f"select at least one tool and at most {MOST:,}, or configure a model that can plan more freely"
        raise NoPlan(f"a plan cannot be made of {len(selected_tools):,} tools", hint)
    binder = Binder(Request(request), selected_tools, context or {}, spans)
    made = _Draft(binder.bind(), filled or {})
    unused = [piece.text for piece in binder.unused()]
    return ExecutionPlan(
        id=id or plan_id(request, [tool.name for tool in selected_tools], context),
        request=request,
        reasoning=made.reasoning(unused),
        steps=tuple(made.steps()),
        created_at=at,
        updated_at=at,
        ask=made.form(),
        requires_lookahead=bool(made.lookups),
        checkpoints=tuple(made.lookups),
        context=dict(context or {}),
        metadata={"planner": PLANNER, "parameters": made.origins(), **({"unused": unused} if unused else {})},
    )


def plan_id(*made_of: Any) -> str:
    """The name of a plan that follows from what it is made of."""
    return f"p_{digest_of(list(made_of))[:26]}"


def with_lookups(request: str, selected: Sequence[AnyTool], known: Mapping[str, AnyTool]) -> list[AnyTool]:
    """The selected tools, and before them what looks up the ids that they need and that the request does not say (M4).

    A lookup is taken only if it changes nothing, if it is the only tool that gives the id, and if the request says all
    that it needs itself.
    """
    read = Request(request)
    found: list[AnyTool] = []
    for binding in Binder(read, selected, {}).bind():
        for want in binding.missing:
            able = [tool for tool in known.values() if _looks_up(tool, want)] if is_lookup(want) else []
            if len(able) == 1 and able[0] not in (*found, *selected) and not Binder(read, able, {}).bind()[0].missing:
                found.append(able[0])
    return [*found, *selected]


def _looks_up(tool: AnyTool, want: Want) -> bool:
    return not acts(tool) and path_to(tool, want) is not None


class _Draft:
    """Tools with their parameters, on the way to becoming the steps of a plan."""

    def __init__(self, bindings: Sequence[Binding], filled: Mapping[str, Raw]) -> None:
        before = {place: sorted(binding.givers) for place, binding in enumerate(bindings)}
        order = list(_in_order(before))
        self._number = {place: number for number, place in enumerate(order, 1)}
        self._bindings = {self._number[place]: bindings[place] for place in order}
        self._question = _question(self._bindings)
        fields = self._question.fields
        self._filled = {name: value for name, value in filled.items() if name in fields and fields[name].fits(value)}
        self._asked = {name: want for name, want in fields.items() if name not in self._filled}
        self._needs = dict(self._dependencies())

    @property
    def lookups(self) -> list[int]:
        """The steps that look something up for others."""
        bound = [each for binding in self._bindings.values() for each in binding.bound.values() if each.looked_up]
        return sorted({self._number[each.giver] for each in bound if each.giver is not None})

    def steps(self) -> Iterator[ExecutionStep]:
        """The steps, numbered from 1."""
        for number, binding in self._bindings.items():
            yield ExecutionStep(
                step_number=number,
                tool=binding.tool.name,
                parameters={name: written for name, (written, _) in self._parameters(number).items()},
                depends_on=self._needs[number],
                description=binding.tool.summary,
            )

    def form(self) -> dict[str, Raw] | None:
        """The form in which a person is asked, if there is something to ask."""
        fields = self._asked
        if not fields:
            return None
        shared = {name: each for want in fields.values() for name, each in want.schema.get("$defs", {}).items()}
        asked = {
            name: {word: said for word, said in want.schema.items() if word != "$defs"} for name, want in fields.items()
        }
        form: dict[str, Raw] = {"type": "object", "properties": asked, "required": list(fields)}
        told = f"To go on, this has to be known: {', '.join(fields)}."
        return {**form, "additionalProperties": False, "description": told, **({"$defs": shared} if shared else {})}

    def origins(self) -> dict[str, Raw]:
        """Where each value came from, by step and parameter."""
        found = {str(number): self._parameters(number) for number in self._bindings}
        return {number: {name: told for name, (_, told) in each.items()} for number, each in found.items() if each}

    def reasoning(self, unused: Sequence[str]) -> str:
        """Why the plan is as it is, in sentences."""
        lines = [self._reason(number, binding) for number, binding in self._bindings.items()]
        if self._asked:
            lines.insert(0, f"Asked first: {', '.join(self._asked)}.")
        if unused:
            lines.append(f"Said in the request and not used: {', '.join(unused)}.")
        return "\n".join(lines)

    def _reason(self, number: int, binding: Binding) -> str:
        told = [f"{name} is {said['how']}" for name, (_, said) in self._parameters(number).items()]
        looks = " It looks up what later steps need." if number in self.lookups else ""
        return f"{number}. {binding.tool.name}{': ' if told else ''}{'; '.join(told)}.{looks}"

    def _parameters(self, number: int) -> dict[str, tuple[Raw, dict[str, Raw]]]:
        """What is written for each parameter of a step, and where it came from."""
        binding = self._bindings[number]
        known = {name: self._written(each) for name, each in binding.bound.items()}
        for want in binding.missing:
            name = self._question.names[number, want.name]
            known[want.name] = self._answer(name)
        return {want.name: known[want.name] for want in binding.wants if want.name in known}

    def _answer(self, name: str) -> tuple[Raw, dict[str, Raw]]:
        """What nothing but a model or a person can tell."""
        if name in self._filled:
            return escaped(self._filled[name]), {"from": "model", "how": FOUND}
        return f"${{steps.{ASK}.output.{name}}}", {"from": "question", "how": "asked for"}

    def _written(self, bound: Bound) -> tuple[Raw, dict[str, Raw]]:
        told: dict[str, Raw] = {"from": bound.source, "how": bound.how}
        if bound.giver is not None:
            number = self._number[bound.giver]
            return f"${{steps.step_{number}.{bound.written}}}", {
                **told,
                "how": f"{bound.how} in step {number}",
                "step": number,
            }
        return bound.written, {**told, **({"at": list(bound.span)} if bound.span else {})}

    def _dependencies(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """What each step waits for: what it takes, and what changes the world before it."""
        actor, since = set[int](), set[int]()
        for number, binding in self._bindings.items():
            needs = {self._number[giver] for giver in binding.givers}
            if acts(binding.tool):
                yield number, tuple(sorted(needs | (since or actor)))
                actor, since = {number}, set[int]()
            else:
                yield number, tuple(sorted(needs | actor))
                since.add(number)


def _in_order(before: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Every tool after those whose outputs it takes; otherwise as the request has them."""
    sorter = TopologicalSorter(before)
    sorter.prepare()
    ready: list[int] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        first, *ready = ready
        yield first
        sorter.done(first)


def _question(bindings: Mapping[int, Binding]) -> _Question:
    """One field for each thing that is missing; the same name with the same schema is the same thing."""
    fields: dict[str, Want] = {}
    names: dict[tuple[int, str], str] = {}
    for number, binding in bindings.items():
        for want in binding.missing:
            plain = "_".join(want.words) or "value"
            name = plain if plain not in fields or fields[plain].schema == want.schema else f"{plain}_{number}"
            fields[name] = want
            names[number, want.name] = name
    return _Question(fields, names)

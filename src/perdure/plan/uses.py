"""Every expression in a plan: where it stands, when it is looked at, and what it may see."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from perdure.plan.expr import Expression, ExpressionError, parse, template, texts_in
from perdure.plan.index import Index
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Call, Criterion, ModelCall, NoResult, Part, ToolCall
from perdure.plan.model.steps import (
    AgentStep,
    AnyStep,
    AskStep,
    DecideStep,
    DoneStep,
    FailStep,
    Grouping,
    MapStep,
    ModelStep,
    SubplanStep,
    ToolStep,
    WaitStep,
    Working,
)
from perdure.plan.problems import Path
from perdure.plan.raw import Raw

Moment = Literal["start", "end"]
Want = Literal["bool", "text", "list", "any"]
WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UNNAMING: Final = frozenset({"id", "kind", "steps", "title", "tool", "model", "agent"})
"""Fields that name no other step."""
SCALARS: Final = frozenset({int, float, bool, type(None)})


class Use(NamedTuple):
    """One expression in its place."""

    path: Path
    """Relative to the step."""
    expression: Expression | ExpressionError
    moment: Moment = "start"
    want: Want = "any"
    secrets: bool = False
    """Whether `secrets` may be used here."""


def uses_of(step: AnyStep) -> Iterator[Use]:
    """The expressions of a step itself, not of the steps inside it."""
    if step.when is not None:
        yield _bare(step.when, ("when",), want="bool")
    yield from _own_uses(step)
    if isinstance(step, Working):
        yield from _contract_uses(step)
    if isinstance(step, Grouping) and step.exit is not None:
        yield _bare(step.exit, ("exit",), "end", "text")


def secrets_in(index: Index) -> dict[str, Path]:
    """The secrets that a plan names, each with the first place where it does."""
    found: dict[str, Path] = {}
    for node in index.nodes:
        for use in uses_of(node.step) if node.step else ():
            references = () if isinstance(use.expression, ExpressionError) else use.expression.references
            for name in [str(each.parts[0]) for each in references if each.root == "secrets" and each.parts]:
                found.setdefault(name, (*node.path, *use.path))
    return found


def _own_uses(step: AnyStep) -> Iterator[Use]:
    match step:
        case ToolStep() | ModelStep() | AgentStep():
            yield from _call_uses(step, ())
        case DecideStep():
            yield from _decide_uses(step.decide)
        case AskStep():
            yield from _texts(step.ask, ("ask",))
        case WaitStep():
            yield from _texts(step.wait.for_, ("wait", "for"))
            yield from _texts(step.wait.until, ("wait", "until"))
        case MapStep():
            yield from _texts(step.map, ("map",), want="list")
            yield from _texts(step.with_, ("with",))
        case SubplanStep():
            yield from _texts(step.with_, ("with",))
        case DoneStep():
            yield from _texts(step.done, ("done",))
        case FailStep():
            yield from _texts(step.fail, ("fail",))
        case _:
            return


def _decide_uses(decide: str | Call) -> Iterator[Use]:
    if isinstance(decide, str):
        yield _bare(decide, ("decide",), want="text")
    else:
        yield from _call_uses(decide, ("decide",))


def _contract_uses(step: Working) -> Iterator[Use]:
    for n, source in enumerate(step.requires):
        yield _bare(source, ("requires", n), want="bool")
    for n, source in enumerate(step.ensures):
        yield _bare(source, ("ensures", n), "end", "bool")
    for name, criteria in (("accept", step.accept), ("relaxed", step.relaxed)):
        for n, criterion in enumerate(criteria):
            yield from _criterion_uses(criterion, (name, n))
    if step.undo is not None:
        yield from _call_uses(step.undo, ("undo",), "end")
    if step.simpler is not None:
        yield from _call_uses(step.simpler, ("simpler",))
    for n, call in enumerate(step.alternates):
        yield from _call_uses(call, ("alternates", n))


def _criterion_uses(criterion: Criterion, path: Path) -> Iterator[Use]:
    if criterion.expr is not None:
        yield _bare(criterion.expr, (*path, "expr"), "end", "bool")
    yield from _texts(criterion.with_, (*path, "with"), "end", secrets=True)


def _call_uses(call: Call, path: Path, moment: Moment = "start") -> Iterator[Use]:
    match call:
        case ToolCall():
            yield from _texts(call.with_, (*path, "with"), moment, secrets=True)
        case ModelCall():
            yield from _texts(call.prompt, (*path, "prompt"), moment)
            yield from _texts(call.instructions, (*path, "instructions"), moment)
            for n, each in enumerate(call.results):
                if isinstance(each, NoResult):
                    yield from _texts(each.error, (*path, "results", n, "error"), moment)
        case AgentCall():
            yield from _texts(call.task, (*path, "task"), moment)
            yield from _texts(call.with_, (*path, "with"), moment, secrets=True)


def uses_of_plan(plan: Plan) -> Iterator[Use]:
    """The expressions of a plan itself, not of its steps."""
    yield from _texts(plan.goal, ("goal",))
    yield from _texts(plan.output, ("output",), "end")
    if plan.exit is not None:
        yield _bare(plan.exit, ("exit",), "end", "text")
    for n, rule in enumerate(plan.adjust.rules if plan.adjust else ()):
        if rule.when is not None:
            yield _bare(rule.when, ("adjust", "rules", n, "when"), "end", "bool")


def _bare(source: str, path: Path, moment: Moment = "start", want: Want = "any") -> Use:
    try:
        return Use(path, parse(source), moment, want)
    except ExpressionError as error:
        return Use(path, error, moment, want)


def _texts(
    value: Raw, path: Path, moment: Moment = "start", want: Want = "any", *, secrets: bool = False
) -> Iterator[Use]:
    for place, text in texts_in(value):
        try:
            found = template(text)
        except ExpressionError as error:
            yield Use((*path, *place), error, moment)
            continue
        for expression, _ in found.expressions:
            yield Use((*path, *place), expression, moment, want if found.is_whole else "any", secrets)


def calls_in(step: AnyStep) -> Iterator[tuple[Call | Criterion, Path]]:
    """Everything that a step itself may call, and where it says so."""
    if isinstance(step, (ToolCall, ModelCall, AgentCall)):
        yield step, ()
    if isinstance(step, DecideStep) and not isinstance(step.decide, str):
        yield step.decide, ("decide",)
    if not isinstance(step, Working):
        return
    yield from ((call, ("alternates", n)) for n, call in enumerate(step.alternates))
    if step.undo:
        yield step.undo, ("undo",)
    if step.simpler:
        yield step.simpler, ("simpler",)
    for name, criteria in (("accept", step.accept), ("relaxed", step.relaxed)):
        yield from ((each, (name, n)) for n, each in enumerate(criteria))


def words_of(step: AnyStep) -> list[str]:
    """Every word in a step itself that may name another step: in an expression, as a need, or as a target.

    A long plan has many steps and few such words, so this is written to be fast: nothing is asked twice, or made anew.
    """
    own, found, values = vars(step), list[str](), list[Raw]()
    for field in step.model_fields_set:
        if field not in UNNAMING:
            values.append(own[field])
    for value in values:  # which get longer by what is inside of them
        kind = type(value)  # pyright: ignore[reportUnknownVariableType]  of anything
        if kind is str:
            found += [value] if value.isidentifier() else WORD.findall(value)
        elif kind is dict:
            values += value.values()
        elif kind not in SCALARS:
            values += value if kind is tuple or kind is list else _parts_of(value)
    return found


def _parts_of(value: Raw) -> Iterable[Raw]:
    """What a part of a step holds, but for the steps of plans."""
    return vars(value).values() if isinstance(value, Part) and not isinstance(value, Plan) else ()

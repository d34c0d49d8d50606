"""What a step asks for before it starts, and what its result has to fulfil: `requires`, `ensures`, `accept`.

What does not hold is the failure `unmet`. It says which sentence it was, and what the values were that it names.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Scope
from perdure.core.deciding import Deciding
from perdure.core.seeing import NOTHING, Seen, evaluate, outcome_of, see
from perdure.core.state import State
from perdure.core.values import Value
from perdure.plan.conforming import flaws
from perdure.plan.expr import ExpressionError, parse
from perdure.plan.expr.path import Reference, look_up
from perdure.plan.model.parts import Criterion

Criteria = tuple[tuple[str, ...], tuple[Criterion, ...]]
"""What is ensured, and what is accepted."""
NOT_JUDGED: Final = frozenset({"failure", "rejected", "expired"})
"""Words that say themselves that the result is not good; criteria are not asked."""
MOST_VALUES: Final = 4
"""How many values are told of one sentence."""
LONGEST_VALUE: Final = 60


def rejection(cell: Cell, failure: Failure) -> Failure | None:
    """The failure, unless an attempt has told it: no other fact says what is wrong with a result, or with a group."""
    outcome = cell.work.outcome if cell.kind == "work" else None
    is_told = cell.kind == "work" and (outcome is None or outcome.failure is not None or outcome.approval is not None)
    return None if is_told else failure


def broken_requirement(turn: Deciding, cell: Cell) -> Failure | None:
    """What has to hold before a step starts, and does not."""
    for source in cell.traits.working.requires if cell.traits.working else ():
        if evaluate(turn.state, cell.scope, source) is not True:
            return Failure("unmet", f"it requires: {source}{_values(turn.state, cell.scope, source, NOTHING)}")
    return None


def unmet_of(  # noqa: PLR0913  each is a word of its own, given by name
    turn: Deciding, cell: Cell, exit_: str, output: Value | None, *, relaxed: bool = False, judged: bool = False
) -> Failure | None:
    """What a good result does not fulfil. Without an output, it is what follows from the body.

    `judged`: tools and agents were asked already.
    """
    step = cell.traits.working
    if step is None or not cell.traits.is_judged or exit_ in step.verdicts or exit_ in NOT_JUDGED:
        return None
    value = output.load(turn.read) if output else outcome_of(turn.state, cell, cell.body)
    seen = {"output": value, "exit": exit_}
    try:
        reason = _reason(turn.state, cell, (step.ensures, step.relaxed if relaxed else step.accept), seen, judged)
    except ExpressionError as error:
        return Failure("invalid", error.message)
    return Failure("unmet", reason) if reason else None


def unfit(schema: Mapping[str, Any] | None, exit_: str, result: Any) -> Failure | None:
    """What a result lacks that has to be of a form. With a verdict there may be nothing besides to say."""
    if schema is None or (exit_ != "success" and result is None):
        return None
    found = flaws(result, schema)
    return Failure("invalid", f"the result is not what `returns` asks for: {'; '.join(found)}") if found else None


def _reason(state: State, cell: Cell, asked: Criteria, seen: Mapping[str, Any], judged: bool) -> str:  # noqa: FBT001
    """The first thing that does not hold; a group's criteria see the steps in it. Empty: everything does."""
    ensures, accept = asked
    scope = cell.within if isinstance(cell.body, Body) else cell.scope
    for source in ensures:
        if evaluate(state, scope, source, seen) is not True:
            return f"it does not ensure: {source}{_values(state, scope, source, seen)}"
    for each in accept:
        if each.expr is not None:
            if evaluate(state, scope, each.expr, seen) is not True:
                return f"not met: {each.title or each.expr}{_values(state, scope, each.expr, seen)}"
        elif each.schema_ is not None:
            if found := flaws(seen["output"], each.schema_):
                return f"not met: {each.title or 'its schema'}: {'; '.join(found)}"
        elif not judged and (why := _unasked(cell, each)):
            return f"not met: {why}"
    return ""


def _unasked(cell: Cell, criterion: Criterion) -> str:
    """Why a judge cannot be asked; those who can are asked one by one, before this."""
    if criterion in cell.traits.judges and not isinstance(cell.body, Body):
        return ""
    who = "an agent" if criterion.agent else "a tool"
    return f"{criterion.title or 'a judgement'}: {who} judges what one call gives, by `accept`"


# ------------------------------------------------------------------------------- the values


def _values(state: State, scope: Scope, source: str, seen: Mapping[str, Any]) -> str:
    """The values that a sentence names, for who has to find out why it does not hold."""
    told = list(islice(_each_value(state, scope, source, seen), MOST_VALUES))
    return f" ({', '.join(told)})" if told else ""


def _each_value(state: State, scope: Scope, source: str, seen: Mapping[str, Any]) -> Iterator[str]:
    from perdure.plan.visible import visible  # noqa: PLC0415  most things hold, and then nothing is told

    references = parse(source).references
    there = see(state, scope, references, seen)
    for name, reference in {str(each): each for each in references if each.root != "secrets"}.items():
        yield f"{visible(name, LONGEST_VALUE)} {visible(_told(reference, there), LONGEST_VALUE)}"


def _told(reference: Reference, there: Seen) -> str:
    try:
        return f"is {json.dumps(look_up(reference, there), ensure_ascii=False)}"
    except ExpressionError:  # the sentence asks whether it is there
        return "is missing"

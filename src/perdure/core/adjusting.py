"""Adjusting: when a step is over, the rest of the plan may change by rule. Each change is a revision with a reason.

Rules stand in the plan, and the engine may have an adjuster, which is a pure function. They are asked in the turn in
which a step ends, before anybody follows it; what they say is journalled, so nobody is asked at a replay. What cannot
be taken is journalled too, and the plan stays as it was.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.ending import is_item
from perdure.core.occasion import Adjustment, Occasion, plan_of
from perdure.core.seeing import evaluate, output_of
from perdure.core.state import State
from perdure.errors import PerdureError
from perdure.plan.index import Node
from perdure.plan.model.parts import REPLAN, Adjusting, AdjustmentRule

_USUAL: Final = Adjusting.model_construct()
MOST_SAID: Final = 2_000
"""How much of a reason is written down, in characters."""


Adjuster = Callable[[Occasion], Adjustment | None]

# ------------------------------------------------------------------------------- after a step


def adjust(turn: Deciding) -> None:
    """Ask, for each step that has just ended, whether the plan is to change for that."""
    over, turn.over = turn.over, []
    if turn.state.rules.adjust is None and plan_of(turn.state).adjust is None:
        return
    for cell in over:
        if cell.result is not None and _is_of_plan(cell):
            _consider(turn, cell, Occasion(turn, cell, cell.result.failure), cell.result.exit)


def replan(turn: Deciding, cell: Cell, failure: Failure) -> bool:
    """Find another way after a failure that nothing else is left for; whether there is one."""
    if not turn.state.rules.planning or not _is_of_plan(cell):
        return False
    return _consider(turn, cell, Occasion(turn, cell, failure, replans=True), REPLAN)


def as_answered(turn: Deciding, cell: Cell, failure: Failure) -> Failure:
    """A failure that nobody has found another way round, with what the planner said who was asked just now."""
    said = turn.events[-1] if turn.events else None
    if not isinstance(said, e.RevisionRefused) or (said.by, said.after) != (e.PLANNER, cell.key):
        return failure
    asked = (plan_of(turn.state).adjust or _USUAL).planner
    told = f"{failure.message}; the planner {asked} was asked for another way: {said.reason}"
    return msgspec.structs.replace(failure, message=told)


def _is_of_plan(cell: Cell) -> bool:
    """Whether a step stands in the plan of the run, once, and what is around it goes on."""
    is_one = cell.scope.kind == "run" and cell.parent is not None and not is_item(cell)
    return is_one and all(each.status == "active" for each in cell.around)


def _consider(turn: Deciding, cell: Cell, occasion: Occasion, word: str) -> bool:
    """Let the first one have it that wants something; whether the plan is another one now."""
    if not left_of(turn.state):
        return False
    adjusting = plan_of(turn.state).adjust or _USUAL
    for by, wish in _wishes(turn, cell, occasion, word, adjusting):
        try:
            wanted = wish()
        except (Exception, SystemExit) as error:  # noqa: BLE001  a stranger's code, which must not end the run
            refuse(turn, cell, by, told(error))
            continue
        if wanted is not None:
            return _take(turn, cell, by, wanted, occasion)
    return False


def left_of(state: State) -> int:
    """How often the plan of a run may still be revised by itself, or refuse to be."""
    adjusting = plan_of(state).adjust or _USUAL
    return max(0, adjusting.most - (state.adjusted.total() - state.adjusted[e.NEXT_STEPS]))


Wish = Callable[[], Adjustment | None]


def _wishes(
    turn: Deciding, cell: Cell, occasion: Occasion, word: str, adjusting: Adjusting
) -> Iterator[tuple[str, Wish]]:
    for number, rule in enumerate(adjusting.rules, 1):
        by = f"rule {number}"
        if turn.state.adjusted[by] < rule.times and _is_about(rule, cell, word, occasion.failure):
            yield by, lambda rule=rule: _if_it_holds(turn, cell, occasion, word, rule)
    adjuster: Adjuster | None = turn.state.rules.adjust
    if adjuster is not None:
        yield e.ADJUSTER, lambda: adjuster(occasion)
    planner: Adjuster | None = turn.state.rules.planner
    if planner is not None and adjusting.planner and occasion.replans:
        yield e.PLANNER, lambda: planner(occasion)


def _is_about(rule: AdjustmentRule, cell: Cell, word: str, failure: Failure | None) -> bool:
    if word not in rule.on or (rule.after and cell.traits.id not in rule.after):
        return False
    return not rule.kinds or (failure is not None and failure.kind in rule.kinds)


def _if_it_holds(turn: Deciding, cell: Cell, occasion: Occasion, word: str, rule: AdjustmentRule) -> Adjustment | None:
    output = None if occasion.replans else output_of(turn.state, cell)
    holds = rule.when is None or evaluate(turn.state, cell.scope, rule.when, {"output": output, "exit": word}) is True
    return Adjustment(rule.edits, rule.why) if holds else None


def told(error: BaseException) -> str:
    """What went wrong, for people."""
    said = error.message if isinstance(error, PerdureError) else f"it broke: {type(error).__name__}: {error}"
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"


def _take(turn: Deciding, cell: Cell, by: str, wanted: Adjustment, occasion: Occasion) -> bool:
    kind = occasion.failure.kind if occasion.replans and occasion.failure else ""
    try:
        proposal = propose(turn, cell, by, wanted, kind)
    except Exception as error:  # noqa: BLE001  as above: what it gave may be anything
        refuse(turn, cell, by, told(error))
        return False
    revise(turn, *proposal)
    return True


def refuse(turn: Deciding, cell: Cell, by: str, reason: str) -> None:
    """Remember that the plan stays as it is, and why."""
    turn.record(e.RevisionRefused(after=cell.key, by=by, reason=reason))


# ------------------------------------------------------------------------------- revising


def propose(
    turn: Deciding, cell: Cell, by: str, wanted: Adjustment, kind: str = ""
) -> tuple[e.RunRevised, Sequence[Node]]:
    """What would be revised because of a step, and where. `NotRevised` if it cannot be."""
    from perdure.core.revising import as_facts, check_revision  # noqa: PLC0415  few runs are revised, and it loads the checks

    about: dict[str, Any] = {"by": by, "why": str(wanted.why), "after": cell.key, "kind": kind}
    message = e.RunRevised(base=turn.state.revision, edits=as_facts([*wanted.edits, *wanted.follows]), **about)
    return message, check_revision(turn.state, message)


def revise(turn: Deciding, message: e.RunRevised, nodes: Sequence[Node]) -> None:
    """Make the plan another one within a turn."""
    turn.record(message)
    look_at_revised(turn, nodes)


def look_at_revised(turn: Deciding, nodes: Sequence[Node]) -> None:
    """Look at groups that have other steps or another limit now, wherever they are under way."""
    from perdure.core.refitting import bodies_in, cells_at  # noqa: PLC0415  as above

    for node in nodes:
        for cell in cells_at(turn.state, node, past=False):
            for each in (cell, *(holder for holder, _ in bodies_in(cell, past=False))):
                if all(group.open for group in each.around):  # else it is looked at when they have their locks
                    turn.look_at(each)

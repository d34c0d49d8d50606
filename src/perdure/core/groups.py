"""Groups: which child comes next, and when the group is over."""

from heapq import heappop
from itertools import chain
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Graph, Serial
from perdure.core.concluding import conclude
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, is_item
from perdure.core.entering import enter, is_exhausted, pass_by
from perdure.core.ladder import plan_in
from perdure.core.learning import node_at
from perdure.core.seeing import items_of
from perdure.core.stalling import is_held
from perdure.core.undoing import dropped_in, region_of, remains, undo_next, with_what_stays
from perdure.core.values import digest_of
from perdure.plan.expr import ExpressionError
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Join, Quorum, Tolerate
from perdure.plan.model.steps import AgentStep, Grouping
from perdure.plan.raw import is_list

MOST_TOLD: Final = 5
"""Steps that a sentence names."""
MOST_LEFT: Final = 100
"""Steps whose remains are written down."""

# ------------------------------------------------------------------------------- one after another


def settle_serial(turn: Deciding, cell: Cell) -> None:
    """Enter the next child when the last one is over."""
    body = cell.body
    assert isinstance(body, Serial)  # noqa: S101  by its kind
    if body.live or body.begins > turn.now:
        return
    here = body.children.get(body.cursor)
    if here is None:
        _enter_at(turn, cell, 0)
    elif here.status == "idle":
        enter(turn, cell, here.position)
    else:
        assert here.result is not None  # noqa: S101  it is over
        _follow(turn, cell, here, here.result.to)


def _follow(turn: Deciding, cell: Cell, here: Cell, to: str) -> None:
    match to:
        case "next":
            _enter_at(turn, cell, here.position + 1)
        case "done":
            conclude(turn, cell, Ending())
        case "fail" | "recover":
            conclude(turn, cell, blaming(here))
        case _:
            _jump(turn, cell, here, to)


def _enter_at(turn: Deciding, cell: Cell, position: int) -> None:
    if position < len(cell.tree.children):
        enter(turn, cell, position)
    else:
        conclude(turn, cell, Ending())


def _jump(turn: Deciding, cell: Cell, here: Cell, to: str) -> None:
    """Go to a child of this group, or leave it: the target is further out."""
    node = cell.within.outline.index.by_id.get(to)
    if node is not None and node.parent is cell.tree:
        target = turn.state.child(cell, node.position)
        if node.position > here.position or is_exhausted(target) or not is_held(turn, cell, here):
            enter(turn, cell, node.position)
    else:
        conclude(turn, cell, _leaving(cell, to))


def _leaving(cell: Cell, to: str) -> Ending:
    """The end of a group that a jump leads out of. Out of a scope no jump leads."""
    if cell.within is cell.scope and cell.parent is not None:
        return Ending("left", to=to)
    return Ending.failed("invalid", f"there is no step {to!r} to go to")


def blaming(cell: Cell) -> Ending:
    """The failure of a group, which is that of the innermost step."""
    result = cell.result
    assert result is not None  # noqa: S101  whoever is blamed has ended
    if result.failure is None:
        return Ending("failure", failure=Failure("logic", f"{cell.key} ended with {result.exit}"), cause=cell.key)
    return Ending("failure", failure=result.failure, cause=result.cause or cell.key)


# ------------------------------------------------------------------------------- several at once


def settle_graph(turn: Deciding, cell: Cell) -> None:
    """Hear what ended, see whether that is enough, and let in whoever may come."""
    body = cell.body
    assert isinstance(body, Graph)  # noqa: S101  by its kind
    if body.begins > turn.now:
        return
    if cell.kind == "map" and not body.grown and not _map(turn, cell):
        return
    if _was_told_to_end(turn, cell, body) or _is_joined(turn, cell, body):
        return
    let_in(turn, cell, body)


def _was_told_to_end(turn: Deciding, cell: Cell, body: Graph) -> bool:
    fresh, body.fresh = body.fresh, []
    for child in fresh:
        to = child.result.to if child.result else "next"
        if to not in {"next", "recover"}:
            how = Ending() if to == "done" else blaming(child) if to == "fail" else _leaving(cell, to)
            stop_group(turn, cell, how)
            return True
    return False


def _is_joined(turn: Deciding, cell: Cell, body: Graph) -> bool:
    """Whether the join has its verdict."""
    verdict = _verdict(_join_of(cell), body)
    if verdict == "wait":
        return False
    if verdict == "good":
        stop_group(turn, cell, Ending(), losers=True)
    else:
        too_few = Ending.failed("unmet", "too few steps succeeded")
        stop_group(turn, cell, blaming(body.failed[0]) if body.failed else too_few)
    return True


def _join_of(cell: Cell) -> Join:
    step = cell.step
    if is_item(cell):
        return "all"
    return step.join if isinstance(step, Grouping) else _plan_of(cell).join


def _plan_of(cell: Cell) -> Plan:
    """The plan whose steps these are: that of the run, or that of a sub-plan."""
    return plan_in(cell) or cell.within.outline.plan


def _verdict(join: Join, body: Graph) -> str:
    """What the ends so far mean. A race is not won by one that has failed and is gone on without, while others run."""
    is_over = body.over == body.total
    good = body.good if is_over else body.good - body.part
    match join:
        case "all":
            return "bad" if body.bad else "good" if is_over else "wait"
        case "any":
            return "good" if good else "bad" if is_over else "wait"
        case Quorum():
            possible = body.good + body.total - body.over
            return "good" if good >= join.quorum else "bad" if possible < join.quorum else "wait"
        case Tolerate():
            return "wait" if not is_over else "bad" if body.bad > join.tolerate else "good"
        case _:
            return "good" if is_over else "wait"


def let_in(turn: Deciding, cell: Cell, body: Graph) -> None:
    """Enter those whose needs are over, as far as the limit allows."""
    most = _limit_of(cell)
    while body.ready and (most is None or len(body.live) < most):
        _, position = heappop(body.ready)
        if position in body.children and body.children[position].status != "idle":
            continue  # it was let in before the run was loaded
        if _falls_away(cell, body, position):
            pass_by(turn, turn.state.child(cell, position), "skipped")
        else:
            enter(turn, cell, position)


def _limit_of(cell: Cell) -> int | None:
    step = cell.step
    if is_item(cell) or cell.kind == "agent":
        return None
    return step.limit if isinstance(step, Grouping) else _plan_of(cell).limit


def _falls_away(cell: Cell, body: Graph, position: int) -> bool:
    """Whether one of its needs did not work, or all of them were skipped."""
    if body.unmet.get(position):
        return True
    skipped = body.skipped.get(position, 0)
    if not skipped:
        return False
    step = node_at(cell, body, position).step
    return step is not None and skipped == len(dict.fromkeys(step.needs))


def _map(turn: Deciding, cell: Cell) -> bool:
    """Grow a child for each item; whether that worked."""
    try:
        items: Any = items_of(turn.state, cell)
    except ExpressionError as error:
        conclude(turn, cell, Ending.failed("invalid", error.message))
        return False
    if not is_list(items):
        conclude(turn, cell, Ending.failed("invalid", f"`map` gives {type(items).__name__}, not a list"))
        return False
    turn.record(e.StepsGrown(step=cell.key, visit=cell.visit, items=len(items), digest=digest_of(items)))
    return True


# ------------------------------------------------------------------------------- stopping


def stop_group(turn: Deciding, cell: Cell, how: Ending, *, losers: bool = False) -> None:
    """End a group that may have live children: they are stopped first, and what the losers did is undone."""
    body = cell.body
    live = list(body.live.values()) if isinstance(body, Body) else []
    if not live and not any(dropped_in(cell)):
        conclude(turn, cell, how)
        return
    undo = tuple(each.key for each in live) if losers and undoes_losers(cell) else ()
    turn.record(
        e.StepStopping(
            step=cell.key, visit=cell.visit, exit=how.exit, to=how.to, output=how.output, failure=how.failure,
            cause=how.cause, undo=undo,
        )
    )  # fmt: skip
    turn.look_at(cell)


def undoes_losers(cell: Cell) -> bool:
    """Whether what unwanted steps did is taken back."""
    step = cell.step
    holder = step if isinstance(step, (Grouping, AgentStep)) else _plan_of(cell)
    return holder.losers == "undo"


def settle_stopping(turn: Deciding, cell: Cell) -> None:
    """Stop what is live inside, take back what is to be taken back, then be over."""
    body = cell.body
    live = list(body.live.values()) if isinstance(body, Body) else []
    for child in live:
        if child.status == "active":
            turn.record(e.StepStopping(step=child.key, visit=child.visit))
            turn.look_at(child)
        elif turn.state.questions and isinstance(child.body, Body):
            turn.look_at(child)  # nobody need answer any more what is asked in there
    if live or not undo_next(turn, chain(dropped_in(cell), region_of(turn.state, cell))):
        return
    assert cell.leaving is not None  # noqa: S101  said when it began to stop
    how = Ending.of(cell.leaving)
    if how.exit == "rolled_back":
        conclude(turn, cell, _rolled_back(turn, how))
    else:
        failure = with_what_stays(turn.state, cell, how.failure)
        conclude(turn, cell, msgspec.structs.replace(how, failure=failure))


def _rolled_back(turn: Deciding, how: Ending) -> Ending:
    """The end of a run that was taken back, with what it left behind."""
    left = remains(turn.state)
    if not left:
        return how
    told = ", ".join(each["step"] for each in left[:MOST_TOLD]) + (", …" if len(left) > MOST_TOLD else "")
    failure = Failure("logic", f"could not be taken back: {told}", detail=left[:MOST_LEFT])
    return msgspec.structs.replace(how, failure=failure)

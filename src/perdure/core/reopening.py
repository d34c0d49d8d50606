"""A run that was over goes on: groups become active again with the bodies they had. Part of the fold.

What worked stays. The step in question is entered anew, and so is whatever was cut off because it had failed; an
attempt that was cut off in doubt is not: its own visit goes on, so that the doubt is settled first. Groups that were
under way come back together, even beyond a `limit`: to enter them one after the other would do their work twice.
"""

from collections.abc import Iterator, Mapping
from heapq import heapify
from typing import Final, Literal

from perdure.core import events as e
from perdure.core.cells import Body, Cell, Graph, Grown, Serial, Work
from perdure.core.learning import count, count_need, dependents_of, note_agent, rank_of, verdict_of
from perdure.core.lines import locks_at_entry, wake_within
from perdure.core.state import State

Fate = Literal["active", "resumed", "again", "unpassed"]
"""What becomes of a step: a group goes on, a doubt is settled, it is entered anew, it is looked at again."""
GOES_ON: Final = frozenset({"active", "resumed"})


def run_reopened(state: State, event: e.RunReopened) -> None:
    """Go on with a step, or without one with all that was cut off."""
    assert state.paused_at is not None  # noqa: S101  a run that is over stands still
    found = fates(state, event.step)
    state.paused += state.at - state.paused_at
    state.paused_at = state.ended = state.stopping = None
    state.awaits = state.revision + 1 if event.revised else 0
    for cell, fate in found.items():
        _meet(state, cell, fate)
    for cell in found:
        if isinstance(cell.body, Graph) and cell.status == "active":
            _recount(cell, cell.body)
    wake_within(state, state.cells[""])
    state.cells[""].alarm = _alarm_for_run(state)


def _alarm_for_run(state: State) -> int:
    """The timer of the run as a whole; one that was too late already has no limit any more."""
    due = state.started.due if state.started else None
    return 0 if due is None or due <= state.clock(state.at) else state.set_timer(due, "", 1, "run")


def is_there(cell: Cell) -> bool:
    """Whether a cell stands in the tree as it is now, and was not forgotten when a group was entered anew."""
    for each in (cell, *cell.around):
        body = each.parent.body if each.parent else None
        if each.parent and not (isinstance(body, Body) and body.children.get(each.position) is each):
            return False
    return True


# ------------------------------------------------------------------------------- what will be


def fates(state: State, step: str) -> dict[Cell, Fate]:
    """What would become of a run that is over if it went on with a step. Who is not named stays as they are."""
    chosen = state.cells[step]
    way = {each.parent.key: each for each in (chosen, *chosen.around) if each.parent}
    found: dict[Cell, Fate] = {}
    _foresee(state, state.cells[""], way, found)
    return found


def _foresee(state: State, cell: Cell, way: Mapping[str, Cell], found: dict[Cell, Fate]) -> None:
    """A group is active again, with the body it had."""
    found[cell] = "active"
    body = cell.body
    assert isinstance(body, (Serial, Graph))  # noqa: S101  asked of groups alone
    if isinstance(body, Serial):
        here = way.get(cell.key) or body.children.get(body.cursor)
        if here is not None:
            _foresee_child(state, here, way, found)
        return
    for child in body.children.values():
        _foresee_child(state, child, way, found)
    again = [child.position for child in body.children.values() if child in found or child.status != "over"]
    while again:
        again.extend(_forgotten(cell, body, again.pop(), found))


def _foresee_child(state: State, cell: Cell, way: Mapping[str, Cell], found: dict[Cell, Fate]) -> None:
    """Decide what becomes of a step in a group that is active again."""
    is_chosen = cell.parent is not None and way.get(cell.parent.key) is cell
    is_good = cell.result is not None and verdict_of(cell.result) != "bad"
    if is_good and not is_chosen:
        return
    if _is_in_doubt(state, cell):
        found[cell] = "resumed"
    elif _was_entered(cell) and (not is_chosen or cell.key in way):
        _foresee(state, cell, way, found)
    else:
        found[cell] = "again"


def _forgotten(cell: Cell, body: Graph, position: int, found: dict[Cell, Fate]) -> Iterator[int]:
    """Steps that were passed by and need one that is to come again: they are looked at again.

    But not if one that needs them goes on: it began because they had been passed by.
    """
    for dependent in dependents_of(cell, body, position) if body.left else ():
        child = body.children.get(dependent)
        if child is None or child in found or child.status != "over" or _is_relied_on(cell, body, dependent, found):
            continue
        if child.result is not None and child.result.passed:
            found[child] = "unpassed"
            yield dependent


def _is_relied_on(cell: Cell, body: Graph, position: int, found: Mapping[Cell, Fate]) -> bool:
    dependents = (body.children.get(each) for each in dependents_of(cell, body, position))
    return any(found.get(each) in GOES_ON for each in dependents if each is not None)


def _was_entered(cell: Cell) -> bool:
    """Whether it is a group that was under way when it ended."""
    return isinstance(cell.body, Body) and cell.result is not None and not cell.result.passed


def _is_in_doubt(state: State, cell: Cell) -> bool:
    """Whether it was cut off, and nobody has said whether it had its effect."""
    failure = cell.result.failure if cell.result else None
    return (
        isinstance(cell.body, Work)
        and failure is not None
        and failure.kind == "in_doubt"
        and cell.question not in state.answers
    )


def doubt_in(state: State, step: str) -> str:
    """The first step inside of a group that was cut off in doubt; empty if there is none, or it is the whole run."""
    group = state.cells.get(step)
    if group is None or group.parent is None or not isinstance(group.body, Body):
        return ""
    found = (each for each in state.cells.values() if group in each.around and _is_in_doubt(state, each))
    return next((each.key for each in found if is_there(each)), "")


# ------------------------------------------------------------------------------- what is


def _meet(state: State, cell: Cell, fate: Fate) -> None:
    body = cell.parent.body if cell.parent else None
    if fate == "active":
        _revive(state, cell)
    elif fate == "resumed":
        _resume(cell)
    else:
        cell.status, cell.laps = "idle", max(0, cell.laps - (fate == "again"))
    if isinstance(body, Body) and fate in GOES_ON:
        body.live[cell.position] = cell
    if isinstance(body, Serial):
        body.cursor = cell.position


def _revive(state: State, cell: Cell) -> None:
    cell.status, cell.result, cell.leaving, cell.undo = "active", None, None, ()
    _hurry(state, cell)
    if cell.due is not None and cell.due <= state.clock(state.at):
        cell.due, cell.alarm = None, 0  # as for a run: one that was too late already has no limit any more
    if cell.due is not None:
        cell.alarm = state.set_timer(cell.due, cell.key, cell.visit, "step")
    cell.open = not locks_at_entry(cell)
    if isinstance(cell.body, Grown):
        note_agent(state, cell, cell.body)


def _hurry(state: State, cell: Cell) -> None:
    """Whoever wants a run to go on does not wait until a group may be done again."""
    body = cell.body
    assert isinstance(body, Body)  # noqa: S101  only groups are revived
    early = max(0, body.begins - state.clock(state.at))
    body.begins -= early
    if cell.due is not None:
        cell.due -= early


def _resume(cell: Cell) -> None:
    work = cell.work
    cell.status, cell.result, cell.leaving, cell.question = "active", None, None, ""
    work.lost, work.stopping, work.due, work.alarm = True, False, None, 0  # a try that was planned is not awaited
    work.probe = work.verdict = work.call = None  # what it refers to may have been taken back since
    work.met = 0


def _recount(cell: Cell, body: Graph) -> None:
    """Count anew what is over in a graph."""
    news = body.news if isinstance(body, Grown) else []
    body.over = body.good = body.bad = body.part = 0
    body.failed = []
    over = [child for child in body.children.values() if child.status == "over"]
    reset_needs(cell, body, over)
    for child in over:
        assert child.result is not None  # noqa: S101  it is over
        count(body, child, child.result)
    body.fresh = []
    if isinstance(body, Grown):
        body.news = [child for child in news if child.status == "over"]


def _needs_in(cell: Cell, body: Graph) -> list[int]:
    """How many others each child of a graph needs; those of a map need nobody."""
    if not body.left:
        return []
    if not isinstance(body, Grown):
        return cell.within.outline.wiring(cell.tree).needs.copy()
    needs = [0] * len(body.left)
    for dependents in body.dependents.values():
        for position in dependents:
            needs[position] += 1
    return needs


def reset_needs(cell: Cell, body: Graph, over: list[Cell]) -> None:
    """Count anew what each child of a graph still waits for."""
    body.unmet, body.skipped = {}, {}
    body.left = _needs_in(cell, body)
    for child in over if body.left else ():
        assert child.result is not None  # noqa: S101  it is over
        for dependent in dependents_of(cell, body, child.position):
            body.left[dependent] -= 1
            count_need(body, dependent, child.result)
    body.ready = [
        (rank_of(cell, body, position), position)
        for position in range(body.total)
        if not (body.left and body.left[position]) and _is_to_come(body, position)
    ]
    heapify(body.ready)


def _is_to_come(body: Graph, position: int) -> bool:
    return position not in body.children or body.children[position].status == "idle"

"""The ways to do a step: which one a rung leads to, and what changes when a visit goes on in it. Part of the fold.

Another way is a call. A leaf goes on with its tries, whatever they try. A group is left, with all that was done in it,
and what stands there for the rest of the visit is the call, or an agent that grows steps of its own. The next visit
begins in the usual way.
"""

from collections.abc import Sequence
from typing import Final

from perdure.core import events as e
from perdure.core.cells import Body, Cell, Work
from perdure.core.opening import open_agent
from perdure.core.outline import AnyCall
from perdure.core.state import State
from perdure.plan.model.steps import Working

MOST_REFUSED: Final = 5
"""So many refusals are told to whoever tries again."""


def declared(step: Working | None, taken: Sequence[str], rung: str) -> AnyCall | None:
    """The way that a step has declared for a rung, after those that were taken; None if there is no more."""
    if step is None:
        return None
    if rung == "simplify":
        return None if rung in taken else step.simpler
    number = taken.count("alternate")
    return step.alternates[number] if number < len(step.alternates) else None


def rung_taken(state: State, event: e.RungTaken) -> None:
    """A visit goes on in another way, or what it gave will do after all."""
    cell = state.cells[event.step]
    if event.kind == "unmet" and event.rejected is not None:
        cell.refused = (*cell.refused, event.rejected.message)[-MOST_REFUSED:]
    if event.rung == "retry":
        return  # the next fact says when
    if event.rung != "relax":
        _go_another_way(state, cell, event)
        state.decide(cell.key)
    cell.ways = (*cell.ways, f"{event.rung}:{event.tool}" if event.tool else event.rung)


def _go_another_way(state: State, cell: Cell, event: e.RungTaken) -> None:
    outline, is_leaf = cell.scope.outline, isinstance(cell.body, Work)
    found = outline.found_way(cell.node, event.tool) if event.tool else None
    call = found or declared(cell.traits.working, cell.ways, event.rung)
    assert call is not None  # noqa: S101  a rung that leads nowhere is not taken
    if isinstance(cell.body, Body):
        _count_together(cell, cell.body)
    cell.traits = outline.another_way(cell.node, call)
    _forget_try(cell.work)
    if event.strategy or not is_leaf:
        _leave(state, cell)
        _begin_anew(state, cell, event)


def _count_together(cell: Cell, body: Body) -> None:
    """All tries of a visit count, whatever they tried."""
    if cell.traits.usual is None:
        cell.work = Work()
    cell.work.counted, cell.work.since = body.tries, body.first


def _forget_try(work: Work) -> None:
    """What came of the way before is settled. Whatever somebody said about it holds for no other way."""
    work.outcome, work.lost, work.stopping, work.due = None, False, False, None
    work.call, work.probe, work.verdict, work.met = None, None, None, 0


def _leave(state: State, cell: Cell) -> None:
    """Nothing of the way before is awaited any more."""
    cell.status, cell.leaving, cell.undo, cell.question = "active", None, (), ""
    state.undoers.pop(cell.key, None)
    cell.due, cell.alarm, cell.strategy = None, 0, ""


def _begin_anew(state: State, cell: Cell, event: e.RungTaken) -> None:
    cell.due, cell.strategy = event.due, event.strategy
    if event.due is not None:
        cell.alarm = state.set_timer(event.due, cell.key, cell.visit, "step")
    if event.strategy:
        open_agent(state, cell)
        _count_on(cell)
    else:
        cell.kind, cell.body, cell.open = "work", cell.work, True


def _count_on(cell: Cell) -> None:
    """An agent goes on with the tries of the visit."""
    assert isinstance(cell.body, Body)  # noqa: S101  it was just opened
    cell.body.tries, cell.body.first = cell.work.counted + 1, cell.work.since or cell.body.first


def return_to_usual(cell: Cell) -> None:
    """A new visit begins in the usual way."""
    cell.ways, cell.traits = (), cell.traits.usual or cell.traits
    cell.kind, cell.tree, cell.within = cell.traits.kind, cell.node, cell.scope
    is_grown = cell.scope.holder is cell
    cell.inner = f"{cell.key}." if is_grown or cell.parent is None else cell.parent.inner

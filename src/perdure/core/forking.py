"""A run goes its own way from where another one stood: what that changes in the state. Part of the fold.

What was done stays as it was, and what was spent is spent. What was under way is lost to this run, as if a process had
died; but none has, so nobody is blamed for it.
"""

import msgspec

from perdure.core import events as e
from perdure.core.cells import Cell, Effect, Work
from perdure.core.spending import settle
from perdure.core.state import State
from perdure.plan.model.steps import WaitStep


def run_forked(state: State, event: e.RunForked) -> None:
    """Go on from here, on a clock that has stood still meanwhile."""
    for cell in list(state.flying.values()):
        _lose(state, cell)
    for effect in state.effects.values():
        _leave(effect, event.of)
    for cell in state.cells.values():
        if cell.status != "over" and isinstance(cell.body, Work) and cell.work.attempt:
            cell.work.of = cell.work.of or event.of
    _go_on(state, event)
    _see(state, event)
    state.forked = event
    state.awaits = state.revision + 1 if event.revised else 0


def _lose(state: State, cell: Cell) -> None:
    """Nobody here will see how it ends."""
    work = cell.work
    if cell.ledgers and (work.looking is None or work.looking.deed == "judge"):
        settle(state, cell, None, lost=True)
    if work.looking is not None:
        work.looking.flying, work.looking = False, None
    else:
        work.lost = True
        work.counted -= not work.stopping
    work.flying = False
    del state.flying[cell.key]
    state.unsettled[cell.key] = cell


def _leave(effect: Effect, of: str) -> None:
    """What another run has done is for that run to take back."""
    effect.of = effect.of or of
    effect.flying, effect.due, effect.alarm = False, None, 0


def _go_on(state: State, event: e.RunForked) -> None:
    """What may take so long may take as much longer; only what waits for an hour to come finds that it has come."""
    since = event.at if state.paused_at is None else state.paused_at
    gap = max(0, state.at - since)
    if state.paused_at is None:
        for cell in state.cells.values():
            _find_late(state, cell, gap)
    state.paused += gap
    state.paused_at = None


def _find_late(state: State, cell: Cell, gap: int) -> None:
    if cell.status == "active" and cell.due is not None and _waits_for_time(cell):
        cell.due -= gap
        cell.alarm = state.set_timer(cell.due, cell.key, cell.visit, "step")


def _waits_for_time(cell: Cell) -> bool:
    """A moment of the calendar is not moved in any case, and a signal is waited for as long as was left."""
    step = cell.step
    return isinstance(step, WaitStep) and step.wait.until is None and not step.wait.signal


def _see(state: State, event: e.RunForked) -> None:
    """The past is as it was; whatever is looked at from now on is seen with other inputs."""
    if event.inputs is None or state.started is None:
        return
    goal = event.goal or state.started.goal
    state.started = msgspec.structs.replace(state.started, inputs=event.inputs, goal=goal)
    for cell in state.cells.values():
        cell.scope.cached.pop("inputs", None)
        cell.within.cached.pop("inputs", None)

"""Lines: who could begin an attempt and waits for room, and who holds which lock. Part of the fold."""

from collections.abc import Callable
from heapq import heappush
from typing import Any, Final

from perdure.core.cells import Body, Cell
from perdure.core.outline import priority_of
from perdure.core.state import State
from perdure.plan.model.parts import ToolCall
from perdure.plan.model.steps import AgentStep, AnyStep, AskStep, DecideStep, ModelStep, ToolStep, Working


def make_hungry(state: State, cell: Cell) -> None:
    """Put a step among those that could begin: an acting step, or a group that wants its locks."""
    state.eager.add(cell.key)
    entry = (-priority_of(cell.node), cell.age, cell.key, cell.visit)
    heappush(state.hungry.setdefault(called_by(cell), []), entry)


def wake_within(state: State, cell: Cell) -> None:
    """A group is open: the groups inside that want locks of their own may ask for them."""
    for child in cell.body.live.values() if isinstance(cell.body, Body) else ():
        if child.open:
            wake_within(state, child)
        else:
            make_hungry(state, child)


def called_by(cell: Cell) -> str:
    """What a step waits in line for: its tool, or its turn alone."""
    call = call_in(cell)
    return call.tool if type(call) is ToolStep or isinstance(call, ToolCall) else ""


_CALLS: Final[dict[type[AnyStep], Callable[[Any], Any]]] = {
    ToolStep: lambda step: step,
    ModelStep: lambda step: step,
    AgentStep: lambda step: step,
    DecideStep: lambda step: step.decide,
}
"""Where the call of an acting step stands. A table, because asking a model for what it lacks is slow."""


def call_in(cell: Cell) -> Any:
    """The call that an acting step makes; None for other steps."""
    found = _CALLS.get(type(cell.step)) if cell.step else None
    return found(cell.step) if found else None


def locks_at_entry(cell: Cell) -> bool:
    """Who waits for a person holds no lock; an item of a map leaves that to the map."""
    if isinstance(cell.step, AskStep) or (cell.parent is not None and cell.parent.kind == "map"):
        return False
    return isinstance(cell.step, Working) and bool(cell.step.locks)


def take_locks(state: State, cell: Cell) -> None:
    """Hold the locks of a step, but for those that a group around it holds."""
    for name in cell.step.locks if isinstance(cell.step, Working) else ():
        state.locks.setdefault(name, cell)


def release_locks(state: State, cell: Cell) -> None:
    """Let go of the locks that a step holds itself."""
    for name in cell.step.locks if isinstance(cell.step, Working) else ():
        if state.locks.get(name) is cell:
            del state.locks[name]

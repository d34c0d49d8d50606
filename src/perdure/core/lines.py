"""Lines: who could begin an attempt and waits for room, and who holds which lock. Part of the fold."""

from heapq import heappush

from perdure.core.cells import Body, Cell
from perdure.core.state import Entry, State


def make_hungry(state: State, cell: Cell) -> None:
    """Put a step among those that could begin: an acting step, or a group that wants its locks."""
    state.eager.add(cell.key)
    entry = (cell.traits.rank, cell.age, cell.key, cell.visit)
    heappush(state.hungry.setdefault(state.names.tool(cell.traits.tool), []), entry)


def is_hungry(state: State, entry: Entry) -> bool:
    """Whether somebody in a line still could begin."""
    _, age, key, visit = entry
    cell = state.cells[key]
    return key in state.eager and cell.visit == visit and cell.age == age


def wake_within(state: State, cell: Cell) -> None:
    """A group is open: the groups inside that want locks of their own may ask for them."""
    for child in cell.body.live.values() if isinstance(cell.body, Body) else ():
        if child.open:
            wake_within(state, child)
        else:
            make_hungry(state, child)


def locks_at_entry(cell: Cell) -> bool:
    """Who waits for a person holds no lock; an item of a map leaves that to the map."""
    return bool(cell.traits.locks) and cell.kind != "ask" and (cell.parent is None or cell.parent.kind != "map")


def take_locks(state: State, cell: Cell) -> None:
    """Hold the locks of a step, but for those that a group around it holds."""
    for name in cell.traits.locks:
        state.locks.setdefault(name, cell)


def has_locks(state: State, cell: Cell) -> bool:
    """Whether a step, or a group around it, holds all locks of the step."""
    holders = (cell, *cell.around)
    return all(state.locks.get(name) in holders for name in cell.traits.locks)


def release_locks(state: State, cell: Cell) -> None:
    """Let go of the locks that a step holds itself."""
    for name in cell.traits.locks:
        if state.locks.get(name) is cell:
            del state.locks[name]

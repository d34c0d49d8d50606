"""What a visit holds when it begins, and when a group is done again from the start. Part of the fold.

A group that is done again stays in its visit. Its steps are forgotten, as they are when it is entered anew, and have
visits of their own; what it has spent, its locks and the number of its tries stay.
"""

from perdure.core.cells import Body, Cell, Graph, Grown, Scope, Serial, Work
from perdure.core.lines import has_locks, locks_at_entry, make_hungry
from perdure.core.state import State


def body_of(state: State, cell: Cell) -> Body | Work | None:
    """What a step holds at first; nothing if it only waits."""
    match cell.kind:
        case "work":
            cell.work = Work()
            return cell.work
        case "serial":
            return _begun(state, Serial(loops=cell.within.outline.loops(cell.tree)))
        case "graph":
            return _begun(state, _graph(cell))
        case "map":
            return _begun(state, Graph(0))
        case _:
            return None


def _begun(state: State, body: Body) -> Body:
    body.begins = body.first = state.clock(state.at)
    return body


def _graph(cell: Cell) -> Graph:
    wiring = cell.within.outline.wiring(cell.tree)
    body = Graph(len(cell.tree.children))
    body.left = wiring.needs.copy()
    body.ready = wiring.free.copy()
    return body


def open_agent(state: State, cell: Cell) -> None:
    """Let a step be grown, as soon as it has its locks."""
    cell.kind, cell.body = "agent", _begun(state, Grown())
    cell.inner = f"{cell.key}/{cell.visit}."
    state.holders[cell.inner] = cell
    cell.within = Scope("agent", cell.scope.outline, cell.node, cell.scope)
    cell.within.holder = cell
    _let_in(state, cell)


def _let_in(state: State, cell: Cell) -> None:
    cell.open = not locks_at_entry(cell) or has_locks(state, cell)
    if not cell.open:
        make_hungry(state, cell)


def open_again(state: State, cell: Cell, before: Body, due: int) -> None:
    """Do a group again that failed, as soon as its time has come; it may take as long as it did before."""
    span = None if cell.due is None else cell.due - before.begins
    cell.status, cell.leaving, cell.undo, cell.question = "active", None, (), ""
    state.undoers.pop(cell.key, None)
    _empty(state, cell)
    assert isinstance(cell.body, Body)  # noqa: S101  it is a group, and stays one
    cell.body.tries, cell.body.first, cell.body.begins = before.tries + 1, before.first, due
    if due > state.clock(state.at):
        state.set_timer(due, cell.key, cell.visit, "again")
    if span is not None:
        cell.due = due + span
        cell.alarm = state.set_timer(cell.due, cell.key, cell.visit, "step")


def _empty(state: State, cell: Cell) -> None:
    """Forget what is inside, and what it was given: both are looked at anew."""
    if cell.kind == "agent":
        open_agent(state, cell)
        return
    if cell.within is not cell.scope:
        cell.within.cached.clear()
    cell.body = body_of(state, cell)
    _let_in(state, cell)

"""A run whose plan was revised: its steps stand in the new tree, with all that they have done. Part of the fold.

A run shares the tree of its plan with all runs of the plan, until it is revised for the first time: then it has one of
its own. Groups that an edit has touched are fitted to their new children. No result, visit or counter changes.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from heapq import heapify
from typing import Final

from perdure.collector import Undisturbed
from perdure.core import events as e
from perdure.core.cells import Body, Cell, Graph, Grown, Scope, Serial
from perdure.core.learning import rank_of
from perdure.core.outline import Outline
from perdure.core.reopening import reset_needs
from perdure.core.state import State
from perdure.plan.grafting import Graft, take
from perdure.plan.index import Node, within
from perdure.plan.model.edits import EDIT
from perdure.plan.model.steps import MapStep

_CHOOSERS: Final = frozenset({e.NEXT_STEPS, e.ADJUSTER, e.REPLANNER, e.PLANNER})
"""Who revises plans because of what steps have given."""


def run_revised(state: State, event: e.RunRevised) -> None:
    """Make the plan another one."""
    with Undisturbed():
        outline = owned(state)
        graft = Graft(outline.index)
        take(graft, [EDIT.validate_python(edit) for edit in event.edits])
        renewed, touched = graft.close(), graft.touched
        reordered = [group for group in graft.reordered if group not in touched and not group.serial]
        gone = (node for top in graft.gone.values() for node in (top, *within(top)))
        shifted = outline.renew(renewed, (*touched, *reordered), gone)
        for group in sorted(touched, key=lambda node: node.depth):  # whatever is inside is found by its new place
            for cell, body in _bodies_at(state, group):
                _refit(cell, body, touched[group])
                if isinstance(body, Serial):
                    _step_back(state, cell, body, graft.born)
        _each_at(state, reordered, _rewire)
        _each_at(state, shifted, _rank_anew)
        for node in renewed:
            _renew(state, node, outline)
        for node in graft.born:
            _succeed(state, node, outline)
        if event.by in _CHOOSERS and event.after:
            chooser = event.after.partition("/")[0]  # what an agent has grown is not known by its id
            outline.chosen |= {node.id: chooser for node in (*graft.born, *graft.amended)}
        _limit(state)


def _limit(state: State) -> None:
    """What the run may spend, if its plan says otherwise now. What is spent is spent."""
    root = state.cells[""]
    if root.ledger is not None:
        root.ledger.limit(root.traits.budgets)
        root.ledger.version += 1


# ------------------------------------------------------------------------------- a tree of its own


def owned(state: State) -> Outline:
    """The plan of the run, in a tree that is nobody else's."""
    root = state.cells[""]
    shared = root.scope.outline
    if shared.is_own:
        return shared
    outline = shared.own()
    same = {"": outline.index.root, **outline.index.by_id}
    _adopt_scope(root.scope, shared, outline, same)
    for cell in _all_cells(root):
        if cell.within is not cell.scope:
            _adopt_scope(cell.within, shared, outline, same)
        if cell.scope.outline is outline:
            _adopt(cell, same[cell.node.id])
    return outline


def _adopt_scope(scope: Scope, shared: Outline, outline: Outline, same: dict[str, Node]) -> None:
    if scope.outline is shared:
        scope.outline, scope.top = outline, same[scope.top.id]


def _adopt(cell: Cell, node: Node) -> None:
    """Let a cell stand for the same step in another tree."""
    if cell.tree is cell.node:
        cell.tree = node
    cell.node = node


def _all_cells(top: Cell) -> Iterator[Cell]:
    """Every cell that somebody could ask about, each after the one around it."""
    stack = [top]
    while stack:
        cell = stack.pop()
        yield cell
        for body in _bodies_of(cell):
            stack.extend(body.children.values())


def _bodies_of(cell: Cell) -> Iterator[Body]:
    """The body of the visit, and that of the last finished one, of which outputs are still made."""
    if isinstance(cell.body, Body):
        yield cell.body
    last = cell.result.body if cell.result else None
    if isinstance(last, Body) and last is not cell.body:
        yield last


def _rebind(cell: Cell, node: Node, outline: Outline) -> None:
    """Let a cell stand for a step as it is now."""
    is_other_way = cell.traits.usual is not None and (cell.is_live or cell.step is node.step)
    cell.traits = outline.another_way(node, cell.traits.call) if is_other_way else outline.traits(node)
    cell.step = node.step
    _adopt(cell, node)


# ------------------------------------------------------------------------------- steps that are others now


def _renew(state: State, node: Node, outline: Outline) -> None:
    """Its own fields, or those of steps inside it, are others."""
    for cell in cells_at(state, node):
        if cell.node is node:
            _rebind(cell, node, outline)
            _forget_terms(cell)
            for item in _items(cell):
                _rebind(item, node, outline)


def _succeed(state: State, node: Node, outline: Outline) -> None:
    """A new step stands where another one was: what that has given stays. A group keeps the tree it was done with."""
    for cell in cells_at(state, node):
        if not isinstance(cell.body, Body):
            _rebind(cell, node, outline)
            _forget_terms(cell)


def _forget_terms(cell: Cell) -> None:
    """The next visit begins as the step says now."""
    if cell.is_live or isinstance(cell.body, Body):
        return
    assert cell.parent is not None  # noqa: S101  the run itself is live as long as it can be revised
    cell.kind, cell.ledger, cell.ledgers = cell.traits.kind, None, cell.parent.ledgers


# ------------------------------------------------------------------------------- groups with other steps in them


def cells_at(state: State, node: Node, *, past: bool = True) -> list[Cell]:
    """The cells of a step: one, or one for each item of the maps around it; also of visits that are past."""
    cells = [state.cells[""]]
    for each in reversed((node, *node.around)):
        if each.parent is not None:
            bodies = (body for cell in cells for _, body in bodies_in(cell, past=past))
            cells = [body.children[each.position] for body in bodies if each.position in body.children]
    return cells


def bodies_in(cell: Cell, *, past: bool = True) -> Iterator[tuple[Cell, Body]]:
    """Where the steps stand that the plan has put into a step: in its body, or in those of its items."""
    for body in _bodies_of(cell) if past else _present(cell):
        if isinstance(body, Grown):
            continue  # another way was gone, and what stands there is not of the plan
        if not isinstance(cell.step, MapStep):
            yield cell, body
            continue
        for item in body.children.values():
            for inner in _bodies_of(item) if past else _present(item):
                yield item, inner


def _present(cell: Cell) -> list[Body]:
    return [cell.body] if isinstance(cell.body, Body) else []


def _items(cell: Cell) -> Iterator[Cell]:
    for body in _bodies_of(cell) if isinstance(cell.step, MapStep) else ():
        yield from () if isinstance(body, Grown) else body.children.values()


def _bodies_at(state: State, group: Node) -> Iterator[tuple[Cell, Body]]:
    for cell in cells_at(state, group):
        if cell.tree is group:
            yield from bodies_in(cell)


def _each_at(state: State, groups: Iterable[Node], change: Callable[[Cell, Body], None]) -> None:
    for group in groups:
        for cell, body in _bodies_at(state, group):
            change(cell, body)


def _refit(cell: Cell, body: Body, before: list[Node]) -> None:
    """Give every child its new place. One that is gone was not reached in this visit, but perhaps in an earlier one."""
    places = {child.id: child.position for child in cell.tree.children}
    children = list(body.children.items())
    body.children.clear()
    for position, child in children:
        place = places.get(before[position].id)
        if place is not None:
            body.children[place], child.position = child, place
    body.live = {child.position: child for child in body.live.values()}
    if isinstance(body, Serial):
        body.cursor = places.get(before[body.cursor].id, -1) if body.cursor >= 0 else -1
        body.rounds = body.rounds or ([[]] if cell.within.outline.loops(cell.tree) else [])
        return
    assert isinstance(body, Graph)  # noqa: S101  one or the other
    if body.told is None and (cell.body is not body or not cell.is_live):
        body.told = tuple(child.id for child in before)  # what a group has given stays, whatever is put into it later
    _rewire(cell, body)


def _step_back(state: State, cell: Cell, body: Serial, born: Container[Node]) -> None:
    """What was put right before a step that is about to be entered again comes first."""
    here = body.children.get(body.cursor)
    if here is None or here.status != "idle" or cell.status != "active" or cell.body is not body:
        return
    nodes = cell.tree.children
    first = first_new(body.cursor, lambda place: nodes[place] in born and place not in body.children)
    body.cursor = state.child(cell, first).position


def first_new(place: int, is_new: Callable[[int], bool]) -> int:
    """The first of the new steps right before a place; the place itself, if there are none."""
    while place and is_new(place - 1):
        place -= 1
    return place


def _rewire(cell: Cell, body: Body) -> None:
    """Count anew what each step waits for: new ones may begin at once, if all that they need is over."""
    assert isinstance(body, Graph)  # noqa: S101  one or the other
    body.total = len(cell.tree.children)
    body.left = [0] * body.total
    reset_needs(cell, body, [child for child in body.children.values() if child.status == "over"])


def _rank_anew(cell: Cell, body: Body) -> None:
    """Steps take another time now: others may go first."""
    assert isinstance(body, Graph)  # noqa: S101  in a row nobody goes first
    body.ready = [(rank_of(cell, body, position), position) for _, position in body.ready]
    heapify(body.ready)

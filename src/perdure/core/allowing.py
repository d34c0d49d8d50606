"""What holds for a step: the layers of rules around it, from the outside in."""

from collections.abc import Iterator

from perdure.core.cells import Cell
from perdure.core.policy import Layer

Layers = tuple[Layer, ...]


def layers_around(cell: Cell, outermost: Layers) -> Layers:
    """The rules of the user, then of the plan, of each group, of plans inside, and of the step itself."""
    found = [layer for each in (cell, *cell.around) for layer in _own(each)]
    return (*outermost, *reversed(found)) if found else outermost


def _own(cell: Cell) -> Iterator[Layer]:
    """What a cell adds to the rules, the innermost first. An item of a map leaves that to the map."""
    if cell.parent is None:
        layers = (cell.scope.outline.layer,)
    elif cell.parent.kind == "map":
        return
    else:
        called = cell.within.outline.layer if cell.within.outline is not cell.scope.outline else None
        layers = (called, cell.traits.inner_layer, cell.traits.layer)
    yield from (layer for layer in layers if layer is not None)

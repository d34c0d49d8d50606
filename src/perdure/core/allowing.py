"""What holds for a step: the layers of rules around it, from the outside in."""

from perdure.core.cells import Cell
from perdure.core.policy import Layer

Layers = tuple[Layer, ...]


def layers_around(cell: Cell, outermost: Layers) -> Layers:
    """The rules of the user, then of the plan, of each group, of plans inside, and of the step itself."""
    found: list[Layer] | None = None
    each: Cell | None = cell
    while each is not None:  # every attempt asks, and mostly nobody but the user has a say
        if each.parent is None or each.traits.layer is not None or each.within is not each.scope:
            found = [*(found or ()), *_own(each)] or None
        each = each.parent
    return outermost if found is None else (*outermost, *reversed(found))


def _own(cell: Cell) -> list[Layer]:
    """What a cell adds to the rules, the innermost first. An item of a map leaves that to the map."""
    if cell.parent is None:
        layers = [cell.scope.outline.layer]
    elif cell.parent.kind == "map":
        return []
    else:
        called = cell.within.outline.layer if cell.within.outline is not cell.scope.outline else None
        layers = [called, cell.traits.inner_layer, cell.traits.layer]
    return [layer for layer in layers if layer is not None]

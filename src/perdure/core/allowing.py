"""What holds for a step: the layers of rules around it, from the outside in."""

from perdure.core.cells import Cell
from perdure.core.policy import Layer, is_contained

Layers = tuple[Layer, ...]


def layers_around(cell: Cell, outermost: Layers) -> Layers:
    """The rules of the user, then of the plan, of each group, of plans inside, and of the step itself."""
    found: list[Layer] | None = None
    each: Cell | None = cell
    while each is not None:  # every attempt asks, and mostly nobody but the user has a say
        own = each.traits.layer if each.parent is not None else each.scope.outline.layer
        if own is not None or each.within is not each.scope:
            found = [*(found or ()), *_own(each)] or None
        each = each.parent
    return outermost if found is None else (*outermost, *reversed(found))


def branches_around(cell: Cell, layers: Layers) -> tuple[str, ...]:
    """The groups around a step that keep what is done on a copy, by their keys, from the outside in.

    `layers` are all that hold for it: of nearly all steps none does so, and nobody has to look further.
    """
    if not is_contained(layers):
        return ()
    found: list[str] = []
    each: Cell | None = cell
    while each is not None:
        if is_contained(_own(each)):
            found.append(each.key)
        each = each.parent
    return tuple(reversed(found)) or ("",)


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

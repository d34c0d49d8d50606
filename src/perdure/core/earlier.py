"""What an agent's work has come to, for whoever does a part of it and has lost what came before."""

from perdure.core.calls import Earlier
from perdure.core.cells import Cell, Grown, Work
from perdure.core.seeing import call_of, output_of
from perdure.core.state import State


def siblings(state: State, cell: Cell) -> list[Earlier]:
    """What was called before a grown step in its own group, and what it gave, the oldest first."""
    body = cell.parent.body if cell.parent else None
    if not isinstance(body, Grown):
        return []
    older = [body.children[each] for each in sorted(body.children) if each < cell.position]
    return [Earlier(each.key, call_of(state, each), output_of(state, each)) for each in older if _has_given(each)]


def _has_given(cell: Cell) -> bool:
    result = cell.result
    return cell.status == "over" and result is not None and isinstance(result.body, Work) and result.failure is None

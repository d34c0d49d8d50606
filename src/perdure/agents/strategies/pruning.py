"""Pruning: what a search will not come back to. What was done for it can be undone at once."""

from collections.abc import Iterable, Sequence

from perdure.agents.strategies.branching import Branching, Node


def fallen(branching: Branching, nodes: Iterable[Node], standing: Sequence[Node]) -> list[str]:
    """The trials of nodes that lead to nothing that stands, and of those that led to nothing else."""
    found: dict[str, None] = {}
    left: list[Node | None] = list(nodes)
    while left:
        node = left.pop()
        if node is not None and node.trial not in found and not any(_leads(branching, node, to) for to in standing):
            found[node.trial] = None
            left.append(branching.parent(node))
    return list(found)


def _leads(branching: Branching, node: Node, to: Node | None) -> bool:
    """Whether one node is another, or led to it."""
    while to is not None and to.level > node.level:
        to = branching.parent(to)
    return to is not None and to.trial == node.trial

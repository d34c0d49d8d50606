"""A graph made ready: who needs whom, and who goes first among those that could begin.

Whoever is more important goes first, then whoever has the longest way still to go: its own time, and that of the
longest chain of others that can only come after it. So what all others wait for does not begin last.
"""

from collections.abc import Callable
from typing import Final

from perdure.plan.flow import needed_by
from perdure.plan.index import Node
from perdure.plan.paths import heaviest

Rank = tuple[int, int]
"""Among those that could begin, lower goes first: by priority, then by the way still to go."""
Ready = tuple[Rank, int]
"""One that could begin: its rank and its place, for among equals it goes as the plan is written."""
EQUAL: Final[Rank] = (0, 0)
"""The rank of those that nothing tells apart, as the items of a map."""


class Wiring:
    """What the needs in a graph come to. Children are named by their positions."""

    def __init__(self, group: Node, lasts: Callable[[Node], int]) -> None:
        self.dependents = needed_by(group)
        """Those who need each child."""
        self.needs = [0] * len(group.children)
        """How many others each child needs."""
        for dependents in self.dependents:
            for position in dependents:
                self.needs[position] += 1
        durations = [lasts(child) for child in group.children]
        to_go = heaviest(self.dependents, durations)
        self.longest, self.work = max(to_go, default=0), sum(durations)
        """How long the longest way through takes, and all steps one after another."""
        self.ranks: list[Rank] = [(-priority_of(child), -to_go[child.position]) for child in group.children]
        """Who goes first."""
        self.free: list[Ready] = sorted((rank, n) for n, rank in enumerate(self.ranks) if not self.needs[n])
        """Those who need nobody, as a heap."""


def priority_of(node: Node) -> int:
    """What a step says about its own importance."""
    return vars(node.step).get("priority", 0) if node.step else 0

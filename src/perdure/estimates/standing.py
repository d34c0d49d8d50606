"""What stands in a simulated run: visits, groups, what was taken so far."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify

from perdure.core.wiring import Ready
from perdure.estimates.parts import Part
from perdure.estimates.sources import Drawn
from perdure.plan.model.parts import Quorum, Tolerate


@dataclass(slots=True)
class Taken:
    """What a simulated run took."""

    took: int = 0
    worked: int = 0
    """Time with somebody at work."""
    labour: int = 0
    """What all tries took, one after another."""
    people: int = 0
    """What people and the outside were waited for, one after another."""
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    calls: int = 0
    steps: int = 0
    """Visits of steps, groups included."""
    acts: int = 0
    """Visits of steps that act."""
    megabytes: float = 0.0
    at_once: int = 0
    exit: str = ""
    waits: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """What steps waited for before they could begin, and for how long all together."""
    spent_on: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """What all tries of each step took."""


class Visit:
    """One visit of a step that acts or waits."""

    __slots__ = (
        "age",
        "alive",
        "at_rest",
        "at_work",
        "cause",
        "drawn",
        "group",
        "held",
        "part",
        "position",
        "since",
        "tries",
        "way",
    )

    def __init__(self, part: Part, group: "Group", position: int) -> None:
        self.part, self.group, self.position = part, group, position
        self.alive, self.at_work, self.held = True, False, False
        self.at_rest = 0
        """Since when it could begin."""
        self.age = self.tries = self.way = 0
        self.since = 0
        """When its first try began."""
        self.cause = ""
        self.drawn: Drawn | None = None


class Group:
    """One visit of a group."""

    __slots__ = (
        "alive", "bad", "counts", "good", "left", "limit", "live", "over", "parent", "part", "position", "ready",
        "ready_at", "skipped", "total", "tries", "unmet",
    )  # fmt: skip

    def __init__(self, part: Part, parent: "Group | None", position: int) -> None:
        self.part, self.parent, self.position = part, parent, position
        self.alive = True
        self.live: dict[int, Visit | Group] = {}
        self.counts: dict[int, int] = {}
        self.tries = 1
        self.good = self.bad = self.over = self.total = 0
        self.limit: int | None = None
        self.left: list[int] = []
        self.ready: list[Ready] = []
        self.ready_at: dict[int, int] = {}
        self.unmet: set[int] = set()
        self.skipped: dict[int, int] = {}

    def child(self, position: int) -> Part:
        """What stands at a place in it."""
        item = self.part.item
        return self.part.children[position] if item is None else item

    def open(self, total: int, limit: int | None, ready: Sequence[Ready], needs: Sequence[int]) -> None:
        """Begin as a graph."""
        self.total, self.limit, self.ready, self.left = total, limit, list(ready), list(needs)
        heapify(self.ready)


def verdict(group: Group) -> str:
    """What the ends in a graph mean so far; empty: nothing yet."""
    is_over, join = group.over == group.total, group.part.join
    match join:
        case "all":
            return "failure" if group.bad else "success" if is_over else ""
        case "any":
            return "success" if group.good else "failure" if is_over else ""
        case Quorum():
            possible = group.good + group.total - group.over
            return "success" if group.good >= join.quorum else "failure" if possible < join.quorum else ""
        case Tolerate():
            return "" if not is_over else "failure" if group.bad > join.tolerate else "success"
        case _:
            return "success" if is_over else ""


def all_skipped(group: Group, position: int) -> bool:
    """Whether all that a child needs was passed by."""
    return bool(group.skipped.get(position)) and group.skipped[position] == group.part.needs[position]

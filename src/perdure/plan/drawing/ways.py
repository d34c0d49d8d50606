"""Ways through a group: the longest one, and how the group unfolds in time. Children are named by their position."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from perdure.plan.drawing.flow import Shape
from perdure.plan.model.steps import Working


def longest(shape: Shape, weights: list[tuple[float, int]]) -> list[int]:
    """The heaviest way through a group: from its first child if it is serial, from any in a graph."""
    following = _following(shape)
    best: dict[int, tuple[float, int]] = {}
    came: dict[int, int] = {}
    for place in _order(following):
        if place and place not in came and shape.mode == "serial":
            continue  # only a jump back leads here
        before = best[came[place]] if place in came else (0, 0)
        best[place] = (before[0] + weights[place][0], before[1] + weights[place][1])
        for after in following[place]:
            if after not in came or best[place] > best[came[after]]:
                came[after] = place
    way = [max(best, key=lambda place: (best[place], -place))] if best else []
    while way and way[-1] in came:
        way.append(came[way[-1]])
    return way[::-1]


def _following(shape: Shape) -> list[list[int]]:
    """For each child, the children that come after it, jumps back left out."""
    found: list[list[int]] = [[] for _ in shape.inside]
    for edge in shape.edges:
        if edge.target is not None and not edge.backward:
            found[edge.leaves.position].append(edge.target.position)
    return found


def _before(following: list[list[int]]) -> list[int]:
    """For each child, how many it waits for."""
    waiting = [0] * len(following)
    for after in following:
        for place in after:
            waiting[place] += 1
    return waiting


def _order(following: list[list[int]]) -> Iterator[int]:
    """Every child after those it waits for; a circle, which the checks refuse, is left out."""
    waiting = _before(following)
    ready = [place for place, count in enumerate(waiting) if not count]
    while ready:
        place = heappop(ready)
        yield place
        for after in following[place]:
            waiting[after] -= 1
            if not waiting[after]:
                heappush(ready, after)


# ------------------------------------------------------------------------------- in time


def schedule(shape: Shape, sizes: list[tuple[float, int]], limit: int) -> tuple[float, int]:
    """How long a graph lasts and how wide it gets, if each child (how long, how wide) starts as soon as it can."""
    run = _Schedule(shape, sizes)
    while run.ready or run.live:
        run.start(limit)
        run.end()
    return run.now, run.widest


class _Schedule:
    def __init__(self, shape: Shape, sizes: list[tuple[float, int]]) -> None:
        self.sizes = sizes
        self.ranks = [_rank(child) for child in shape.inside]
        self.following = _following(shape)
        self.waiting = _before(self.following)
        self.ready = [(rank, place) for place, rank in enumerate(self.ranks) if not self.waiting[place]]
        heapify(self.ready)
        self.live: list[tuple[float, int]] = []
        self.now, self.width, self.widest = 0.0, 0, 0

    def start(self, limit: int) -> None:
        """Start what is ready, as far as there is room."""
        while self.ready and len(self.live) < limit:
            _, place = heappop(self.ready)
            lasts, wide = self.sizes[place]
            heappush(self.live, (round(self.now + lasts, 6), place))
            self.width += wide
        self.widest = max(self.widest, self.width)

    def end(self) -> None:
        """Go on to the next moment at which something ends."""
        self.now = self.live[0][0]
        while self.live and self.live[0][0] == self.now:
            _, place = heappop(self.live)
            self.width -= self.sizes[place][1]
            self._release(place)

    def _release(self, place: int) -> None:
        for after in self.following[place]:
            self.waiting[after] -= 1
            if not self.waiting[after]:
                heappush(self.ready, (self.ranks[after], after))


def _rank(shape: Shape) -> int:
    return -shape.node.step.priority if isinstance(shape.node.step, Working) else 0

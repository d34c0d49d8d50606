"""Which row of a graph each step stands in, and the thin places that long lines take in the rows between.

Nodes are numbers here: first the steps, in document order, then the places that lines pass through.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

MOST_IN_ROW: Final = 12
"""A row with more steps is broken into several."""
WIDEST_ROW: Final = 2200.0
PASSAGE: Final = 10.0
"""Width of the place that a line takes in a row it only passes through."""

Tie = tuple[int, int]
"""From a step to one that needs it."""


@dataclass(eq=False)
class Bundle:
    """Long lines with one end in common; they run together as far as they can."""

    hub: int
    hub_is_source: bool
    spokes: list[int] = field(default_factory=list[int])
    passages: list[int] = field(default_factory=list[int])
    """The places it passes through, from top to bottom."""
    first: int = 0
    """The row of the first place."""

    def beside(self, rank: int) -> int:
        """The place in a row."""
        return self.passages[rank - self.first]


@dataclass(eq=False)
class Ranked:
    """A graph in rows: every link leads from one row to the next."""

    steps: int
    rank: list[int]
    widths: list[float]
    links: list[Tie] = field(default_factory=list[Tie])
    short: list[Tie] = field(default_factory=list[Tie])
    """Ties between neighbouring rows."""
    bundles: list[Bundle] = field(default_factory=list[Bundle])
    wrapped: frozenset[int] = frozenset()
    """Rows that are part of a longer one."""
    direct: list[Tie] = field(default_factory=list[Tie])
    """Ties drawn straight across, because going around would cost too much or there is no way down."""

    @property
    def rows(self) -> list[list[int]]:
        """The nodes of each row."""
        rows: list[list[int]] = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for node, rank in enumerate(self.rank):
            rows[rank].append(node)
        return rows


def ranked(widths: Sequence[float], ties: Sequence[Tie]) -> Ranked:
    """Put every step into a row below all that it needs."""
    rank, wrapped = _wrapped(_longest_paths(len(widths), ties), widths)
    graph = Ranked(len(widths), rank, list(widths), wrapped=wrapped)
    long: list[Tie] = []
    for tie in ties:
        down = rank[tie[1]] - rank[tie[0]]
        (graph.direct if down < 1 else graph.short if down == 1 else long).append(tie)
    graph.links += graph.short
    _bundle(graph, long)
    return graph


def _longest_paths(count: int, ties: Iterable[Tie]) -> list[int]:
    """The length of the longest way down to each step."""
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in ties:
        below[source].append(target)
        waiting[target] += 1
    rank, placed = [0] * count, [False] * count
    ready = [node for node in reversed(range(count)) if not waiting[node]]
    left = iter(range(count))
    while ready or (ready := _any_left(left, placed)):
        node = ready.pop()
        if placed[node]:
            continue
        placed[node] = True
        for following in below[node]:
            waiting[following] -= 1
            if not placed[following]:
                rank[following] = max(rank[following], rank[node] + 1)
                if not waiting[following]:
                    ready.append(following)
    return rank


def _any_left(nodes: Iterable[int], placed: list[bool]) -> list[int]:
    """A step of a circle; the checks refuse circles, but a picture may help to find them."""
    for node in nodes:
        if not placed[node]:
            return [node]
    return []


def _wrapped(rank: list[int], widths: Sequence[float]) -> tuple[list[int], frozenset[int]]:
    """Break rows that are too long, in document order; tell which rows are such parts."""
    rows: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for node, row in enumerate(rank):
        rows[row].append(node)
    wrapped, parts_of_rows, at = [0] * len(rank), set[int](), 0
    for row in rows:
        size = ceil(len(row) / _parts(row, widths))
        for place, node in enumerate(row):
            wrapped[node] = at + place // size
        after = at + ceil(len(row) / size)
        parts_of_rows |= set(range(at, after)) if after > at + 1 else set()
        at = after
    return wrapped, frozenset(parts_of_rows)


def _parts(row: list[int], widths: Sequence[float]) -> int:
    return max(ceil(len(row) / MOST_IN_ROW), ceil(sum(widths[node] for node in row) / WIDEST_ROW))


# ------------------------------------------------------------------------------- long lines


def _bundle(graph: Ranked, long: list[Tie]) -> None:
    leaving, arriving = Counter(source for source, _ in long), Counter(target for _, target in long)
    bundles: dict[tuple[bool, int], Bundle] = {}
    for source, target in long:
        by_source = leaving[source] > arriving[target]
        hub, spoke = (source, target) if by_source else (target, source)
        bundles.setdefault((by_source, hub), Bundle(hub, by_source)).spokes.append(spoke)
    room = 2 * (len(graph.rank) + len(graph.short) + len(long)) + 2000
    for bundle in sorted(bundles.values(), key=lambda bundle: _length(graph, bundle)):
        room -= _length(graph, bundle)
        if room >= 0:
            _pass_through(graph, bundle)
        else:
            graph.direct += [_tie(bundle, spoke) for spoke in bundle.spokes]


def _tie(bundle: Bundle, spoke: int) -> Tie:
    return (bundle.hub, spoke) if bundle.hub_is_source else (spoke, bundle.hub)


def _length(graph: Ranked, bundle: Bundle) -> int:
    return max(abs(graph.rank[spoke] - graph.rank[bundle.hub]) for spoke in bundle.spokes) - 1


def _pass_through(graph: Ranked, bundle: Bundle) -> None:
    length = _length(graph, bundle)
    bundle.first = graph.rank[bundle.hub] + 1 if bundle.hub_is_source else graph.rank[bundle.hub] - length
    for row in range(bundle.first, bundle.first + length):
        bundle.passages.append(len(graph.rank))
        graph.rank.append(row)
        graph.widths.append(PASSAGE)
    graph.links += zip(bundle.passages, bundle.passages[1:], strict=False)
    graph.links.append(_tie(bundle, bundle.passages[0 if bundle.hub_is_source else -1]))
    for spoke in bundle.spokes:
        row = graph.rank[spoke] + (-1 if bundle.hub_is_source else 1)
        ends = (bundle.beside(row), spoke) if bundle.hub_is_source else (spoke, bundle.beside(row))
        graph.links.append(ends)
    graph.bundles.append(bundle)

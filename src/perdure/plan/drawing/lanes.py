"""Jumps of a serial group: each runs along the side of the column in a lane of its own.

Jumps backwards run on the right, jumps forward on the left. Jumps that share a target (or a source)
share a lane, as they would share a rail: six steps that go back to `planning` are one line with one tip.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from perdure.plan.drawing.cards import SMALL
from perdure.plan.drawing.flow import Edge
from perdure.plan.drawing.lettering import fitted, width_of

APART: Final = 18.0
"""Between two lines that leave one side of a step; a word fits in between."""
BETWEEN: Final = 14.0
"""Between two lanes."""
CLEAR: Final = 26.0
"""Between a step and the first lane."""
LONGEST_NOTE: Final = 150.0
FAN: Final = 3
"""From so many targets on, the choices of one step run together and are named where they arrive."""


@dataclass(eq=False)
class Port:
    """Where a lane touches the side of a step."""

    lane: "Lane"
    at: int
    """Position of the step in its group."""
    is_source: bool
    note: str = ""
    tip: str = ""
    y: float = 0.0


@dataclass(eq=False)
class Lane:
    """One line along the column, from or to its hub, with all the steps it ties to it."""

    hub: Port = field(init=False)
    spokes: list[Port] = field(default_factory=list[Port])
    x: float = 0.0
    """Distance from the middle of the column."""

    @property
    def ports(self) -> list[Port]:
        """The hub and the spokes."""
        return [self.hub, *self.spokes]

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last position it touches."""
        places = [port.at for port in self.ports]
        return min(places), max(places)


def lanes_of(edges: Iterable[Edge]) -> list[Lane]:
    """The lanes of one side."""
    jumps = _merged(edges)
    arriving = Counter(to for _, to in jumps)
    alone = Counter(at for at, to in jumps if arriving[to] == 1)
    lanes: dict[tuple[bool, int], Lane] = {}
    for (at, to), same in jumps.items():
        by_source = arriving[to] == 1 and alone[at] >= FAN
        lane = lanes.setdefault((by_source, at if by_source else to), Lane())
        _tie(lane, (at, to), same, by_source=by_source)
    return list(lanes.values())


def _merged(edges: Iterable[Edge]) -> dict[tuple[int, int], list[Edge]]:
    jumps: dict[tuple[int, int], list[Edge]] = {}
    for edge in edges:
        if edge.target is not None:
            jumps.setdefault((edge.leaves.position, edge.target.position), []).append(edge)
    return jumps


def _tie(lane: Lane, ends: tuple[int, int], same: list[Edge], *, by_source: bool) -> None:
    at, to = ends
    lane.hub = Port(lane, at if by_source else to, is_source=by_source)
    said = ", ".join(edge.words for edge in same)
    tip = "\n".join(f"{edge.source.id}: {', '.join(edge.exits)} → {edge.target.id}" for edge in same if edge.target)
    spoke = Port(lane, to if by_source else at, is_source=not by_source, note=said, tip=tip)
    spoke.note = fitted(spoke.note, SMALL, LONGEST_NOTE)
    lane.spokes.append(spoke)


# ------------------------------------------------------------------------------- places


class Skyline:
    """How far things reach out beside each step of a column; grows as lanes are laid around them."""

    def __init__(self, reaches: list[float]) -> None:
        self._starts = list(range(len(reaches)))
        self._reaches = list(reaches)

    def lay(self, first: int, last: int, apart: float) -> float:
        """Lay a lane beside the steps from first to last, as near as what is there allows."""
        begin = bisect_right(self._starts, first) - 1
        end = bisect_right(self._starts, last)
        reach = max(self._reaches[begin:end]) + apart
        starts, reaches = [first], [reach]
        if self._starts[begin] < first:
            starts, reaches = [self._starts[begin], first], [self._reaches[begin], reach]
        after = self._starts[end] if end < len(self._starts) else None
        if after is None or after > last + 1:
            starts.append(last + 1)
            reaches.append(self._reaches[end - 1])
        self._starts[begin:end] = starts
        self._reaches[begin:end] = reaches
        return reach


def lay(lanes: list[Lane], reaches: list[float]) -> float:
    """Give every lane its distance, short ones inside; the result is how far the side reaches."""
    beside = _with_notes(lanes, reaches)
    skyline = Skyline(beside)
    for lane in sorted(lanes, key=lambda lane: (lane.span[1] - lane.span[0], lane.span)):
        lane.x = skyline.lay(*lane.span, BETWEEN)
    return max([*reaches, *(lane.x for lane in lanes)], default=0.0)


def _with_notes(lanes: list[Lane], reaches: list[float]) -> list[float]:
    beside = [reach + CLEAR - BETWEEN for reach in reaches]
    for lane in lanes:
        for spoke in lane.spokes:
            note = width_of(spoke.note, SMALL) + CLEAR
            beside[spoke.at] = max(beside[spoke.at], reaches[spoke.at] + note - BETWEEN + 4)
    return beside


def ports_by_step(lanes: list[Lane], *, right: bool) -> dict[int, list[Port]]:
    """The ports of each step from top to bottom, so that its lines cross as little as possible."""
    found: dict[int, list[Port]] = {}
    for lane in lanes:
        for port in lane.ports:
            found.setdefault(port.at, []).append(port)
    for ports in found.values():
        ports.sort(key=lambda port: _rank(port, right=right))
    return found


def _rank(port: Port, *, right: bool) -> tuple[bool, float]:
    loops = len({each.at for each in port.lane.ports}) < len(port.lane.ports) and _is_double(port)
    up = (port.is_source == right) != loops
    return (False, port.lane.x) if up else (True, -port.lane.x)


def _is_double(port: Port) -> bool:
    return sum(each.at == port.at for each in port.lane.ports) > 1

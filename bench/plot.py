"""The plot: how fast each engine is with each workload, and how the cost of a step grows, as one SVG.

It needs nothing else to be looked at, and is light or dark as its reader likes it. Engines differ in shape as well as
in colour, and whoever cannot see it has the same numbers in the tables.
"""

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from ratios import SPEED, name_of
from rounds import Found
from trial import Job

WIDTH, LEFT, RIGHT = 860, 250, 50
ROW, TOP, GAP, TALL, BOTTOM = 46, 96, 76, 260, 46
SHOWN = (("w1", 1_000), ("w2", 1_000), ("w3", 200), ("w4", 1_000), ("w7", 1_000), ("w8", 300))
GROWING = "w1"
SHAPES = {
    "perdure": "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z",
    "floor": "M-1.2,-7h2.4v14h-2.4z",
    "langgraph": "M-5,-5h10v10h-10z",
    "dbos": "M0,-6.5l6,11.5h-12z",
    "burr": "M0,-6.5l6.5,6.5l-6.5,6.5l-6.5,-6.5z",
    "agent-framework": "M0,6.5l6,-11.5h-12z",
}
NAMES = {
    "perdure": "Perdure",
    "floor": "bare loop",
    "langgraph": "LangGraph",
    "dbos": "DBOS",
    "burr": "Burr",
    "agent-framework": "Agent Framework (never waits for the disk)",
}
LIGHT = {
    "ground": "#fcfcfb", "text": "#1f2933", "soft": "#52606d", "grid": "#d8dee6",
    "perdure": "#2563c9", "floor": "#64748b", "langgraph": "#b7791f", "dbos": "#2f855a", "burr": "#c0392b",
    "agent-framework": "#8458a8",
}  # fmt: skip
DARK = {
    "ground": "#14181d", "text": "#e4e8ed", "soft": "#aab4c0", "grid": "#38424d",
    "perdure": "#6ea8ff", "floor": "#94a3b8", "langgraph": "#e0a84e", "dbos": "#5fbf8c", "burr": "#f08478",
    "agent-framework": "#c3a6de",
}  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """Numbers on a line, by their logarithm."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> "Scale":
        """One that has room for all of them, from a power of ten to another one."""
        found = [value for value in values if value > 0] or [1.0]
        low, high = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
        return cls(low, max(high, low + 1), start, end)

    def __call__(self, value: float) -> float:
        """Where a number is."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def marks(self) -> list[float]:
        """The powers of ten."""
        return [10.0**power for power in range(int(self.low), int(self.high) + 1)]


def plot(found: Found, peers: list[str]) -> str:
    """The whole picture."""
    rows = [
        (workload, n) for workload, n in SHOWN if any((each.workload, each.n) == (workload, n) for each in found.rows)
    ]
    below = TOP + ROW * len(rows)
    height = below + GAP + TALL + BOTTOM
    parts = [
        *_head(height),
        *_legend(peers),
        *_speeds(found, peers, rows),
        *_growth(found, peers, below + GAP),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(height: int) -> Iterator[str]:
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>'
    yield "<title>Steps a second, and the cost of a step as plans grow</title>"
    yield f"<style>{_style(LIGHT)} @media (prefers-color-scheme: dark) {{ {_style(DARK)} }}</style>"
    yield f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>'


def _style(colours: dict[str, str]) -> str:
    engines = " ".join(f".{name} {{ fill: {colours[name]}; stroke: {colours[name]}; }}" for name in SHAPES)
    return (
        f"text {{ font: 13px system-ui, sans-serif; fill: {colours['text']}; stroke: none; }}"
        f" .soft {{ fill: {colours['soft']}; font-size: 12px; }} .head {{ font-weight: 600; font-size: 14px; }}"
        f" .ground {{ fill: {colours['ground']}; }} .grid {{ stroke: {colours['grid']}; }}"
        f" .line {{ fill: none; stroke-width: 1.6; }} .range {{ stroke-width: 2; opacity: .45; }} {engines}"
    )


def _text(x: float, y: float, told: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(told)}</text>'


def _mark(peer: str, x: float, y: float, told: str) -> str:
    title = f"<title>{escape(told)}</title>"
    return f'<path class="{peer}" d="{SHAPES[peer]}" transform="translate({x},{y})">{title}</path>'


def _legend(peers: list[str]) -> Iterator[str]:
    x = 24
    for peer in peers:
        yield _mark(peer, x, 26, NAMES[peer])
        yield _text(x + 13, 30, NAMES[peer])
        x += 46 + 7 * len(NAMES[peer])


def _speeds(found: Found, peers: list[str], rows: list[tuple[str, int]]) -> Iterator[str]:
    yield _text(
        24, 66, "Steps a second: the median of all rounds, and how far apart they were (more is better)", "head"
    )
    shown = {
        (row, peer): values
        for row in rows
        for peer in peers
        if (values := max((found.values(each, SPEED) for each in found.rows if _is(each, *row, peer)), default=[]))
    }
    scale = Scale.around((value for values in shown.values() for value in values), LEFT, WIDTH - RIGHT)
    bottom = TOP + ROW * len(rows)
    for value in scale.marks:
        yield f'<path class="grid" d="M{scale(value)},{TOP - 8}V{bottom - 10}"/>'
        yield _text(scale(value), bottom + 8, f"{value:,.0f}", "soft", "middle")
    for place, row in enumerate(rows):
        y = TOP + ROW * place + ROW // 2 - 6
        yield _text(24, y + 4, name_of(*row))
        for peer in reversed(peers):
            if values := shown.get((row, peer)):
                yield f'<path class="range {peer}" d="M{scale(min(values))},{y}H{scale(max(values))}"/>'
                middle = statistics.median(values)
                yield _mark(peer, scale(middle), y, f"{NAMES[peer]}: {middle:,.0f} steps/s")


def _is(each: Job, workload: str, n: int, peer: str) -> bool:
    return (each.workload, each.n, each.peer) == (workload, n, peer)


def _growth(found: Found, peers: list[str], top: int) -> Iterator[str]:
    yield _text(
        24,
        top - 26,
        "Milliseconds for a step of a chain, by its length (less is better; level is linear growth)",
        "head",
    )
    lines = {peer: sorted(_costs(found, peer)) for peer in peers}
    points = [point for line in lines.values() for point in line]
    sizes = [math.log10(n) for n, _ in points] or [1.0]
    across = Scale(min(sizes), max(*sizes, min(sizes) + 0.1), 90, WIDTH - RIGHT)
    up = Scale.around((cost for _, cost in points), top + TALL, top)
    for value in up.marks:
        yield f'<path class="grid" d="M90,{up(value)}H{WIDTH - RIGHT}"/>'
        yield _text(80, up(value) + 4, f"{value:g}", "soft", "end")
    for n in sorted({n for n, _ in points}):
        yield _text(across(n), top + TALL + 22, f"{n:,}", "soft", "middle")
    for peer, line in reversed(lines.items()):
        path = "L".join(f"{across(n)},{up(cost)}" for n, cost in line)
        if path:
            yield f'<path class="{peer} line" style="fill: none" d="M{path}"/>'
        for n, cost in line:
            yield _mark(peer, across(n), up(cost), f"{NAMES[peer]}, {n:,} steps: {cost:.3g} ms")


def _costs(found: Found, peer: str) -> Iterator[tuple[int, float]]:
    for each in found.rows:
        if each.workload == GROWING and each.peer == peer and (cost := found.median(each, "us_per_step")):
            yield each.n, cost / 1000

"""What a bench has found: numbers, with the bars that they are held to. `make bench` gathers them from all benches."""

import json
import os
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TOLD_TO = "BENCH_FIGURES"
"""The variable that names the file in which `make bench` finds what a bench has told."""


@dataclass(frozen=True)
class Figure:
    """One number. A bar is what it has to be at most, or at least; one without is worth knowing."""

    name: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(
        cls,
        name: str,
        values: Sequence[float],
        unit: str = "",
        *,
        most: float | None = None,
        least: float | None = None,
    ) -> "Figure":
        """The median of what some rounds say, and how far apart they were."""
        return cls(name, statistics.median(values), unit, most, least, min(values), max(values))

    @property
    def holds(self) -> bool | None:
        """Whether its bar holds; None if it has none."""
        if self.most is None and self.least is None:
            return None
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    @property
    def bar(self) -> str:
        """What is wanted of it, in words."""
        if self.most is not None:
            return f"≤ {number(self.most)}"
        return "" if self.least is None else f"≥ {number(self.least)}"

    @property
    def spread(self) -> str:
        """From where to where the rounds went."""
        return "" if self.low is None or self.high is None else f"{number(self.low)}..{number(self.high)}"


def number(value: float) -> str:
    """A number with as many digits as say something."""
    if value == 0 or abs(value) >= 100:  # noqa: PLR2004  three digits before the point
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"  # noqa: PLR2004  three digits in all


def tell(figures: Iterable[Figure]) -> None:
    """Print them, and hand them to `make bench` if it asks."""
    found = list(figures)
    for each in found:
        verdict = "" if each.holds is None else f"   {each.bar}: {'holds' if each.holds else 'does not hold'}"
        spread = f" ({each.spread})" if each.spread else ""
        print(f"{each.name:64} {number(each.value):>9} {each.unit}{spread}{verdict}", flush=True)
    if where := os.environ.get(TOLD_TO):
        Path(where).write_text(json.dumps([asdict(each) for each in found]), encoding="utf-8")

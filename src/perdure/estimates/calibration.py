"""How good estimates were: runs that are over, held against what was known before each of them began."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from perdure.core.outline import Outline
from perdure.estimates.forecast import Forecast
from perdure.estimates.history import History
from perdure.estimates.parts import Layout

MOST: Final = 40
"""The newest runs are looked at."""
LEAST_BEFORE: Final = 3
"""Of a plan that was carried out less often before, nothing was known yet."""
RUNS: Final = 100


@dataclass(frozen=True, slots=True)
class Held:
    """A run, and what its estimate was as it began. In seconds with somebody at work."""

    plan: str
    took: float
    p50: float
    p90: float

    @property
    def is_within(self) -> bool:
        """Whether it took no longer than nine of ten simulated runs."""
        return self.took <= self.p90

    @property
    def off(self) -> float:
        """How far the middle was from the truth, as a share of it."""
        return abs(self.p50 - self.took) / self.took if self.took else 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How good some estimates were."""

    runs: int
    within_p90: float | None
    """The share of runs within their p90; 0.9 would be exact. None: there were no runs."""
    p50_off: float | None
    """How far p50 was off, in the middle."""
    seconds_off: float | None
    """The same in seconds."""


def held_against(history: History, outline: Callable[[str], Outline]) -> Iterator[Held]:
    """The newest runs that succeeded, each held against an estimate from the runs that were over as it began."""
    succeeded = [past for past in history.pasts if past.status == "succeeded"]
    for past in succeeded[:MOST]:
        before = history.before(past.at)
        if len(before.runs_of(past.plan)) >= LEAST_BEFORE:
            found = Forecast(Layout(outline(past.digest), before), runs=RUNS).worked
            yield Held(past.plan, past.worked / 1_000, found.p50, found.p90)


def calibration_of(held: list[Held]) -> Calibration:
    """All of them together."""
    if not held:
        return Calibration(0, None, None, None)
    return Calibration(
        len(held),
        fmean(each.is_within for each in held),
        median(each.off for each in held),
        median(abs(each.p50 - each.took) for each in held),
    )

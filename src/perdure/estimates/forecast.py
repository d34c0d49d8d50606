"""A forecast: what a plan will take, as so many simulated runs tell it, and what that rests on."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from statistics import fmean, pstdev
from typing import Final

from perdure.estimates.course import Course
from perdure.estimates.parts import SECOND, Layout
from perdure.estimates.past import Past, step_key
from perdure.estimates.sources import BELIEF, Drawn, again
from perdure.estimates.standing import Taken

MOST_RUNS: Final = 400
LEAST_RUNS: Final = 40
MOST_STEPS: Final = 160_000
"""Steps that are simulated, of all runs together."""
LARGEST: Final = 5
"""A plan that is so large gets fewer runs than are wanted at least, so many times as many steps in all."""
LEAST_GOOD: Final = 20
"""So many runs have to succeed, or those that failed count too."""
COMMON_WIDTH: Final = 0.25
"""How far off a run as a whole is, as a power of e, where no earlier run of the plan tells."""
SMOOTHING: Final = 0.9
"""How far a run may be from the earlier one that it is like, as a share of what those differ by."""


@dataclass(frozen=True, slots=True)
class Range:
    """A quantity that is not known: half of all runs are below `p50`, nine of ten below `p90`."""

    p50: float
    p90: float
    mean: float


def range_of(values: Iterable[float]) -> Range:
    """What so many runs took."""
    found = sorted(values)
    return Range(quantile(found, 0.5), quantile(found, 0.9), fmean(found)) if found else Range(0.0, 0.0, 0.0)


def quantile(found: Sequence[float], share: float) -> float:
    """What a share of some sorted values is below: of few values it is rather too much than too little."""
    place = share * (len(found) + 1) - 1
    low = min(max(math.floor(place), 0), len(found) - 1)
    high = min(low + 1, len(found) - 1)
    return found[low] + (found[high] - found[low]) * min(max(place - low, 0.0), 1.0)


class Forecast:
    """What simulated runs of a plan took."""

    def __init__(self, layout: Layout, seed: int = 0, runs: int = MOST_RUNS, spread: float = 1.0) -> None:
        self.layout = layout
        self.likeness = Likeness(layout)
        self.spread = spread
        self.taken = simulated(lambda n: self.course(seed, n).run(), runs)

    def course(self, seed: int, n: int, extra: str = "") -> Course:
        """The n-th simulated run: the same draws, whatever there is more of."""
        chance = Random(f"{seed} {n}")  # noqa: S311  a simulation, no secret
        course = Course(self.layout, chance, self.spread, extra)
        course.donated, course.factor = self.likeness.draw(chance, self.spread)
        return course

    @cached_property
    def good(self) -> list[Taken]:
        """The runs that count: those that succeed, if enough of them do."""
        found = [each for each in self.taken if each.exit == "success"]
        return found if len(found) >= min(LEAST_GOOD, len(self.taken)) else self.taken

    def of(self, what: Callable[[Taken], float]) -> Range:
        """How much of something a run takes."""
        return range_of(map(what, self.good))

    @property
    def succeeds(self) -> float:
        """How many of the runs succeed, as a share."""
        return sum(each.exit == "success" for each in self.taken) / len(self.taken)

    @property
    def worked(self) -> Range:
        """Seconds in which somebody is at work."""
        return self.of(lambda each: each.worked / SECOND)

    @property
    def took(self) -> Range:
        """Seconds from the beginning to the end, with people and the outside that are waited for."""
        return self.of(lambda each: each.took / SECOND)

    @property
    def basis(self) -> Counter[str]:
        """How many of the steps that act rest on what."""
        return Counter(part.ways[0][1].basis for part in self.layout.drawers if part.kind == "work")

    @property
    def guessed(self) -> list[str]:
        """The steps of which nobody has seen or declared anything."""
        found = (part for part in self.layout.drawers if part.kind == "work")
        return [part.id for part in found if part.ways[0][1].basis == "guess"]

    @property
    def open_ended(self) -> list[str]:
        """Maps of which nobody knows how many items they will have."""
        return [part.id for part in self.layout.parts.values() if part.is_open]

    @property
    def unpriced(self) -> bool:
        """Whether models are asked whose price nobody knows."""
        return any(each.unpriced for each in self.good)


def simulated(run: Callable[[int], Taken], most: int, steps_in_all: int = MOST_STEPS) -> list[Taken]:
    """As many runs as are wanted, or as can be had in bounded time."""
    taken, steps = list[Taken](), 0
    least = LEAST_RUNS * steps_in_all // MOST_STEPS
    while len(taken) < most and (steps < steps_in_all or (len(taken) < least and steps < LARGEST * steps_in_all)):
        taken.append(run(len(taken)))
        steps += taken[-1].steps
    return taken


class Likeness:
    """Lets a simulated run be like an earlier one of the plan: what hangs together in that one does so in this one."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.runs = layout.history.runs_of(layout.identity)
        self._told: dict[str, dict[str, list[Drawn]]] = {}
        few = len(self.runs)
        self._weight = few / (few + BELIEF)
        self._width = SMOOTHING * _differ(self.runs) * max(few, 1) ** -0.2

    def draw(self, chance: Random, spread: float) -> tuple[dict[str, list[Drawn]], float]:
        """What steps took in the earlier run that this one is like, and how much longer all takes than there."""
        lot, other, normal = chance.random(), chance.random(), chance.gauss(0, 1)
        if not spread or lot >= self._weight:
            return {}, math.exp(COMMON_WIDTH * spread * normal)
        past = self.runs[int(other * len(self.runs))]
        return {id_: list(drawn) for id_, drawn in self._of(past).items()}, math.exp(self._width * spread * normal)

    def _of(self, past: Past) -> dict[str, list[Drawn]]:
        found = self._told.get(past.run)
        if found is None:
            identity = self._layout.identity
            keys = {part.id: step_key(identity, part.id) for part in self._layout.drawers}
            found = {id_: [again(each) for each in reversed(past.samples.get(key, ()))] for id_, key in keys.items()}
            self._told[past.run] = found
        return found


def _differ(runs: Sequence[Past]) -> float:
    """How much earlier runs of a plan differ, as a power of e."""
    if len(runs) < 2:  # noqa: PLR2004  one alone does not tell
        return COMMON_WIDTH
    return pstdev([math.log(max(each.worked, 1)) for each in runs]) + COMMON_WIDTH / len(runs)

"""Counts: numbers by name and labels, which can be added up. No label names a run, and none has many values."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

Labels = tuple[str, ...]
OTHER: Final = "other"
"""Stands for all names beyond those that there is room for."""
MOST_NAMES: Final = 200
"""So many different names of tools, models and agents are told apart, for each label."""


class Histogram(msgspec.Struct):
    """How many were how large."""

    bounds: tuple[float, ...]
    buckets: list[int] = []
    """How many were at most as large as each bound and larger than the one before; the last ones beyond all bounds."""
    total: float = 0.0

    def __post_init__(self) -> None:
        if not self.buckets:
            self.buckets = [0] * (len(self.bounds) + 1)

    def observe(self, amount: float) -> None:
        """One more."""
        self.buckets[bisect_left(self.bounds, amount)] += 1
        self.total += amount

    def add(self, other: "Histogram") -> None:
        """All those of another one."""
        self.buckets = [mine + more for mine, more in zip(self.buckets, other.buckets, strict=True)]
        self.total += other.total

    @property
    def count(self) -> int:
        """How many."""
        return sum(self.buckets)

    def quantile(self, share: float) -> float | None:
        """About how large the smallest is that so many are not larger than; None if there are none."""
        wanted, seen, below = share * self.count, 0, 0.0
        for bound, many in zip((*self.bounds, self.bounds[-1]), self.buckets, strict=True):
            if many and seen + many >= wanted:
                return below + (bound - below) * max(0.0, wanted - seen) / many
            seen, below = seen + many, bound
        return None


class Metric(msgspec.Struct, frozen=True):
    """Something that is counted."""

    name: str
    """As Prometheus shows it, without `perdure_` and what its kind adds."""
    meaning: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    """Of a histogram; empty: it is a counter."""


class Counts:
    """Numbers by metric and labels."""

    def __init__(self) -> None:
        self.numbers: Final = dict[tuple[str, Labels], float]()
        self.histograms: Final = dict[tuple[str, Labels], Histogram]()
        self._known: Final = dict[tuple[str, str], set[str]]()

    def count(self, metric: Metric, labels: Iterable[str] = (), amount: float = 1) -> None:
        """So many more of something, or one that is so large."""
        key = (metric.name, self._bounded(metric, labels))
        if not metric.bounds:
            self.numbers[key] = self.numbers.get(key, 0) + amount
            return
        found = self.histograms.get(key)
        if found is None:
            found = self.histograms[key] = Histogram(metric.bounds)
        found.observe(amount)

    def _bounded(self, metric: Metric, labels: Iterable[str]) -> Labels:
        return tuple(self._known_as(metric.name, *each) for each in zip(metric.labels, labels, strict=True))

    def _known_as(self, metric: str, label: str, value: str) -> str:
        known = self._known.setdefault((metric, label), set())
        if value in known:
            return value
        if len(known) >= MOST_NAMES:
            return OTHER
        known.add(value)
        return value

    # ------------------------------------------------------------ as data

    def of(self, metric: Metric) -> Iterator[tuple[dict[str, str], float]]:
        """What a counter has counted, by labels."""
        for (name, labels), amount in self.numbers.items():
            if name == metric.name:
                yield dict(zip(metric.labels, labels, strict=True)), amount

    def sizes(self, metric: Metric) -> Iterator[tuple[dict[str, str], Histogram]]:
        """What a histogram has seen, by labels."""
        for (name, labels), histogram in self.histograms.items():
            if name == metric.name:
                yield dict(zip(metric.labels, labels, strict=True)), histogram

    def total(self, metric: Metric, **where: str) -> float:
        """All of a counter where its labels are so."""
        return sum(amount for labels, amount in self.of(metric) if where.items() <= labels.items())

    def whole(self, metric: Metric, **where: str) -> Histogram:
        """All of a histogram where its labels are so."""
        found = Histogram(metric.bounds)
        for labels, histogram in self.sizes(metric):
            if where.items() <= labels.items():
                found.add(histogram)
        return found

    def data(self) -> dict[str, Any]:
        """As JSON, to go on with later."""
        return {
            "numbers": [[name, *labels, amount] for (name, labels), amount in self.numbers.items()],
            "histograms": [
                [name, *labels, each.buckets, each.total] for (name, labels), each in self.histograms.items()
            ],
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any], metrics: Mapping[str, Metric]) -> "Counts":
        """What was counted before. What a release does not count any more, or counts otherwise, is left out."""
        counts = cls()
        for name, *labels, amount in data["numbers"]:
            if name in metrics and len(labels) == len(metrics[name].labels) and not metrics[name].bounds:
                counts.numbers[name, counts._bounded(metrics[name], labels)] = amount
        for name, *labels, buckets, total in data["histograms"]:
            metric = metrics.get(name)
            if metric and len(labels) == len(metric.labels) and len(buckets) == len(metric.bounds) + 1:
                found = Histogram(metric.bounds, buckets, total)
                counts.histograms[name, counts._bounded(metric, labels)] = found
        return counts

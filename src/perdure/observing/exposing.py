"""Metrics for Prometheus: what is counted from facts, how it stands now, and how quick the disk is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from perdure.observing.counts import Counts, Metric
from perdure.observing.counts import Histogram as Sizes
from perdure.observing.live import COMMITS, COUNTED, LIVE, OPEN_RUNS, PREFIX, WAITING
from perdure.observing.metrics import METRICS

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands now."""

    counts: Counts | None
    """None: not all that happened before is counted yet, and a smaller number would be taken for a new beginning."""
    runs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Runs that are not over, by status."""
    waiting: int = 0
    """Questions that wait for people."""


class Exposition(Collector):
    """One registry of our own; what other libraries of the process register is theirs."""

    def __init__(self) -> None:
        self._standing = Standing(None)
        self._registry: Final = CollectorRegistry()
        self._registry.register(self)
        self._commits: Final = Histogram(
            f"{PREFIX}{COMMITS.name}", COMMITS.meaning, registry=self._registry, buckets=COMMITS.bounds
        )

    def committed(self, seconds: float) -> None:
        """A commit of the journal took so long. It may be told from any thread."""
        self._commits.observe(seconds)

    def text(self, standing: Standing) -> bytes:
        """All of it, as Prometheus reads it."""
        self._standing = standing
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Family]:
        """What is told besides commits."""
        standing = self._standing
        yield _gauge(OPEN_RUNS, standing.runs)
        yield _gauge(WAITING, {"": standing.waiting})
        yield _gauge(COUNTED, {"": int(standing.counts is not None)})
        for metric in METRICS.values() if standing.counts is not None else ():
            yield _sizes(metric, standing.counts) if metric.bounds else _numbers(metric, standing.counts)


def _gauge(metric: Metric, values: Mapping[str, float]) -> Family:
    family = GaugeMetricFamily(f"{PREFIX}{metric.name}", metric.meaning, labels=metric.labels)
    for label, value in values.items():
        family.add_metric([label] if metric.labels else [], value)
    return family


def _numbers(metric: Metric, counts: Counts | None) -> Family:
    family = CounterMetricFamily(f"{PREFIX}{metric.name}", metric.meaning, labels=metric.labels)
    for labels, amount in counts.of(metric) if counts else ():
        family.add_metric(list(labels.values()), amount)
    return family


def _sizes(metric: Metric, counts: Counts | None) -> Family:
    family = HistogramMetricFamily(f"{PREFIX}{metric.name}", metric.meaning, labels=metric.labels)
    for labels, sizes in counts.sizes(metric) if counts else ():
        family.add_metric(list(labels.values()), _buckets(sizes), sizes.total)
    return family


def _buckets(sizes: Sizes) -> list[tuple[str, float]]:
    """Each with all that are smaller, as Prometheus has them."""
    seen, found = 0, list[tuple[str, float]]()
    for bound, many in zip((*map(str, sizes.bounds), "+Inf"), sizes.buckets, strict=True):
        seen += many
        found.append((bound, seen))
    return found


def names() -> frozenset[str]:
    """The names of all series that can be told."""
    return frozenset(name for metric in (*METRICS.values(), *LIVE) for name in series_of(metric))


def series_of(metric: Metric) -> Iterable[str]:
    """The names of the series of one metric."""
    name = f"{PREFIX}{metric.name}"
    if metric.bounds:
        return (f"{name}_bucket", f"{name}_count", f"{name}_sum")
    return (name,) if metric in LIVE else (f"{name}_total",)

"""X9: numbers by name and labels."""

import random

from perdure.observing.counts import MOST_NAMES, OTHER, Counts, Histogram, Metric
from perdure.observing.metrics import METRICS, STARTED

TRIES = Metric("tries", "Tries.", ("tool",))
SIZES = Metric("sizes", "Sizes.", (), (1.0, 10.0, 100.0))


def test_x9_names_beyond_a_bound_become_other():
    counts = Counts()
    for number in range(3 * MOST_NAMES):
        counts.count(TRIES, (f"t.{number}",))
    found = {labels["tool"]: many for labels, many in counts.of(TRIES)}
    assert len(found) == MOST_NAMES + 1
    assert found[OTHER] == 2 * MOST_NAMES
    assert counts.total(TRIES) == 3 * MOST_NAMES


def test_what_was_counted_can_be_kept_and_gone_on_with():
    counts = Counts()
    counts.count(STARTED, ("tools",))
    counts.count(METRICS["run_duration_seconds"], ("failed",), 3.0)
    kept = Counts.of_data(counts.data(), METRICS)
    assert kept.data() == counts.data()
    kept.count(STARTED, ("tools",))
    assert kept.total(STARTED) == 2
    assert counts.total(STARTED) == 1


def test_what_a_release_does_not_count_is_left_out():
    kept = {
        "numbers": [["gone", "x", 3], ["runs_started", "a", "b", 1], ["runs_started", "tools", 2]],
        "histograms": [["run_duration_seconds", "failed", [1, 2], 3.0], ["gone", [1], 1.0]],
    }
    counts = Counts.of_data(kept, METRICS)
    assert counts.data() == {"numbers": [["runs_started", "tools", 2]], "histograms": []}


def test_quantiles_are_about_right():
    draw, histogram = random.Random(1), Histogram(tuple(float(each) for each in range(1, 101)))
    sizes = sorted(draw.uniform(0, 100) for _ in range(1_000))
    for size in sizes:
        histogram.observe(size)
    for share in (0.1, 0.5, 0.9, 0.99):
        assert abs(histogram.quantile(share) - sizes[int(share * 1_000) - 1]) < 2
    assert Histogram((1.0,)).quantile(0.5) is None
    beyond = Histogram((1.0,))
    beyond.observe(9.0)
    assert beyond.quantile(0.5) == 1.0, "more is not known of it"


def test_sizes_of_all_labels_together():
    counts = Counts()
    for size in (0.5, 5.0, 50.0, 500.0):
        counts.count(SIZES, (), size)
    whole = counts.whole(SIZES)
    assert (whole.count, whole.total, whole.buckets) == (4, 555.5, [1, 1, 1, 1])


def test_x9_no_label_could_name_a_run():
    labels = {label for metric in METRICS.values() for label in metric.labels}
    assert labels.isdisjoint({"run", "run_id", "step", "step_id", "question", "session"})

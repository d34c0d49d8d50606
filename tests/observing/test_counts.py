"""X9: numbers by name and labels."""

import random

from perdure.observing.counts import MOST_NAMES, OTHER, Counts, Histogram, Metric

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

"""A7: a forecast moves from what is declared to what was seen, says what it rests on, and keeps its promise."""

import random
import time
from statistics import fmean

import pytest

from perdure import Plan
from perdure.estimates.forecast import Forecast, quantile, range_of
from perdure.estimates.history import History
from perdure.estimates.parts import Layout
from perdure.estimates.past import Past, Sample, step_key
from perdure.estimates.sources import Means

PLAN = Plan.model_validate(
    {
        "name": "p",
        "budget": {"seconds": 30},
        "steps": [
            {"id": "a", "tool": "x.y", "estimate": {"seconds": 10}},
            {"id": "b", "tool": "x.z", "estimate": {"seconds": 10}},
        ],
    }
)


def past(number, seconds, plan="p", **more):
    """A run in which both steps took so long."""
    samples = {step_key(plan, id_): [Sample(round(each * 1000))] for id_, each in zip("ab", seconds, strict=False)}
    worked = round(sum(seconds) * 1000)
    return Past(f"r{number}", plan, status="succeeded", worked=worked, samples=samples, **more)


def forecast(history=None, plan=PLAN, **more):
    return Forecast(Layout(plan, history or History(), **more))


def test_a7_what_is_declared_counts_until_runs_tell_more():
    assert forecast().worked.p50 == pytest.approx(20, rel=0.2)
    after = [forecast(History([past(n, (1, 2)) for n in range(count)])).worked.p50 for count in (1, 3, 20)]
    assert after == sorted(after, reverse=True)
    assert after[-1] == pytest.approx(3, rel=0.15)


def test_a7_it_says_when_it_is_a_guess():
    bare = Plan.model_validate(
        {"steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.z", "estimate": {"seconds": 1}}]}
    )
    found = forecast(plan=bare)
    assert (found.guessed, dict(found.basis)) == (["a"], {"guess": 1, "declared": 1})
    seen = forecast(History([past(n, (1, 1)) for n in range(5)]))
    assert (seen.guessed, dict(seen.basis), len(seen.likeness.runs)) == ([], {"history": 2}, 5)


def test_a7_the_same_forecast_comes_out_each_time():
    history = History([past(n, (n + 1, 2)) for n in range(5)])
    assert forecast(history).worked == forecast(history).worked


def test_a7_what_hangs_together_in_earlier_runs_does_so_in_simulated_ones():
    rng = random.Random(5)
    factors = [rng.choice([1, 10]) for _ in range(40)]
    together = History([past(n, (each, each)) for n, each in enumerate(factors)])
    apart = [past(n, (each, rng.choice([1, 10]))) for n, each in enumerate(factors)]
    half_way = [
        fmean(8 < each.worked / 1_000_000 < 14 for each in forecast(History(pasts)).good)
        for pasts in (together.pasts, apart)
    ]
    assert half_way[0] < 0.15
    assert half_way[1] > 0.3, "1 and 10 seconds in one run are rare where they never came together"


def test_a7_the_p90_of_a_plan_that_was_seen_twenty_times_covers_nine_of_ten():
    rng, covered = random.Random(1), []
    for world in range(60):

        def run(number, mean=world % 4):
            return past(number, [rng.lognormvariate(mean, 0.6), rng.lognormvariate(1, 0.3)])

        p90 = Forecast(Layout(PLAN, History([run(n) for n in range(20)])), runs=200).worked.p90
        covered += [run(n).worked / 1000 <= p90 for n in range(20)]
    assert 0.85 <= fmean(covered) <= 0.95


def test_a7_a_plan_of_two_thousand_steps_is_simulated_in_bounded_time():
    rng = random.Random(3)
    steps = [
        {
            "id": f"s{n}",
            "tool": f"x.t{n % 7}",
            "needs": [f"s{m}" for m in range(max(0, n - 20), n) if rng.random() < 0.1],
            "estimate": {"seconds": rng.randint(1, 20)},
        }
        for n in range(2_000)
    ]
    plan = Plan.model_validate({"mode": "graph", "limit": 16, "steps": steps})
    began = time.process_time()
    found = forecast(plan=plan)
    assert time.process_time() - began < 20, "two seconds on an idle machine"
    assert found.succeeds == 1
    assert 40 <= len(found.taken) < 400


def test_tokens_and_money_come_from_history_else_from_declarations_and_prices():
    plan = Plan.model_validate({"name": "m", "steps": [{"id": "a", "model": "weak", "prompt": "?"}]})
    priced = forecast(
        plan=plan, means=Means(price=lambda _model, tokens_in, tokens_out: (tokens_in + tokens_out) / 1000)
    )
    assert (priced.of(lambda each: each.tokens).p50, priced.of(lambda each: each.usd).p50, priced.unpriced) == (
        1500,
        1.5,
        False,
    )
    assert forecast(plan=plan).unpriced
    seen = [
        Past(f"r{n}", "m", status="succeeded", samples={step_key("m", "a"): [Sample(1, tokens=90, usd=0.25, calls=1)]})
        for n in range(30)
    ]
    assert forecast(History(seen), plan=plan).of(lambda each: each.usd).p50 == 0.25


def test_runs_that_fail_are_told_apart():
    bad = Past("r", "p", samples={step_key("p", "b"): [Sample(1000, "failure", "logic")] * 50 + [Sample(1000)] * 50})
    found = forecast(History([bad]))
    assert 0.4 < found.succeeds < 0.6
    assert {each.exit for each in found.good} == {"success"}


def test_quantiles_of_few_values_are_rather_too_much():
    assert [quantile([1, 2, 3], share) for share in (0.01, 0.5, 0.9)] == [1, 2, 3]
    assert quantile(list(range(1, 20)), 0.9) == 18
    assert range_of([]).p90 == 0


def test_spread_is_none_where_it_is_not_wanted():
    found = Forecast(Layout(PLAN, History()), spread=0.0)
    assert {each.worked for each in found.taken} == {20_000_000}

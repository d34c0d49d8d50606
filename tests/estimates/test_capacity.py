"""A7: what limits a plan, what one more of it gives, whether the budget suffices."""

import pytest

from perdure import Plan
from perdure.estimates.capacity import advice, allowances, gains
from perdure.estimates.forecast import Forecast
from perdure.estimates.history import History
from perdure.estimates.parts import Layout
from perdure.estimates.sources import Means


def step(id_, seconds=10, **more):
    return {"id": id_, "tool": "x.y", "estimate": {"seconds": seconds}, **more}


def forecast(plan, means=None):
    return Forecast(Layout(Plan.model_validate(plan), History(), means), runs=60)


def told(plan, means=None):
    """What is waited for, what is said about it."""
    found = forecast(plan, means)
    waited = gains(found)
    return {each.of: each for each in waited}, list(advice(found, waited))


def test_a7_a_limit_that_steps_wait_for_is_told_with_what_a_higher_one_saves():
    waited, said = told({"steps": [{"id": "g", "limit": 1, "parallel": [step("a"), step("b"), step("c")]}]})
    assert list(waited) == ["limit g", "everything"]
    assert waited["limit g"].saves == pytest.approx(11, abs=4)
    assert waited["everything"].saves > waited["limit g"].saves
    assert said[0].startswith("a higher `limit` in g, by one, would save about")


@pytest.mark.parametrize(
    ("more", "means", "of", "words"),
    [
        ({"locks": ["door"]}, None, "lock door", "a second holder of the lock door"),
        ({}, Means(limits={"x.y": 1}), "tool x.y", "one more call of x.y at a time"),
        ({}, Means(slots=1), "slots", "one more place for an attempt in the engine"),
    ],
)
def test_a7_locks_tools_and_places_too(more, means, of, words):
    waited, said = told({"mode": "graph", "steps": [step("a", **more), step("b", **more)]}, means)
    assert waited[of].saves > 5
    assert said[0].startswith(f"{words} would save")


def test_a7_where_nobody_waits_only_shorter_steps_help():
    waited, said = told({"steps": [step("a", 90), step("b", 10)]})
    assert waited == {}
    assert said == [said[0]]
    assert "no more places would make it faster; most of the work is a (" in said[0]


def test_a7_a_budget_that_does_not_suffice_is_told_with_what_to_reserve():
    plan = {"budget": {"seconds": 15, "steps": 2, "tokens": 5}, "steps": [step("a"), step("b")]}
    found = {each.of: each for each in allowances(forecast(plan))}
    assert not found["seconds"].suffices
    assert found["seconds"].p90 > 15
    assert 0.5 < found["seconds"].beyond <= 1
    assert (found["steps"].suffices, found["steps"].p90, found["tokens"].p90) == (True, 2, 0)
    assert any(each.startswith("the budget of seconds is too small for") for each in told(plan)[1])


def test_what_nobody_knows_anything_about_is_named():
    _, said = told({"steps": [{"id": id_, "tool": "x.y"} for id_ in "abcd"]})
    assert said[-1].endswith("for what nobody knows anything about: a, b, c, …")

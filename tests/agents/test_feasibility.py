"""A1: what a plan lacks is found before its first step, all at once, each with a code, a place and what to do."""

import pytest
from errand_tools import SHOP
from hypothesis import given
from hypothesis import strategies as st
from random_plans import a_plan

from perdure import Plan, tool
from perdure.agents.cheapest import WORDS, cheapest
from perdure.agents.feasibility import Means, infeasible
from perdure.plan.index import Index
from perdure.plan.measures import measure
from perdure.plan.problems import written
from perdure.tools import BUILTIN

KNOWN = {each.name: each for each in (*BUILTIN, *SHOP.values())}


def priced(id_, usd=1, **more):
    return {"id": id_, "tool": "flow.echo", "with": {"value": 1}, "estimate": {"usd": usd}, **more}


def cost(*steps, word="usd", **plan):
    index = Index(Plan.model_validate({"steps": list(steps), **plan}))
    return cheapest(index, KNOWN, word)[index.root]


def test_a1_everything_that_is_missing_is_told_at_once_with_its_place():
    plan = Plan.model_validate(
        {
            "inputs": {"who": {"type": "string"}, "how": {"type": "string", "default": "well"}},
            "budget": {"usd": 1},
            "steps": [
                {"id": "find", "tool": "customers.fnd", "with": {"name": "${inputs.who}"}},
                {"id": "send", "tool": "mail.send", "with": {"to": "a", "text": "b", "api_key": "${secrets.KEY}"}},
                {"id": "judge", "agent": "critic", "skills": ["reviewing"], "estimate": {"usd": 2}},
            ],
        }
    )
    found = infeasible(plan, Means(KNOWN, secrets=("OTHER",)))
    assert [(problem.code, written(problem.path), problem.severity) for problem in found] == [
        ("PRD1401", "steps[0].tool", "error"),
        ("PRD4212", "inputs.who", "error"),
        ("PRD4211", "steps[2].skills[0]", "error"),
        ("PRD4213", "steps[1].with.api_key", "error"),
        ("PRD4214", "budget.usd", "error"),
    ]
    assert all(problem.help for problem in found)


def test_a1_with_all_that_it_needs_nothing_stands_in_the_way():
    plan = Plan.model_validate(
        {
            "inputs": {"city": {"type": "string"}},
            "budget": {"usd": 1, "steps": 1},
            "steps": [{"id": "look", "tool": "meteo.now", "with": {"city": "${inputs.city}"}, "skills": ["weather"]}],
        }
    )
    assert infeasible(plan, Means(KNOWN, inputs={"city": "Berlin"}, secrets=())) == []


def test_what_is_not_known_is_not_looked_at():
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "flow.echo", "with": {"value": "${secrets.KEY}"}}]})
    assert infeasible(plan, Means(KNOWN)) == []


def test_a_tool_that_nothing_could_stand_in_for_is_a_warning():
    plan = Plan.model_validate(
        {"steps": [{"id": "a", "tool": "timer.set", "with": {"minutes": 1}, "skills": ["waiting"]}]}
    )
    (found,) = infeasible(plan, Means(KNOWN))
    assert (found.code, found.severity) == ("PRD4211", "warning")


@pytest.mark.parametrize(
    ("steps", "usd"),
    [
        ([priced("a"), priced("b")], 2),
        ([priced("a"), priced("b", when="1 == 2")], 1),
        ([priced("a", on={"failure": "c"}), priced("b", 5), {"id": "c", "done": True}], 1),
        ([priced("a", on={"success": "done"}), priced("b", 5)], 1),
        ([priced("a"), {"id": "b", "fail": "no"}], 0),
        (
            [
                {"id": "d", "decide": "'x'", "choices": ["x", "y"]},
                priced("x", 7, on={"success": "done"}),
                priced("y", 3),
            ],
            3,
        ),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2)]}], 3),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2)], "join": "any"}], 1),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2), priced("c", 4)], "join": {"quorum": 2}}], 3),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2)], "join": {"tolerate": 1}}], 1),
        ([{"id": "m", "map": [1, 2, 3], "steps": [priced("a")]}], 3),
        ([{"id": "m", "map": "${inputs.x}", "steps": [priced("a")]}], 0),
        ([{"id": "g", "estimate": {"usd": 9}, "steps": [priced("a")]}], 9),
    ],
)
def test_a1_the_cheapest_way_is_found(steps, usd):
    assert cost(*steps, inputs={"x": {"type": "array"}}) == usd


def test_a_step_whose_needs_may_all_be_skipped_is_free_wherever_they_stand():
    steps = [priced("c", needs=["b"]), priced("b", needs=["a"]), priced("a", when="1 == 2"), priced("d", needs=[])]
    assert cost(*steps, mode="graph") == 1


def test_steps_beside_each_other_take_the_time_of_the_longest():
    slow = [{**priced(id_), "estimate": {"seconds": seconds}} for id_, seconds in (("a", 3), ("b", 5))]
    assert cost({"id": "p", "parallel": slow}, word="seconds") == 5


def test_what_a_tool_declares_counts_where_the_step_says_nothing():
    @tool(name="dear.call", estimate={"usd": 4})
    def dear() -> None:
        """Cost something."""

    plan = Plan.model_validate({"budget": {"usd": 3}, "steps": [{"id": "a", "tool": "dear.call"}]})
    (found,) = infeasible(plan, Means({dear.name: dear}))
    assert found.message == "a budget of 3 usd does not suffice: the cheapest way takes 4"


def _estimated(raw):
    """Every step says that it costs one; how many there are is counted otherwise."""
    if isinstance(raw, dict):
        priced_ = {"estimate": {"usd": 1}} if "id" in raw and {"tool", "model", "agent"} & set(raw) else {}
        return {**{key: _estimated(value) for key, value in raw.items()}, **priced_}
    return [_estimated(each) for each in raw] if isinstance(raw, list) else raw


@given(st.randoms(use_true_random=False))
def test_the_cheapest_way_never_costs_more_than_all_steps_together(rng):
    plan = a_plan(rng, change=_estimated)
    index, whole = Index(plan), measure(plan)
    for word in WORDS:
        found = cheapest(index, {}, word)[index.root]
        most = whole.acting if word == "steps" else getattr(whole, word) or 0
        assert found >= 0
        assert found <= most or any(node.step.kind == "map" for node in index.nodes)  # its items count one by one

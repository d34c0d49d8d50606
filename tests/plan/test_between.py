"""E12: the edits between two plans make the second one of the first."""

import random
from types import SimpleNamespace

import pytest
from random_edits import some_edit
from random_plans import a_plan

from perdure.plan import Plan
from perdure.plan.between import edits_between
from perdure.plan.edits import EditError, as_data, read_edits, revise
from perdure.plan.index import Index


def changed(plan, rng):
    for number in range(6):
        index = Index(plan)
        try:
            plan = revise(plan, [some_edit(SimpleNamespace(revision=number), index, sorted(index.by_id), 0, rng)])
        except EditError:
            continue
    return plan


@pytest.mark.parametrize("seed", range(60))
def test_there_and_back(seed):
    rng = random.Random(seed)
    before = a_plan(rng)
    after = changed(before, rng)
    for one, other in ((before, after), (after, before), (before, before)):
        edits = read_edits([as_data(edit) for edit in edits_between(one, other)])
        assert revise(one, edits).canonical() == other.canonical()


def test_edits_are_small():
    steps = [{"id": name, "tool": "x.y"} for name in "abc"]
    before = Plan.model_validate({"steps": steps})
    after = Plan.model_validate(
        {"goal": "g", "steps": [steps[1], {**steps[0], "title": "t"}, {**steps[2], "priority": 1}]}
    )
    assert [as_data(edit) for edit in edits_between(before, after)] == [
        {"remove": "b"},
        {"amend": "", "fields": {"goal": "g"}},
        {"insert": {"id": "b", "kind": "tool", "tool": "x.y"}, "before": "a"},
        {"amend": "a", "fields": {"title": "t"}},
        {"amend": "c", "fields": {"priority": 1}},
    ]
    inner = Plan.model_validate({"steps": [{"id": "p", "plan": {"goal": "x", "steps": steps}}]})
    other = Plan.model_validate({"steps": [{"id": "p", "plan": {"goal": "y", "steps": steps}}]})
    assert [next(iter(as_data(edit))) for edit in edits_between(inner, other)] == ["replace"]

"""E7: the layers of rules that hold for a step, from the outside in."""

from driven import tool

from perdure.core.allowing import branches_around, layers_around
from perdure.core.policy import Layer
from perdure.testing.worlds import HANGS, World


def names_at(plan, key, outermost=(), **more):
    """Who has a say about a step that is at work."""
    world = World(plan, lambda _: HANGS, **more).run()
    return [layer.name for layer in layers_around(world.state.cells[key], outermost)]


NO = {"policy": {"network": []}}


def test_without_rules_nobody_has_a_say():
    assert names_at({"steps": [tool("a")]}, "a") == []
    assert names_at({"steps": [tool("a")]}, "a", (Layer("user"),)) == ["user"]


def test_the_user_the_plan_the_groups_and_the_step_in_this_order():
    plan = {**NO, "steps": [{"id": "g", **NO, "steps": [{"id": "h", "steps": [tool("a", **NO)]}]}]}
    assert names_at(plan, "a", (Layer("user"),)) == ["user", "the plan", "step g", "step a"]


def test_a_plan_inside_adds_its_own():
    inner = {**NO, "steps": [tool("a")]}
    assert names_at({"steps": [{"id": "p", **NO, "plan": inner}]}, "a") == ["step p", "the plan in p"]
    assert names_at({**NO, "steps": [{"id": "p", "plan": "other"}]}, "p/1.a", plans={"other": inner}) == [
        "the plan",
        "the plan",
    ]


def test_the_items_of_a_map_are_held_to_the_rules_of_the_map_once():
    plan = {"steps": [{"id": "m", "map": [1, 2], **NO, "steps": [tool("a")]}]}
    assert names_at(plan, "m/1[1].a") == ["step m"]


# ------------------------------------------------------------------------------- branches

COPIED = {"policy": {"contained": True}}


def branches_at(plan, key, outermost=()):
    """The groups that keep what a step does on a copy."""
    cell = World(plan, lambda _: HANGS).run().state.cells[key]
    return branches_around(cell, layers_around(cell, outermost))


def test_without_a_copy_there_is_no_branch():
    assert branches_at({"steps": [{"id": "g", **NO, "steps": [tool("a")]}]}, "a") == ()


def test_branches_are_told_from_the_outside_in():
    inner = {"id": "h", **COPIED, "steps": [tool("a")]}
    plan = {"steps": [{"id": "g", **COPIED, "steps": [{"id": "i", "steps": [inner]}]}]}
    assert branches_at(plan, "a") == ("g", "h")


def test_what_the_user_keeps_on_a_copy_has_no_group():
    assert branches_at({"steps": [tool("a")]}, "a", (Layer("user", contained=True),)) == ("",)
    plan = {"steps": [{"id": "g", **COPIED, "steps": [tool("a")]}]}
    assert branches_at(plan, "a", (Layer("user", contained=True),)) == ("g",)

"""Who goes first among those that could begin."""

from perdure.core import events as e
from perdure.core.outline import Outline
from perdure.plan import Plan
from perdure.testing.worlds import Takes, World


def order(steps, **more):
    """In which order steps begin, one at a time."""
    return World({"mode": "graph", "limit": 1, "steps": steps, **more}).run().done()


def step(id_, seconds=None, **more):
    return {"id": id_, "tool": "x.y", **({"estimate": {"seconds": seconds}} if seconds is not None else {}), **more}


def test_whoever_has_the_longest_way_to_go_begins_first():
    steps = [step("a", 5), step("b", 1), step("c", 5, needs=["b"]), step("d", 3)]
    assert order(steps) == ["b", "a", "c", "d"]


def test_what_the_plan_says_of_importance_comes_before_that():
    assert order([step("a", 50), step("b", 1, priority=1), step("c", 99, priority=-1)]) == ["b", "a", "c"]


def test_among_equals_it_goes_as_the_plan_is_written():
    assert order([step("b", 1), step("a", 1), step("c", 1)]) == ["b", "a", "c"]


def test_without_estimates_the_longest_chain_goes_first():
    assert order([step("a"), step("b"), step("c"), step("d", needs=["c"])]) == ["c", "a", "b", "d"]


def test_sums_of_parts_of_a_second_are_exact():
    one = [step("a", 0.3), step("b", 0.1), step("c", 0.2, needs=["b"])]
    assert order(one) == ["a", "b", "c"]  # 0.1 + 0.2 is more than 0.3 in floating point


def test_items_of_a_map_come_in_their_order():
    plan = {
        "steps": [{"id": "m", "map": [3, 1, 2], "limit": 1, "steps": [step("a", **{"with": {"value": "${item}"}})]}]
    }
    world = World(plan).run()
    assert [each.call.arguments["value"] for each in world.made] == [3, 1, 2]


def test_a_graph_with_a_circle_is_wired_all_the_same():
    """The checks refuse it; whoever asks what it looks like before that is answered."""
    steps = [step("a", 1, needs=["b"]), step("b", 2, needs=["a"]), step("c", 3, needs=["a"]), step("d", 4)]
    outline = Outline(Plan.model_validate({"mode": "graph", "steps": steps}))
    assert [rank for rank, _ in outline.wiring(outline.index.root).free] == [(0, -4_000_000)]


# ------------------------------------------------------------ plans that change


WORK = {"a": Takes(1), "b": Takes(1), "c": Takes(1), "d": Takes(1), "e": Takes(1)}


def revised(steps, edit):
    """In which order steps begin if the plan is revised while the first is at work; the same after each fold."""
    found = []
    for forgetful in (False, True):
        world = World({"mode": "graph", "limit": 1, "steps": steps}, WORK, forgetful=forgetful).start()
        world.send(e.RunRevised(base=0, edits=(edit,)))
        found.append(world.run().done())
    assert found[0] == found[1]
    return found[0]


def test_an_edit_that_says_something_else_of_a_time_changes_the_order():
    steps = [step("a", 9), step("b", 3), step("c", 2), step("d", 1)]
    assert revised(steps, {"amend": "d", "fields": {"estimate": {"seconds": 5}}}) == ["a", "d", "b", "c"]


def test_a_step_that_is_put_in_behind_another_one_makes_that_urgent():
    steps = [step("a", 9), step("b", 3), step("c", 2)]
    edit = {"insert": step("d", 4, needs=["c"]), "into": ""}
    assert revised(steps, edit) == ["a", "c", "d", "b"]


def test_an_edit_inside_a_group_makes_the_group_urgent():
    group = {"id": "g", "parallel": [step("c", 2), step("d", 2)], "limit": 1}
    steps = [step("a", 9), step("b", 5), group]
    assert revised(steps, {"amend": "d", "fields": {"estimate": {"seconds": 4}}}) == ["a", "d", "c", "b"]


def test_an_edit_of_a_limit_makes_the_group_urgent():
    group = {"id": "g", "parallel": [step("c", 3), step("d", 3)]}
    steps = [step("a", 9), step("b", 5), group]
    assert revised(steps, {"amend": "g", "fields": {"limit": 1}}) == ["a", "c", "d", "b"]

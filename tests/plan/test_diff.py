"""E1: two plans compared by step id."""

from hypothesis import given
from hypothesis import strategies as st

from perdure.plan import Plan
from perdure.plan.diff import ABSENT, diff


def plan(*steps, **fields):
    return Plan.model_validate({"steps": list(steps), **fields})


def tool(name, **fields):
    return {"id": name, "tool": "x.y", **fields}


def test_equal_plans_do_not_differ():
    one = plan(tool("a"), {"id": "g", "steps": [tool("b")]})
    assert not diff(one, Plan.model_validate(one.canonical()))
    assert diff(one, one).lines() == []


def test_added_removed_changed_moved():
    before = plan(tool("a"), tool("b", retry={"attempts": 2}), {"id": "g", "steps": [tool("c"), tool("d")]}, goal="One")
    after = plan(
        tool("a", title="New"),
        {"id": "g", "steps": [tool("d"), tool("b", retry={"attempts": 3})]},
        tool("e"),
        goal="Two",
    )
    found = diff(before, after)
    assert found.added == {"e": "steps[2]"}
    assert found.removed == {"c": "steps[2].steps[0]"}
    assert {name: [(c.field, c.before, c.after) for c in changes] for name, changes in found.changed.items()} == {
        "a": [("title", ABSENT, "New")],
        "b": [("retry.attempts", 2, ABSENT)],
    }
    assert {name: (move.before, move.after) for name, move in found.moved.items()} == {
        "b": ("steps[1]", "steps[1].steps[1]")
    }
    assert [change.field for change in found.plan] == ["goal"]
    assert found.lines() == [
        "~ plan  goal: One → Two",
        "+ e  at steps[2]",
        "- c  was at steps[2].steps[0]",
        "> b  from steps[1] to steps[1].steps[1]",
        "~ a  title: New (new)",
        "~ b  retry.attempts: 2 (gone)",
    ]


def test_kind_and_call_changes_are_fields():
    found = diff(plan(tool("a")), plan({"id": "a", "agent": "code"}))
    assert [change.field for change in found.changed["a"]] == ["kind", "tool", "agent"]


def test_inline_plans_are_compared_inside():
    before = plan({"id": "p", "plan": {"goal": "x", "steps": [tool("q")]}})
    after = plan({"id": "p", "plan": {"goal": "y", "steps": [tool("q", title="t")]}})
    found = diff(before, after)
    assert [change.field for change in found.changed["p"]] == ["plan.goal"]
    assert [change.field for change in found.changed["q"]] == ["title"]


def test_the_fewest_moves_explain_a_new_order():
    before = plan(*(tool(f"s{n}") for n in range(6)))
    after = plan(*(tool(f"s{n}") for n in (5, 0, 1, 2, 3, 4)))
    assert list(diff(before, after).moved) == ["s5"]


VALUES = st.sampled_from([None, True, False, 0, 1, 1.0, "", "1", [], [1], [True], {}, {"a": None}, {"a": 1}])


@given(VALUES, VALUES, st.booleans())
def test_plans_differ_exactly_when_their_hashes_do(one, other, absent):
    before, after = plan(tool("a", **{"with": {"v": one}})), plan(tool("a", **{"with": {} if absent else {"v": other}}))
    assert bool(diff(before, after)) == (before.hash != after.hash)
    first, second = plan(tool("a"), {"id": "b", "done": one}), plan(tool("a"), {"id": "b", "done": other})
    assert bool(diff(first, second)) == (first.hash != second.hash)
    assert Plan.model_validate(second.canonical()) == second


@given(st.permutations(range(8)))
def test_moved_steps_are_those_that_do_not_rise(order):
    before = plan(*(tool(f"s{n}") for n in range(8)))
    moved = diff(before, plan(*(tool(f"s{n}") for n in order))).moved
    stayed = [n for n in order if f"s{n}" not in moved]
    assert stayed == sorted(stayed)


def test_control_characters_are_shown_not_sent():
    [line] = diff(plan(tool("a")), plan(tool("a", title="\x1b[31mred\u202e"))).lines()
    assert "\x1b" not in line
    assert "\u202e" not in line

"""X4: how a plan stands follows from the calls that were made for its steps."""

from types import SimpleNamespace

from perdure.agents.strategies.checklist import claimed, items_in, ticked, told, unmarked

PLAN = {
    "steps": [
        {"id": "read", "tool": "files.read", "title": "Read the notes"},
        {"id": "more", "tool": "files.read", "needs": ["read"]},
        {"id": "think", "model": "default", "needs": ["read"]},
        {"id": "save", "tool": "files.write", "needs": ["think", "more"]},
    ]
}
ITEMS = items_in(PLAN)


def over(item, exit_="success"):
    """A call that is over, as its strategy sees it."""
    return SimpleNamespace(tag={"item": item} if item else "thought", exit=exit_)


def test_x4_a_call_belongs_to_the_first_open_step_that_wants_its_tool_then_to_one_that_failed():
    marks = unmarked(ITEMS)
    assert set(marks.values()) == {"pending"}
    assert claimed(ITEMS, marks, {"s2": "files.read", "s3": "files.read", "s4": "files.read", "s5": "web.get"}) == {
        "s2": "read",
        "s3": "more",
    }
    again = claimed(ITEMS, {**marks, "read": "failed", "more": "done"}, {"s2": "files.read", "s3": "files.read"})
    assert again == {"s2": "read"}
    assert claimed(ITEMS, {**marks, "read": "running"}, {"s2": "files.read"}) == {"s2": "more"}


def test_x4_what_was_called_is_done_or_failed():
    marks = ticked(ITEMS, unmarked(ITEMS), [over("read"), over("more", "failure"), over(None)])
    assert marks == {"read": "done", "more": "failed", "think": "pending", "save": "pending"}
    assert ticked(ITEMS, marks, [over("more")])["more"] == "done"
    assert ticked(ITEMS, marks, [over("more", "cancelled")])["more"] == "failed"


def test_x4_a_step_that_nothing_was_called_for_is_skipped_once_nobody_needs_it():
    marks = ticked(ITEMS, unmarked(ITEMS), [over("save")])
    assert marks == {"read": "skipped", "more": "skipped", "think": "done", "save": "done"}


def test_x4_the_list_is_told_with_its_marks_and_holds_no_expressions():
    words = told(ITEMS, {**unmarked(ITEMS), "read": "done", "more": "running"}).text
    assert words.splitlines()[2:] == [
        "Where the plan stands:",
        "1. [done] read files.read: Read the notes",
        "2. [running] more files.read (after read)",
        "3. [pending] think model.think (after read)",
        "4. [pending] save files.write (after think, more)",
    ]
    odd = items_in({"steps": [{"id": "a", "tool": "x.y", "title": "${secrets.KEY}"}]})
    assert "$${secrets.KEY}" in told(odd, unmarked(odd)).text


def test_what_is_no_plan_has_no_steps():
    assert items_in(None) == items_in("x") == items_in({"steps": 3}) == items_in({"steps": [1, "a"]}) == ()

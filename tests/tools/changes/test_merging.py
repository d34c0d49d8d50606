"""Merging texts: each change where the other has none, and marks where both are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tools.changes.merging import beside, has_marks, merged, woven

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\r\n", "ü\n"]), max_size=10)
TEXTS = st.builds(lambda lines, tail: "".join(lines) + tail, LINES, st.sampled_from(["", "end"]))


def sides(text):
    """What a marked text says for each side."""
    kept, found = {0, 1}, [[], []]
    for line in text.splitlines(keepends=True):
        if line == "<<<<<<< workspace\n":
            kept = {0}
        elif line == "=======\n":
            kept = {1}
        elif line == ">>>>>>> branch\n":
            kept = {0, 1}
        else:
            for each in kept:
                found[each].append(line)
    return ["".join(each) for each in found]


@given(TEXTS, TEXTS)
def test_what_one_side_has_left_alone_is_as_the_other_wants_it(base, text):
    assert woven(base, text, base) == woven(base, base, text) == woven(base, text, text) == (text, 0)


@given(TEXTS, TEXTS, TEXTS)
def test_both_sides_are_treated_alike(base, ours, theirs):
    there, back = woven(base, ours, theirs), woven(base, theirs, ours)
    assert there.clashes == back.clashes
    assert there.clashes or there.text == back.text
    assert has_marks(there.text) == bool(there.clashes)


@given(
    st.lists(st.tuples(st.sampled_from(["", "ours", "theirs"]), st.lists(st.integers(0, 3), max_size=3)), max_size=8)
)
def test_changes_that_keep_clear_of_each_other_are_all_made(chunks):
    """Lines that nobody touches stand between the chunks; each chunk is for one side to change as it likes."""
    base, ours, theirs, both = "", "", "", ""
    for n, (side, lines) in enumerate(chunks):
        still, old = f"still {n}\n", f"old {n}\n"
        new = "".join(f"new {n} {each}\n" for each in lines)
        base += still + old
        ours += still + (new if side == "ours" else old)
        theirs += still + (new if side == "theirs" else old)
        both += still + (new if side else old)
    assert woven(base, ours, theirs) == (both, 0)


@given(TEXTS, TEXTS)
def test_side_by_side_both_texts_can_be_read_out_again(ours, theirs):
    found = sides(beside(ours, theirs).text)
    assert [each.removesuffix("\n") for each in found] == [each.removesuffix("\n") for each in (ours, theirs)]


def test_the_same_lines_changed_in_two_ways_stand_between_marks():
    found = woven("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n")
    assert found == ("a\n<<<<<<< workspace\nx\n=======\ny\n>>>>>>> branch\nc\n", 1)


def test_lines_that_touch_are_not_told_apart():
    assert woven("a\nb\n", "x\nb\n", "a\ny\n").clashes == 1


@pytest.mark.parametrize("data", [b"\xff\n", b"a\0b\n", b"x" * 300_000])
def test_what_is_no_short_text_is_not_merged(data):
    assert merged(b"a\nb\n", b"x\na\nb\n", data) is None

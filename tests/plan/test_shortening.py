"""T8: values made shorter say what is left out of them, and never take more room than they are given."""

import json

from hypothesis import given
from hypothesis import strategies as st

from perdure.plan.shortening import DEEPEST, LEAST, MORE, is_deep, shortened
from perdure.plan.tokens import size_of

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    LEAVES | st.text(min_size=40, max_size=400),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=12), inner, max_size=8),
    max_leaves=60,
)
"""JSON, often too large."""


@given(VALUES, st.integers(LEAST, 2_000))
def test_t8_it_never_takes_more_room_than_there_is(value, most):
    short = shortened(value, most)
    assert size_of(short) <= most
    assert json.loads(json.dumps(short)) == short


@given(VALUES, st.integers(LEAST, 2_000))
def test_t8_what_fits_stays_as_it_is_and_what_does_not_says_so(value, most):
    short = shortened(value, most)
    if size_of(value) <= most:
        assert short == value
    else:
        told = json.dumps(short)
        assert "left out" in told or "more" in told


@given(VALUES, st.integers(LEAST, 2_000))
def test_t8_it_is_the_same_every_time(value, most):
    assert shortened(value, most) == shortened(json.loads(json.dumps(value)), most)


def test_t8_a_text_keeps_both_ends_and_tells_how_much_is_gone():
    text = "BEGIN" + "x" * 10_000 + "END"
    short = shortened(text, 100)
    assert short.startswith("BEGINx")
    assert short.endswith("xEND")
    gone = len(text) - (len(short) - len(" [9,999 characters left out] "))
    assert f"[{gone:,} characters left out]" in short


def test_t8_small_parts_stay_whole_while_large_ones_are_cut():
    short = shortened({"code": 3, "log": "y" * 5_000, "ok": False}, 300)
    assert (short["code"], short["ok"]) == (3, False)
    assert 150 < short["log"].count("y") < 300


def test_t8_two_large_parts_share_the_room():
    short = shortened({"one": "a" * 5_000, "two": "b" * 3_000}, 1_000)
    assert abs(short["one"].count("a") - short["two"].count("b")) < 10


def test_t8_a_long_list_keeps_its_first_items_and_counts_the_others():
    short = shortened(list(range(1_000)), 200)
    assert short[:3] == [0, 1, 2]
    assert short[-1] == f"[{1_000 - len(short) + 1:,} more]"


def test_t8_a_large_object_counts_the_keys_it_leaves_out():
    short = shortened({f"key{n}": n for n in range(1_000)}, 200)
    assert short["key0"] == 0
    assert short[MORE] == f"{1_000 - len(short) + 1:,} more"


def test_t8_a_key_that_looks_like_the_mark_is_counted_with_the_rest():
    assert shortened({MORE: "mine", "text": "z" * 500}, 220)[MORE] == "1 more"


def test_t8_what_has_no_parts_is_left_out_with_its_size():
    assert shortened([10**400, 1], 120) == ["[401 characters left out]", 1]


def test_t8_less_than_can_be_said_is_as_much_as_that():
    assert size_of(shortened("x" * 1_000, 1)) <= LEAST


def nested(depth):
    value = "bottom" * 100
    for _ in range(depth):
        value = [value]
    return value


def test_t8_what_is_nested_too_deep_is_not_looked_into():
    assert not is_deep(nested(DEEPEST))
    assert is_deep(nested(DEEPEST + 1))
    assert is_deep({"a": nested(DEEPEST)})
    assert "left out: nested too deep" in json.dumps(shortened(nested(50_000), 500))
    assert "left out: nested too deep" in json.dumps(shortened({"a": nested(DEEPEST + 5)}, 500))

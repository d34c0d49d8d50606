"""Small values stand in facts, large ones under their digest."""

import hashlib
import json
import math

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.core.values import MOST_INLINE, NULL, Value, digest_of, from_json, keep, to_json, well_formed


@pytest.mark.parametrize(
    "value", [None, True, False, 0, 1.5, "", "text", "é", [], {"a": [1, {"b": None}]}, "x" * (MOST_INLINE - 2)]
)
def test_small_values_are_inline(value):
    kept = {}
    assert keep(value, kept) == Value(data=value)
    assert kept == {}


@pytest.mark.parametrize("value", ["x" * MOST_INLINE, "half \ud800", [[[]] * 40, [[]] * 40], {"😀": 1}])
def test_others_are_kept_under_their_digest(value):
    kept = {}
    found = keep(value, kept)
    assert hashlib.sha256(kept[found.sha256]).hexdigest() == found.sha256
    assert found.load(lambda digest: json.loads(kept[digest])) == value


def test_a_value_is_kept_as_it_will_be_read():
    assert keep((1, {2: (3,)}), {}).data == [1, {"2": [3]}]
    assert NULL.load(lambda digest: digest) is None


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", '{"a": 1e999}', "-1e400", "", "{", "[" * 100_000])
def test_what_is_no_json_is_not_read(text):
    with pytest.raises(ValueError, match=r"JSON|Expecting|nested"):
        from_json(text)
    assert from_json('[1.5, 1e300, 2, "NaN"]') == [1.5, 1e300, 2, "NaN"]


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=40)
)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner), max_leaves=40)


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(JSON)
def test_what_stands_in_a_fact_is_small_and_a_copy(value):
    kept = {}
    found = keep(value, kept)
    assert found.load(lambda digest: json.loads(kept[digest])) == value
    assert found.sha256 or (len(to_json(value)) <= MOST_INLINE and rb"\ud" not in to_json(value))
    assert found.data is not value or not isinstance(value, (dict, list))


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [{1, 2}, object(), math.nan, math.inf, nested(100_000), b"bytes", [10**5000]],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_a_value_error(value):
    with pytest.raises(ValueError, match=r"."):
        to_json(value)


@pytest.mark.parametrize(
    "value",
    [None, True, 1, -5, 2**53 - 1, 1.5, 1e30, "a", "é", "😀", [], [1, [2]], {"b": 1, "a": {"é": 2}}, {"a": 1.0}],
)
def test_digests_are_those_of_rfc_8785(value):
    assert digest_of(value) == hashlib.sha256(rfc8785.dumps(value)).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"), [(2**60, 2**60 + 1), ("half \ud800", "half \ud801"), ({"a": 2**70}, {"a": 2**70 + 1})]
)
def test_digests_of_odd_values_differ_too(one, other):
    assert digest_of(one) == digest_of(one) != digest_of(other)


def test_a_text_is_well_formed_when_its_odd_halves_are_written_out():
    assert [well_formed(text) for text in ("plain", "é😀", "half \ud800")] == ["plain", "é😀", "half \\ud800"]

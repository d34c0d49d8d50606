"""Names of tools as providers take them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.models.naming import inner_by_outer, outer

NAMES = st.text(st.sampled_from("ab._-/ü"), min_size=1, max_size=8) | st.text(min_size=1, max_size=90)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("files.read", "files__read"), ("plain", "plain"), ("a_b.c-d", "a_b__c-d"), ("a.b.c", "a__b__c")],
)
def test_a_usual_name_keeps_its_look(name, expected):
    assert outer(name) == expected


@given(NAMES, NAMES)
def test_every_name_is_taken_and_no_two_look_the_same(one, other):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", outer(one))
    assert (outer(one) == outer(other)) == (one == other)


@given(st.lists(NAMES, unique=True, max_size=5))
def test_a_name_comes_back_as_it_was(names):
    assert sorted(inner_by_outer(names).values()) == sorted(names)

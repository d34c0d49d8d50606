"""E1: facts that planners reason about, as texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.plan.facts import Fact, Variable, fact_of, flaw_of, kinds_of, told

READ = [
    ("tested", Fact("tested")),
    ("not tested", Fact("tested", (), holds=False)),
    ("at(truck, depot)", Fact("at", ("truck", "depot"))),
    ("at( truck ,depot )", Fact("at", ("truck", "depot"))),
    ("not  at(?t, ?a:place)", Fact("at", (Variable("t", "t"), Variable("a", "place")), holds=False)),
    ("built(src/a.py)", Fact("built", ("src/a.py",))),
    ("version(1.0-rc+1)", Fact("version", ("1.0-rc+1",))),
    ("notable", Fact("notable")),
]


@pytest.mark.parametrize(("text", "fact"), READ)
def test_a_text_tells_a_fact(text, fact):
    assert fact_of(text) == fact
    assert flaw_of(text) is None


@pytest.mark.parametrize(
    "text", ["", "not", "not ", "a b", "a(", "a()", "a(b", "a(b,)", "a(b c)", "!a", "a = b", "?x", "a(${x})", "a" * 500]
)
def test_what_tells_no_fact_is_told_what_to_write(text):
    flaw, hint = flaw_of(text)
    assert "is no fact" in flaw
    assert hint


def test_effect_words_are_no_facts():
    assert [bool(flaw_of(each)) for each in ("reads", "not writes", "read", "costs(a)")] == [True, True, False, True]


def test_objects_stand_for_variables():
    assert told(fact_of("at(?t, ?a:place)").atom({"t": "red", "a": "shop"})) == "at(red, shop)"
    assert told(fact_of("at(?t, b)").atom({})) == "at(?t, b)"
    assert told(("at", "b"), holds=False) == "not at(b)"


def test_a_kind_that_is_written_once_counts_for_all():
    texts = ["near(?a, ?b:place)", "at(?a:place)", "on(?b)", "has(?c)"]
    assert kinds_of(map(fact_of, texts)) == {"a": "place", "b": "place", "c": "c"}


@given(st.text(max_size=60))
def test_any_text_is_a_fact_or_has_a_flaw(text):
    if flaw_of(text) is None:
        fact = fact_of(text)
        assert fact_of(told(fact.atom({}), holds=fact.holds)).atom({}) == fact.atom({})

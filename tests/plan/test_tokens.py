"""T8: the measure of what a model is shown is the same everywhere."""

import pytest

from perdure.plan.tokens import DEEPER, size_of, tokens_of


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fours", 2), ("ü" * 8, 2)])
def test_t8_four_characters_are_a_token(text, tokens):
    assert tokens_of(text) == tokens


def test_t8_a_value_has_the_size_of_its_json_without_spaces():
    assert size_of({"a": [1, "ü", None]}) == len('{"a":[1,"ü",null]}')


def test_t8_what_cannot_be_written_is_larger_than_anything():
    deep = []
    for _ in range(10_000):
        deep = [deep]
    assert size_of(deep) == DEEPER

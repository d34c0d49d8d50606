"""T8 E21: the measure of what a model is shown, and of what it may take, is the same everywhere."""

import pytest

from perdure.plan.tokens import DEEPER, size_of, tokens_of

TEXTS = [
    ("", 0),
    ("a", 1),
    ("t n", 1),
    ("four", 2),
    ("1999", 4),
    ("{}", 2),
    ("ü" * 9, 18),
    ("語" * 4, 12),
    ("\ud800", 3),
]


@pytest.mark.parametrize(("text", "tokens"), TEXTS)
def test_t8_three_letters_are_a_token_and_so_is_every_other_byte(text, tokens):
    assert tokens_of(text) == tokens


def test_t8_a_value_has_the_size_of_its_json_without_spaces():
    assert size_of({"a": [1, "ü", None]}) == len("anull") + 3 * len('{"":[1,"ü",]}'.encode())


def test_t8_what_cannot_be_written_is_larger_than_anything():
    deep = []
    for _ in range(10_000):
        deep = [deep]
    assert size_of(deep) == DEEPER

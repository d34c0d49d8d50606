"""How likely each choice was."""

import math

import pytest

from perdure.models.chances import chances_of


def token(text, share, **others):
    top = [{"token": word, "logprob": math.log(each)} for word, each in others.items()]
    return {"token": text, "logprob": math.log(share), "top_logprobs": top}


def test_what_was_not_taken_counts_for_where_it_would_have_led():
    tokens = [token('{"choice": "', 1.0), token("yes", 0.6, yes=0.6, no=0.3, maybe=0.1), token('"}', 1.0)]
    found = chances_of(tokens, ["yes", "no"], "yes")
    assert found == pytest.approx({"yes": 2 / 3, "no": 1 / 3})


def test_choices_that_begin_alike_are_told_apart_where_they_part():
    tokens = [
        token('"', 1.0),
        token("app", 0.9, app=0.9, rej=0.1),
        token("rove", 0.5, rove=0.5, eal=0.5),
        token('"', 1.0),
    ]
    found = chances_of(tokens, ["approve", "appeal", "reject"], "approve")
    assert found == pytest.approx({"approve": 0.45, "appeal": 0.45, "reject": 0.1})


def test_a_token_that_begins_before_the_choice_is_cut():
    tokens = [token(' "yes', 0.75, **{' "yes': 0.75, ' "no': 0.25}), token('"', 1.0)]
    assert chances_of(tokens, ["yes", "no"], "yes") == pytest.approx({"yes": 0.75, "no": 0.25})


@pytest.mark.parametrize("tokens", [[], [{"token": "no"}], [{"token": "yes", "logprob": None}], [{}]])
def test_tokens_that_tell_nothing_give_nothing(tokens):
    assert chances_of(tokens, ["yes", "no"], "yes") is None


def test_odd_numbers_do_no_harm():
    odd = {"token": "yes", "logprob": 5.0, "top_logprobs": [{"token": "no", "logprob": -9999.0}, {"token": ""}]}
    assert chances_of([odd], ["yes", "no"], "yes") == pytest.approx({"yes": 1.0, "no": 0.0})

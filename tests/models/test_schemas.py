"""The form that an answer is asked in."""

import json

import pytest

from perdure.models.schemas import is_whole, told_of, wanted_of
from perdure.ports import Offer, Request, Said


def request(**more):
    return Request("default", [Said("Hello")], **more)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "properties": {"value": {}}}, {"value": 1}),
        ({"type": "integer"}, 7),
        ({"type": "string"}, "text"),
        ({"type": ["object", "null"]}, None),
        ({"enum": [1, {"value": 2}]}, {"value": 2}),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "array"}}}, ["a"]),
    ],
)
def test_any_value_comes_back_out_of_the_object_it_was_asked_in(schema, value):
    wanted = wanted_of(request(returns=schema))
    assert wanted.schema["type"] == "object"
    said = json.dumps({wanted.word: value} if wanted.word else value)
    assert json.loads(wanted.unwrapped(said)) == value


def test_what_is_shared_in_a_schema_stays_where_it_is_looked_for():
    wanted = wanted_of(request(returns={"$ref": "#/$defs/x", "$defs": {"x": {"type": "array"}}}))
    assert wanted.schema["$defs"] == {"x": {"type": "array"}}


@pytest.mark.parametrize("text", ["7", "{", "[]", '{"other": 1}', "[" * 100_000])
def test_a_text_that_is_no_such_object_stays_as_it_is(text):
    assert wanted_of(request(returns={"type": "integer"})).unwrapped(text) == text


def test_a_choice_is_a_word():
    wanted = wanted_of(request(choices=("yes", "no")))
    assert wanted.unwrapped('{"choice": "yes"}') == "yes"
    assert told_of(request(choices=("yes", "no"))) == "Answer with one of these words: yes, no"


def test_where_tools_are_offered_no_form_is_forced():
    offers = [Offer("x", "", {})]
    assert wanted_of(request(returns={"type": "object"}, offers=offers)) is None
    assert '"object"' in told_of(request(returns={"type": "object"}, offers=offers))
    assert told_of(request()) == ""


def test_blanks_after_a_value_are_nothing_that_is_missing():
    assert is_whole('{"a": 1}   \n')
    assert not is_whole('{"a": 1')

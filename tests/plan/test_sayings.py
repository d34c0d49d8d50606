"""What Pydantic refuses is said in plain words, whatever it was."""

import json
import re
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ErrorType

from perdure.plan.sayings import SAYINGS, saying, sentence

JARGON = re.compile(r"\bvalid\b|\b[Ii]nput\b|tuple|dictionary|boolean|integer|instance|Field required|[Vv]alidation")


class Place(BaseModel, extra="forbid"):
    city: str


def odd(_: Any) -> Any:
    raise ValueError("write it otherwise")


def ours(_: Any) -> Any:
    raise PydanticCustomError("ours", "say after or before")


CASES = [
    (int, "1", "must be a whole number"), (int, 1.5, "must be a whole number"), (float, "x", "must be a number"),
    (bool, 1, "must be true or false"), (str, 5, "must be a text"), (list[int], "x", "must be a list"),
    (tuple[int, ...], "x", "must be a list"), (set[int], "x", "must be a list"), (dict[str, int], [], "must be a mapping"),
    (Place, 5, "must be a mapping"), (date, "x", "must be a date, as in 2024-02-29"), (None, 1, "must be null"),
    (datetime, "x", "must be a date with a time, as in 2024-02-29T12:00:00Z"), (UUID, 5, "must be a UUID"),
    (time, "x", "must be a time of day, as in 12:00:00"), (timedelta, "x", "must be a duration, as in PT1H30M"),
    (Literal["a", "b"], "c", "must be 'a' or 'b'"), (Annotated[int, Field(gt=0)], 0, "must be greater than 0"),
    (Annotated[str, Field(min_length=2)], "a", "must have at least 2 characters"),
    (Annotated[list[int], Field(max_length=1)], [1, 2], "must have at most 1 item, not 2"),
    (Annotated[int, AfterValidator(odd)], 1, "is wrong: write it otherwise"),
    (Annotated[int, AfterValidator(ours)], 1, "is wrong: say after or before"),
]  # fmt: skip


def refused(hint, value):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
    return caught.value.errors()[0]


@pytest.mark.parametrize(("hint", "value", "expected"), CASES)
def test_a_value_that_does_not_fit(hint, value, expected):
    error = refused(hint, value)
    assert saying(error) == expected
    assert not JARGON.search(saying(error))


def test_a_sentence_names_the_place_or_keeps_the_words_of_a_rule():
    assert sentence(refused(list[Place], [{"city": 5}])) == "[0].city must be a text"
    assert sentence(refused(list[Place], [{}])) == "[0].city is missing"
    assert sentence(refused(Place, {"city": "Bonn", "x": 1})) == "x is not known here"
    assert sentence(refused(int, "x")) == "it must be a whole number"
    assert sentence(refused(Annotated[int, AfterValidator(ours)], 1)) == "say after or before"


def test_the_words_are_those_of_pydantic():
    """One that it no longer has is one that we no longer say."""
    assert SAYINGS.keys() <= {*get_args(ErrorType), "string_sub_type"}

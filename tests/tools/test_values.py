"""Plain JSON from what functions return."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path

import pytest
from pydantic import BaseModel

from perdure.tools.values import NotJson, as_json


class Model(BaseModel):
    number: float
    way: Path = Path("a/b")


@dataclass
class Data:
    items: tuple[int, ...]


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (10**30, 10**30),
        ("é", "é"),
        ((1, (2,)), [1, [2]]),
        (Model(number=1), {"number": 1, "way": "a/b"}),
        ([Data((1, 2))], [{"items": [1, 2]}]),
        (datetime(2024, 2, 29, tzinfo=UTC), "2024-02-29T00:00:00Z"),
        ({date(2024, 2, 29): Colour.RED}, {"2024-02-29": "red"}),
        (b"bytes", "bytes"),
        ((n for n in range(2)), [0, 1]),
    ],
)
def test_it_has_a_form_in_json(value, expected):
    assert as_json(value) == expected


def deep():
    value = []
    for _ in range(5_000):
        value = [value]
    return value


def circle():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (float("nan"), "NaN"),
        ([1, {"a": float("-inf")}], "NaN"),
        (Model(number=float("nan")), "NaN"),
        (object(), "object"),
        ({"a": print}, "function"),
        ("\ud800", "surrogates"),
        (b"\xff", "utf-8"),
        (deep(), "depth"),
        (circle(), "Circular"),
    ],
)
def test_it_has_none(value, word):
    with pytest.raises(NotJson, match=word):
        as_json(value)


def test_the_result_is_nobody_elses():
    value = {"a": [1]}
    as_json(value)["a"].append(2)
    assert value == {"a": [1]}

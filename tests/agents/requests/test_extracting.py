"""X8: parameters are taken from a request where their types allow it, and never made up."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agents.requests.extracting import Request, formed, named
from perdure.agents.requests.wanting import wants_of

SORTS = {
    "text": {"type": "string"},
    "url": {"type": "string", "format": "uri"},
    "path": {"type": "string"},
    "email": {"type": "string", "format": "email"},
    "date": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "seconds": {"type": "number"},
    "count": {"type": "integer"},
    "unit": {"type": "string", "enum": ["metric", "imperial"]},
    "deep": {"type": "boolean", "default": False},
    "customer_id": {"type": "string"},
    "issue_id": {"type": "integer"},
    "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
    "paths": {"type": "array", "items": {"type": "string"}},
    "city": {"type": "string"},
    "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "password": {"type": "string"},
    "anything": {},
    "shape": {"type": "object"},
}


def schema(*required, optional=()):
    known = {name: SORTS[name] for name in (*required, *optional)}
    return {"type": "object", "properties": known, "required": list(required)}


def taken(text, *required, optional=()):
    request, wants = Request(text), wants_of(schema(*required, optional=optional))
    values = named(request, wants)
    formed(request, wants, values, request.pieces)
    return values.taken


def extracted(text, *required, optional=()):
    return {name: each.value for name, each in taken(text, *required, optional=optional).items()}


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("fetch https://example.com/a", "url", "https://example.com/a"),
        ("read src/app.py", "path", "src/app.py"),
        ("delete a.txt and b.txt", "paths", ["a.txt", "b.txt"]),
        ("write to ada@example.org", "email", "ada@example.org"),
        ("on 2026-02-28", "date", "2026-02-28"),
        ("at 2026-02-28T10:00:00Z", "moment", "2026-02-28T10:00:00Z"),
        ('say "hello"', "text", "hello"),
        ("wait 5 seconds", "seconds", 5),
        ("wait 1 second", "seconds", 1),
        ("count to 3", "count", 3),
        ("in metric units", "unit", "metric"),
        ("city: Berlin", "city", "Berlin"),
        ("the city is New York, today", "city", "New York"),
        ("the weather of the city Berlin", "city", "Berlin"),
        ("city = berlin", "city", "berlin"),
        ('city "St. Moritz"', "city", "St. Moritz"),
        ("look deep", "deep", True),
        ("deep: yes", "deep", True),
        ("close issue 17", "issue_id", 17),
        ("customer id: C17", "customer_id", "C17"),
        ("ship AB-12 now", "code", "AB-12"),
    ],
)
def test_x8_a_value_is_taken_by_its_type_its_form_or_its_name(text, name, value):
    assert extracted(text, name) == {name: value}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the weather in Berlin", "city"),
        ("wait 5 minutes", "seconds"),
        ("2 or 3", "count"),
        ("2.5", "count"),
        ("metric or imperial", "unit"),
        ('find "Davis"', "customer_id"),
        ("AB-12 or AB-13", "code"),
        ("password: hunter2", "password"),
        ("not deep", "deep"),
        ("on 2026-02-28T10:00:00Z", "date"),
        ("see example.com", "url"),
        ("city weather", "city"),
        ('a shape "round"', "shape"),
    ],
)
def test_x8_nothing_is_guessed(text, name):
    assert extracted(text, name) == {}


def test_two_parameters_that_could_be_meant_are_both_left_open():
    assert extracted('put "a" before "b"', "text", "city") == {}
    assert extracted('put text: "a" before "b"', "text", "city") == {"text": "a", "city": "b"}


def test_what_can_be_left_out_is_not_filled_by_form():
    assert extracted("read notes.txt", optional=("path",)) == {}
    assert extracted("path: notes.txt", optional=("path",)) == {"path": "notes.txt"}
    assert extracted('say "hello"', optional=("text",)) == {"text": "hello"}


def test_one_number_is_not_taken_twice():
    assert extracted("the count 10 seconds", "seconds", "count") == {"seconds": 10}


def test_each_value_says_where_it_stands_and_why():
    found = taken("wait 5 seconds", "seconds")["seconds"]
    assert (found.start, found.end, found.how) == (5, 6, 'before "seconds"')


REQUESTS = st.lists(
    st.one_of(
        st.sampled_from(
            [*SORTS, "is", ":", "=", "and", "not", "Berlin", "New", "York", "metric", "AB-12", "issue", ","]
        ),
        st.sampled_from(
            ["a.txt", "https://a.org/b", "ada@a.org", "2026-02-28", '"a b"', "5", "2.5", "`x`", "${secrets.a}"]
        ),
        st.text(max_size=8),
    ),
    max_size=14,
).map(" ".join)


def _stands(value, text):
    if isinstance(value, bool):
        return True  # checked by its name
    if isinstance(value, list):
        return all(_stands(each, text) for each in value)
    if isinstance(value, str):
        return value.casefold() in text.casefold()
    return any(float(each) == value for each in re.findall(r"[-+]?\d+(?:\.\d+)?", text))


@given(REQUESTS, st.lists(st.sampled_from(list(SORTS)), unique=True, max_size=6), st.booleans())
def test_x8_no_value_is_invented(text, names, must):
    found = taken(text, *names) if must else taken(text, optional=names)
    for name, each in found.items():
        assert _stands(each.value, text[each.start : each.end])
        if isinstance(each.value, bool):
            assert name in text.casefold()
        assert "password" not in found

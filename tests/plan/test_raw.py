"""The types of JSON Schema, and what is of them."""

import pytest

from perdure.plan.raw import KINDS, is_a, kind_of


@pytest.mark.parametrize(
    ("value", "narrowest", "kinds"),
    [
        ("", "string", {"string"}),
        (True, "boolean", {"boolean"}),
        (1, "integer", {"integer", "number"}),
        (1.0, "number", {"integer", "number"}),
        (1.5, "number", {"number"}),
        ([], "array", {"array"}),
        ({}, "object", {"object"}),
        (None, "null", {"null"}),
        (b"", "", set()),
    ],
)
def test_a_value_is_of_its_types_and_of_no_others(value, narrowest, kinds):
    assert kind_of(value) == narrowest
    assert {kind for kind in KINDS if is_a(kind, value)} == kinds

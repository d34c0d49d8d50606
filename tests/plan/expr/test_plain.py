"""Comparisons of plain values give what CEL gives, or leave it to CEL."""

from itertools import product

import pytest

from perdure.plan.expr import ExpressionError, parse
from perdure.plan.expr.cel import evaluate

VALUES = (
    0,
    1,
    -7,
    2**53,
    2**63,
    True,
    False,
    None,
    1.0,
    0.5,
    -0.0,
    1e300,
    "",
    "a",
    "b",
    "1",
    "é",
    "\0",
    "x" * 2000,
    [],
    [1],
    {"n": 1},
)
LITERALS = ("0", "1", "-7", "1.0", "0.5", "-0.0", "2u", "true", "null", "''", "'a'", "'é'", "b'a'", "[1]")
OPERATORS = ("==", "!=", "<", "<=", ">", ">=")


def found_by(way, source, scope):
    """The value, or what is said about there being none."""
    try:
        return way(source, scope)
    except ExpressionError as error:
        return str(error)


def agrees(source, scope):
    """Whether CEL says the same; and whether it was left to CEL."""
    expression = parse(source)
    expected = found_by(evaluate, source, scope)
    assert found_by(lambda _, given: expression.evaluate(given), source, scope) == expected, (source, scope)
    return expression.plain is None or expression.plain(scope) is None


def test_a_value_and_a_literal():
    asked = [agrees(f"output.n {op} {text}", {"output": {"n": value}}) for op, text, value in
             product(OPERATORS, LITERALS, VALUES) if readable(f"output.n {op} {text}")]  # fmt: skip
    assert 100 < asked.count(False) < len(asked) / 2  # numbers of one kind, short texts, true and false


def readable(source):
    try:
        return bool(parse(source))
    except ExpressionError:
        return False


def test_two_values():
    for op, one, other in product(OPERATORS, VALUES, VALUES):
        agrees(f"inputs.a {op} steps.s.output[0]", {"inputs": {"a": one}, "steps": {"s": {"output": [other]}}})


@pytest.mark.parametrize("source", [
    "inputs.a > 0 && inputs.b == 'x'", "inputs.a > 0 || inputs.b == 'x'", "!(inputs.a > 0)", "!(inputs.a > 0 && !(inputs.b != 'x'))",
    "inputs.a > 0 && inputs.a < 9 && inputs.b == 'x'", "inputs.a > 0 && size(inputs.b) == 1", "inputs.a > 0 ? true : false",
])  # fmt: skip
def test_joined(source):
    for one, other in product((*VALUES[:6], "missing"), (*VALUES, "missing")):
        given = {name: value for name, value in (("a", one), ("b", other)) if value != "missing"}
        agrees(source, {"inputs": given})


@pytest.mark.parametrize(
    "source", ["secrets.a == 'x'", "inputs.?a.orValue(1) == 1", "has(inputs.a)", "inputs.a in [1]"]
)
def test_what_is_never_compared_here(source):
    assert parse(source).plain is None

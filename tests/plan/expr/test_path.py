"""Plain paths: what is one, what it names, and what it says when nothing is there."""

import subprocess
import sys

import pytest

from perdure.plan.expr import ExpressionError, Reference, parse

SCOPE = {
    "inputs": {"url": "https://example.org", "n": 3, "none": None},
    "steps": {
        "a": {"output": {"items": [{"id": 7}, {"id": 8}], "odd key": 5, "": "empty", "in": 1, "é": 2}},
        "skipped": {"output": None},
    },
    "item": [[1, 2], [3]],
    "index": 0,
}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("inputs.url", "https://example.org"),
        ("inputs", SCOPE["inputs"]),
        ("inputs.none", None),
        ("index", 0),
        (" \t inputs.n\n ", 3),
        ("item[0][1]", 2),
        ("steps.a.output.items[0].id", 7),
        ('steps.a.output["odd key"]', 5),
        ("steps.a.output['odd key']", 5),
        ('steps.a.output[""]', "empty"),
        ('steps["a"].output.items[1]["id"]', 8),
        ('steps.a.output["in"]', 1),
        ('steps.a.output["é"]', 2),
        ("steps.?a.output.items[?0].id", 7),
        ("steps.?b", None),
        ("steps.?b.output", None),
        ("steps.?b.output.items[0].id", None),
        ("steps.a.output.?nothing", None),
        ("steps.a.output.items[?9]", None),
        ("steps.a.output.items[?9].id", None),
        ('steps.a.output[?"nothing"].x', None),
        ("steps.skipped.output.?n", None),
        ("steps.?skipped.output.n", None),
        ("steps.a.output.items.?x", None),
    ],
)
def test_a_path_is_looked_up(source, value):
    expression = parse(source)
    assert expression.is_path
    assert expression.evaluate(SCOPE) == value


@pytest.mark.parametrize(
    ("source", "message", "help_"),
    [
        ("steps.b.output", "steps.b has no value: steps has a, skipped", "write steps.?b if it may be missing"),
        ("steps.a.output.itms", "steps.a.output.itms has no value: steps.a.output has items, odd key, , in, é",
         'did you mean "items"?'),
        ("steps.a.output.items[2]", "steps.a.output.items[2] has no value: steps.a.output.items is a list of 2",
         "write steps.a.output.items[?2] if it may be missing"),
        ('steps.a.output["no key"].x', 'steps.a.output["no key"] has no value: steps.a.output has items, odd key, , in, é',
         'did you mean "odd key"?'),
        ("steps.a.output.items.id", "steps.a.output.items.id has no value: steps.a.output.items is a list of 2",
         "write steps.a.output.items.?id if it may be missing"),
        ("inputs.url.host", "inputs.url.host has no value: inputs.url is a text",
         "write inputs.url.?host if it may be missing"),
        ("inputs.url[0]", "inputs.url[0] has no value: inputs.url is a text",
         "write inputs.url[?0] if it may be missing"),
        ("inputs.n.x", "inputs.n.x has no value: inputs.n is a number", "write inputs.n.?x if it may be missing"),
        ("inputs.none.x", "inputs.none.x has no value: inputs.none is null",
         "write inputs.none.?x if it may be missing"),
        ("inputs[0]", "inputs[0] has no value: inputs has url, n, none", "write inputs[?0] if it may be missing"),
        ("run.id", "run has no value here", ""),
        ("steps.b.?output", "steps.b has no value: steps has a, skipped", "write steps.?b if it may be missing"),
        ("run.?id", "run has no value here", ""),
    ],
)  # fmt: skip
def test_what_is_not_there_is_an_error_that_says_what_is(source, message, help_):
    with pytest.raises(ExpressionError) as caught:
        parse(source).evaluate(SCOPE)
    assert (caught.value.code, caught.value.message, caught.value.help) == ("PRD1210", message, help_)


def test_at_most_ten_keys_are_told():
    keys = {f"key{n}": n for n in range(25)}
    with pytest.raises(ExpressionError) as caught:
        parse("inputs.zzz").evaluate({"inputs": keys})
    assert caught.value.message.endswith(
        "inputs has key0, key1, key2, key3, key4, key5, key6, key7, key8, key9 and 15 more"
    )


def test_the_message_is_one_short_line_whatever_the_keys_are():
    keys = {"a\nb": 1, "\ud800": 2, "x" * 100_000: 3}
    with pytest.raises(ExpressionError) as caught:
        parse("inputs.zzz").evaluate({"inputs": keys})
    assert caught.value.message.isprintable()
    assert len(caught.value.message.encode()) < 200


def test_a_path_tells_what_it_names():
    expression = parse('  steps.a.output.items[0]["odd key"].?x')
    assert expression.references == (Reference("steps", ("a", "output", "items", 0, "odd key", "x"), True, 2),)
    assert str(expression.references[0]) == 'steps.a.output.items[0]["odd key"].x'
    assert not parse("steps.a").references[0].optional


@pytest.mark.parametrize(
    ("source", "offset", "help_"),
    [
        ("inputz.url", 0, 'did you mean "inputs"?'),
        ("  step.a", 2, 'did you mean "steps"?'),
        ("nothing", 0, "write one of: inputs, steps, item, index, output, secrets, run, exit"),
        ("int", 0, "did you mean"),
    ],
)
def test_an_unknown_root_is_an_error_with_a_hint(source, offset, help_):
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    assert (caught.value.code, caught.value.offset) == ("PRD1209", offset)
    assert help_ in caught.value.help


@pytest.mark.parametrize("word", ["in", "true", "false", "null"])
def test_a_word_of_the_language_cannot_follow_a_dot(word):
    with pytest.raises(ExpressionError) as caught:
        parse(f"steps.a.{word}")
    assert (caught.value.code, caught.value.offset, caught.value.help) == ("PRD1201", 8, f'write ["{word}"]')


@pytest.mark.parametrize("source", ["true", "null", "steps.a[-1]", r'steps["a\"b"]', "steps.`a b`", "steps.a .b", "1"])
def test_more_than_a_plain_path_is_left_to_cel(source):
    assert not parse(source).is_path


def test_a_path_never_loads_cel():
    code = """
import sys
from perdure.plan.expr import fill, parse, template
scope = {"inputs": {"a": {"b": [1]}}}
assert parse("inputs.a.b[0]").evaluate(scope) == 1
assert parse("inputs.?x.y").evaluate(scope) is None
assert template("x ${inputs.a}").fill(scope) == 'x {"b":[1]}'
assert fill({"k": "${inputs.a.b}"}, scope) == {"k": [1]}
parse("inputs.a").check({"inputs.a": "object"}, "any")
assert "cel_expr_python" not in sys.modules
assert parse("1 == 1").evaluate({})
assert "cel_expr_python" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)

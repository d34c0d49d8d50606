"""Expressions that are more than a path: what they name, give and refuse."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.plan.expr import MAX_SOURCE, ROOTS, ExpressionError, parse

SCOPE = {
    "inputs": {"n": 3, "f": 2.5, "s": "abc", "yes": True, "none": None, "k": "a", "list": [1, 2, 3], "day": "2024-02-29T12:30:45Z"},
    "steps": {"a": {"output": {"items": [{"id": 7, "ok": True}, {"id": 8}], "by": {"x": 1}}}, "skipped": {"output": None}},
    "item": {"tags": ["new"]},
    "output": {"score": 0.9},
    "secrets": {"TOKEN": "hush"},
}  # fmt: skip


def value_of(source, scope=None):
    return parse(source).evaluate(SCOPE if scope is None else scope)


def error_of(source, scope=None):
    with pytest.raises(ExpressionError) as caught:
        value_of(source, scope)
    return caught.value


# ------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("inputs.n > 2", True),
        ("inputs.n > 2.5", True),
        ("inputs.n == 3.0", True),
        ("inputs.f * 2.0", 5.0),
        ("inputs.n + 1", 4),
        ("int(inputs.n) + int(inputs.list[0])", 4),
        ("-inputs.n % 2", -1),
        ("inputs.yes ? 'a' : 'b'", "a"),
        ("!inputs.yes || inputs.n == 3", True),
        ("inputs.none == null", True),
        ("size(inputs.list) == 3 && inputs.s.size() == 3", True),
        ("inputs.s.contains('b') && inputs.s.startsWith('a') && inputs.s.endsWith('c')", True),
        ("inputs.k in ['a', 'b']", True),
        ("'x' in steps.a.output.by", True),
        ("inputs.list.exists(i, i == 2)", True),
        ("inputs.list.all(i, i > 1)", False),
        ("inputs.list.exists_one(i, i > 2)", True),
        ("steps.a.output.items.exists(i, has(i.ok) && i.ok)", True),
        ("steps.a.output.by.exists(k, k == 'x')", True),
        ("has(steps.a.output.by)", True),
        ("has(steps.a.output.nothing)", False),
        ("has(steps.skipped.output.n)", False),
        ("steps.?b.output.n.orValue(5)", 5),
        ("steps.a.output.?by.x.orValue(5) + 1", 2),
        ("steps.?b.output.n.orValue(1) + 1", 2),
        ("steps.skipped.output.?n.hasValue()", False),
        ("steps.a.output.items[?5].hasValue()", False),
        ("steps.a.output.items.first().orValue({}).id", 7),
        ("steps.a.output.items.last().value().id", 8),
        ("steps[inputs.k].output.items[1].id", 8),
        ("steps.a.output.items[inputs.n - 2].id", 8),
        ("string(inputs.n) == '3' && double('1.5') == 1.5 && bool('true')", True),
        ("type(inputs.n) == int && type(inputs.s) == string", True),
        ("timestamp(inputs.day).getMonth()", 1),
        ("timestamp(inputs.day) + duration('24h') > timestamp('2024-03-01T00:00:00Z')", True),
        ("string(timestamp(inputs.day) - duration('1h'))", "2024-02-29T11:30:45Z"),
        ("[inputs.n, inputs.none, [inputs.s]]", [3, None, ["abc"]]),
        ("[?steps.?b, 1]", [1]),
        ("{'b': inputs.n, 'a': {'c': null}, ?'d': steps.?b}", {"a": {"c": None}, "b": 3}),
        ("{}", {}),
        ("null", None),
        ("steps.a.output", SCOPE["steps"]["a"]["output"]),
        ("true ? steps.a.output : inputs", SCOPE["steps"]["a"]["output"]),
        ("item.tags.exists(item, item == 'new')", True),
        ("['x'].exists(item, .item.tags[0] == 'new')", True),
        ("output.score >= 0.8", True),
        ("// why\ninputs.n", 3),
    ],
)  # fmt: skip
def test_cel_gives_a_value(source, value):
    given_ = value_of(source)
    assert (given_, type(given_)) == (value, type(value))


def test_the_keys_of_a_result_are_in_order_because_cel_keeps_none():
    code = """
from perdure.plan.expr import parse
value = parse("{'b': 1, 'a': 2, 'zz': 3, 'c': 4, ?'d': inputs.?m, 'e': inputs}").evaluate({"inputs": {"y": 1, "x": 2}})
print(list(value), list(value["e"]))
"""
    runs = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(4)}
    assert runs == {b"['a', 'b', 'c', 'e', 'zz'] ['x', 'y']\n"}


def test_only_what_is_named_is_looked_at():
    scope = {"inputs": {"n": 1, "huge": "x" * 5_000_000, "odd": {1, 2}}, "steps": {"a": {"output": object()}}}
    assert value_of("inputs.n == 1 && has(steps.a.output) && has(inputs.huge)", scope)


def test_a_path_with_a_default_is_a_lookup_however_large_the_value():
    huge = [{"n": n} for n in range(200_000)]
    assert value_of("steps.?a.output.orValue([])", {"steps": {"a": {"output": huge}}}) is huge
    assert value_of("steps.?a.output.orValue([])", {"steps": {}}) == []
    assert value_of("steps.?a.output.orValue({})", {"steps": {}}) == {}
    assert value_of("steps.?a.output.orValue(inputs.n)", {"steps": {}, "inputs": {"n": 1}}) == 1
    assert value_of("steps.?a.output.orValue('x')", {"steps": {"a": {"output": None}}}) is None
    assert error_of("steps.?a.output.orValue(inputs.n)", {"steps": {}, "inputs": {}}).code == "PRD1210"
    assert error_of("steps.a.?output.orValue(1)", {"steps": {}}).code == "PRD1210"


def test_null_results_leave_python_alone():
    before = sys.getrefcount(None)
    for _ in range(3000):
        value_of("[null, inputs.none, {'a': null}]")
    assert sys.getrefcount(None) > before - 1000


# ------------------------------------------------------------------------------- references


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("steps.a.output.items.exists(i, i.ok)", ["steps.a.output.items"]),
        ("steps[inputs.k].x == 1", ["steps", "inputs.k"]),
        ("steps.a.output == steps.a.output", ["steps.a.output"]),
        ("inputs.a[0].b[inputs.c[1]].d == 1", ["inputs.a[0].b", "inputs.c[1]"]),
        ("has(steps.a.output.n) && steps.?b.x.hasValue()", ["steps.a.output.n?", "steps.b.x?"]),
        ("item.exists(item, item.x == .item.y)", ["item", "item.y"]),
        ("inputs.l.all(i, inputs.m.exists(j, j == i && index > 0))", ["inputs.l", "inputs.m", "index"]),
        ("inputs.l.exists(steps, steps.a)", ["inputs.l"]),
        ("{inputs.k: [item, exit]}", ["inputs.k", "item", "exit"]),
        ("inputs[?'a b'].orValue(1)", ['inputs["a b"]?']),
        ("1 + 1 == 2", []),
        ("type(inputs.n) == int", ["inputs.n"]),
        ("steps.`a b`.c == 1", ['steps["a b"].c']),
        ("inputs.list[-1] == 1", ["inputs.list[-1]"]),
        ("(inputs.a ? steps.b : steps.c).d == 1", ["inputs.a", "steps.b", "steps.c"]),
    ],
)
def test_an_expression_names_the_longest_constant_paths(source, named):
    assert [str(each) + "?" * each.optional for each in parse(source).references] == named


def test_a_reference_knows_its_place():
    source = "1 == 1 &&\n  'é😀' != inputs.s && has(steps.a.b)"
    assert [source[each.offset :].split(".", maxsplit=1)[0] for each in parse(source).references] == ["inputs", "steps"]


# ------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("source", "code", "offset", "message", "help_"),
    [
        ("", "PRD1201", 0, "empty", ""),
        ("   ", "PRD1201", 0, "empty", ""),
        ("inputs.n +", "PRD1201", 10, "ends too early", ""),
        ("inputs.n ==\n ]", "PRD1201", 13, '"]" is not expected here', ""),
        ("'é😀' == ]", "PRD1201", 8, '"]" is not expected here', ""),
        ("inputs.n and true", "PRD1201", 9, '"and" is not expected here', "write &&"),
        ("not inputs.yes", "PRD1201", 4, "not expected", "write !"),
        ("inputs.n = 3", "PRD1201", 9, '"=" cannot be read here', "write =="),
        ("inputs.s === 'a'", "PRD1201", 11, "cannot be read", "write =="),
        ("inputs.s | upper", "PRD1201", 9, "cannot be read", "no filters"),
        ("inputs.?s ?? 1", "PRD1201", 11, "not expected", "orValue"),
        ("inputs?.s", "PRD1201", 9, "ends too early", ".?name"),
        ("${inputs.n} > 1", "PRD1201", 0, '"$" cannot be read here', "bare"),
        ("1 if inputs.yes else 2", "PRD1201", 2, "not expected", "?"),
        ("'\ud800'", "PRD1201", 1, "surrogate", ""),
        ("inputs.n == 99999999999999999999", "PRD1201", 12, "invalid int literal", ""),
        ("(" * 40 + "1" + ")" * 40, "PRD1201", 0, "nested too deep", "split"),
        ("1" + "+1" * 40, "PRD1201", 0, "nested too deep", "split"),
        ("inputs" + ".a" * 40 + " == 1", "PRD1201", 0, "nested too deep", "split"),
        ("1" + " " * MAX_SOURCE, "PRD1201", 0, "more than 4,096 characters", ""),
        ("inputs.list.map(i, i)", "PRD1206", 12, "map() is not available", "step kind map"),
        ("inputs.list.filter(i, i > 1)", "PRD1206", 12, "filter() is not available", "exists()"),
        ("inputs.s.matches('a+')", "PRD1206", 9, "matches() is not available", "contains()"),
        ("'a' + 'b'", "PRD1206", 4, "adds numbers only", "${a}${b}"),
        ("inputs.s + 'b'", "PRD1206", 9, "adds numbers only", "${a}${b}"),
        ("inputs.list + [1]", "PRD1206", 12, "adds numbers only", "[a, b]"),
        ("inputs.n + inputs.n", "PRD1206", 9, "has to know what it adds", "int(a) + int(b)"),
        ("inputs.list.exists(i, i + i == 2)", "PRD1206", 24, "has to know what it adds", "double(a)"),
        ("timestamp(0).getHours('Europe/Berlin')", "PRD1206", 21, "UTC", "leave out"),
        ("inputs.?a.optMap(x, [x, x])", "PRD1206", 10, "optMap", "orValue"),
        ("google.protobuf.Int64Value{value: 1}", "PRD1206", 0, "not available", "value itself"),
        ("has(inputs.a) || inputs['a\\x00b'] == 1", "PRD1206", 23, "U+0000", ""),
        ("1 > 'a'", "PRD1207", 2, "`>` cannot be used with an integer and a text", ""),
        ("size(inputs.s) > 2.5", "PRD1207", 15, "an integer and a decimal number", "double(a)"),
        ("inputs.yes ? 1 : 'a'", "PRD1207", 11, "`? :`", "dyn("),
        ("steps.?a == 1", "PRD1207", 9, "`==` cannot be used with an optional value", ".orValue("),
        ("steps.?a[0] == 1", "PRD1207", 0, "optional", ".orValue("),
        ("[steps.?a]", "PRD1207", 1, "optional", ".orValue("),
        ("{'a': dyn(steps.?a[0].b)}", "PRD1207", 10, "optional", ".orValue("),
        ("inputs.list.first()", "PRD1207", 0, "optional", ".orValue("),
        (
            "[?inputs.n]",
            "PRD1207",
            8,
            "an optional value is wanted here, not a value of unknown type",
            "leave out the ?",
        ),
        ("[1].x", "PRD1207", 3, "a list has no named parts", ""),
        ("'ab'.exists(c, true)", "PRD1207", 0, "a text cannot be gone through", ""),
        ("inputs.yes ? 1 2", "PRD1201", 15, '":" is missing here', ""),
        ("inputs.s == 'a", "PRD1201", 12, "cannot be read here", ""),
        ("has(inputs)", "PRD1201", 4, "has() argument must be a field selection", ""),
        ("len(inputs.s)", "PRD1209", 0, 'no function "len"', "write size()"),
        ("inputs.s.startWith('a')", "PRD1209", 9, 'no function "startWith"', 'did you mean "startsWith"?'),
        ("inputs.s.foo()", "PRD1209", 9, 'no function "foo"', ""),
        ("inputs.n == None", "PRD1209", 12, '"None" is unknown', "write null"),
        ("True", "PRD1209", 0, '"True" is unknown', "write true"),
        ("imputs.n == 1", "PRD1209", 0, '"imputs" is unknown', 'did you mean "inputs"?'),
        ("inputs.n == foo.bar", "PRD1209", 12, '"foo" is unknown', "write one of"),
        ("steps.fetch-it.output", "PRD1209", 12, '"it" is unknown', ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(source, code, offset, message, help_):
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    error = caught.value
    assert error.code == code
    assert message in error.message
    assert help_ in error.help
    assert error.offset == offset


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("inputs.n / 0", "PRD1210", "divided by zero"),
        ("inputs.n % 0", "PRD1210", "divided by zero"),
        ("inputs.n < inputs.s", "PRD1210", "`<` cannot be used with an integer and a text"),
        ("inputs.f + 1", "PRD1210", "`+` cannot be used with a decimal number and an integer"),
        ("inputs.s ? 1 : 2", "PRD1210", "condition before `?` is not true or false"),
        ("inputs.n.exists(i, true)", "PRD1210", "not a list or an object"),
        ("inputs.s && true", "PRD1210", "`&&`"),
        ("int('x')", "PRD1210", "cannot convert"),
        ("9223372036854775807 + 1", "PRD1210", "overflow"),
        ("steps.b.output == 1", "PRD1210", "steps.b has no value: steps has a, skipped"),
        ("steps.a.output.itms == 1", "PRD1210", "steps.a.output.itms has no value"),
        ("steps.a.output.items[5].id == 1", "PRD1210", "is a list of 2"),
        ("has(steps.b.output.n)", "PRD1210", "steps.b has no value"),
        ("inputs.n.x == 1", "PRD1210", "inputs.n is a number"),
        ("inputs.list[inputs.n]", "PRD1210", "no [3] in a list of 3"),
        ("inputs[inputs.s]", "PRD1210", 'no key "abc"'),
        ("run.id == 1", "PRD1210", "run has no value here"),
        ("inputs.?x.value()", "PRD1210", "missing"),
        ("inputs.list[inputs.s]", "PRD1210", "not a number"),
        ("inputs.n[inputs.n]", "PRD1210", "no parts"),
        ("inputs[secrets.TOKEN]", "PRD1210", "cannot be evaluated"),
        ("b'x'", "PRD1212", "not JSON"),
        ("timestamp(0)", "PRD1212", "not JSON"),
        ("[duration('1h')]", "PRD1212", "not JSON"),
        ("type(1)", "PRD1212", "not JSON"),
        ("{1: 2}", "PRD1212", "key that is not a text"),
        ("double('nan')", "PRD1212", "NaN"),
        ("[1.0 / 0.0]", "PRD1212", "NaN or Infinity"),
        ("dyn(9007199254740992)", "PRD1212", "2^53"),
    ],
)
def test_what_has_no_value_says_why(source, code, message):
    error = error_of(source)
    assert error.code == code
    assert message in error.message


def test_a_secret_is_in_no_message():
    error = error_of("inputs[secrets.TOKEN]")
    assert "hush" not in f"{error} {error.message} {error.help}"


def test_a_result_is_looked_at_to_the_last_safe_integer():
    assert value_of("9007199254740991") == 2**53 - 1
    assert value_of("inputs.n == 9223372036854775807", {"inputs": {"n": 2**63 - 1}})


# ------------------------------------------------------------------------------- properties

names = st.text(st.characters(codec="utf-8", exclude_characters="\"'\\\r\n\0"), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)


def paths_in(value, path="inputs"):
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from paths_in(inner, f'{path}["{key}"]' if isinstance(key, str) else f"{path}[{key}]")


def outcome(source, scope):
    try:
        return json.dumps(value_of(source, scope), sort_keys=True)
    except ExpressionError as error:
        return error.code, error.message, error.help


@settings(deadline=None)
@given(st.data(), values)
def test_a_path_and_cel_find_the_same(data, value):
    path = data.draw(st.sampled_from(list(paths_in(value))))
    path += data.draw(st.sampled_from(["", "", ".x", "[0]", '["é"].y', "[7]"]))
    assert parse(path).is_path
    assert not parse(f"dyn({path})").is_path
    assert outcome(path, {"inputs": value}) == outcome(f"dyn({path})", {"inputs": value})


@settings(deadline=None)
@given(st.data(), values)
def test_an_optional_path_and_cel_find_the_same(data, value):
    path = data.draw(st.sampled_from(list(paths_in(value)))).replace("[", "[?", 1)
    path += data.draw(st.sampled_from(["", ".x", "[0].?y", "[?7]", '["é"]']))
    if "?" in path:
        found, there = outcome(path, {"inputs": value}), outcome(f"dyn({path}.hasValue())", {"inputs": value})
        assert outcome(f"dyn({path}.orValue(null))", {"inputs": value}) == found
        assert there == found if isinstance(found, tuple) else found == "null" or there == "true"


WORDS = [
    *ROOTS, "inputs.a", "steps.b", "inputs.l", ".x", ".?x", "[0]", "[?0]", "['k']", "[item]", " ", "(", ")", "[", "]", "{", "}",
    ",", ":", "?", "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "!", "in", "true", "null", "1", "2.5", "'a'", '"b"',
    "'", '"', "r'", "b'x'", "'''", "\\", "//", "\n", "${", "$", "1u", "i", "x", "@", "`a b`", ".exists(i, ", ".all(x, ", "has(",
    "size(", "string(", "int(", "dyn(", "timestamp(", "type(", ".orValue(", ".hasValue()", ".first()", ".or(", "optional.of(",
    "optional.none()", ".contains(", ".startsWith(", ".map(", ".optMap(x, ", "é", "😀", "\x00", "\ud800",
]  # fmt: skip
sources = st.text(max_size=40) | st.lists(st.sampled_from(WORDS), max_size=14).map("".join)
FUZZED = {
    "inputs": {"a": 1, "l": [1, "a", None, {"x": [2]}], "x": None},
    "steps": {"b": {"x": {"k": 1}}},
    "item": "k",
    "index": 2,
}


@settings(deadline=None, max_examples=600)
@given(sources)
def test_any_text_is_read_or_refused(source):
    try:
        expression = parse(source)
        expression.check({"inputs.a": "integer", "inputs.l": "array"}, "bool")
        expression.evaluate(FUZZED)
    except ExpressionError as error:
        assert error.code in {"PRD1201", "PRD1206", "PRD1207", "PRD1209", "PRD1210", "PRD1211", "PRD1212"}
        assert error.message
        assert 0 <= error.offset <= len(source)

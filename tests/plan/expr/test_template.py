"""Texts with `${…}`: found, joined, kept, escaped; and values full of them."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.plan.expr import ExpressionError, fill, template, templates_in
from perdure.plan.expr.template import MAX_TEXT

SCOPE = {
    "inputs": {
        "n": 3, "f": 1.5, "s": "abc", "none": None, "yes": True, "list": [1, "é", None], "map": {"a": {"b": 1}},
        "evil": "${inputs.s} $${x} ${", "big": "x" * 1_000_000,
    },
    "item": [1, 2],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("plain", "plain"),
        ("$5 {a} $", "$5 {a} $"),
        ("n is ${inputs.n}!", "n is 3!"),
        ("${inputs.s}${inputs.s}", "abcabc"),
        ("${inputs.n} ${inputs.f} ${inputs.yes} ${inputs.none}", "3 1.5 true null"),
        ("${inputs.list}: ${inputs.map}", '[1,"é",null]: {"a":{"b":1}}'),
        (" ${inputs.n}", " 3"),
        ("${inputs.n}\n", "3\n"),
        ("$${inputs.n}", "${inputs.n}"),
        ("$$${inputs.n}", "$${inputs.n}"),
        ("$${a} ${inputs.n} $${b}", "${a} 3 ${b}"),
        ("${'$'}${inputs.n}", "$3"),
        ("${ inputs.n }.", "3."),
        ("${'}'}.", "}."),
        ('${"}" == \'"}\' ? 1 : 2}.', "2."),
        ("${{'a': {'b': inputs.n}}.a.b}.", "3."),
        ("${'''}'\n''' == '' ? 1 : 2}.", "2."),
        ('${"""}"""}.', "}."),
        (r"${'\'}'}.", "'}."),
        (r"${r'\}'}.", r"\}."),
        (r'${R"}"}.', "}."),
        ("${bytes('}') == b'}'}.", "true."),
        ("${inputs.n // a comment: }'\n}.", "3."),
        ("${['a', '{'].exists(x, x == '{')}.", "true."),
        ("${inputs.evil}!", "${inputs.s} $${x} ${!"),
        ("🙂${inputs.s}🙂", "🙂abc🙂"),
    ],
)
def test_texts_are_joined_by_us(text, value):
    assert template(text).fill(SCOPE) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${inputs.n}", 3),
        ("${ inputs.n }", 3),
        ("${inputs.none}", None),
        ("${inputs.list}", [1, "é", None]),
        ("${inputs.n > 2}", True),
        ("${inputs.evil}", "${inputs.s} $${x} ${"),
        ("${inputs.?x}", None),
    ],
)
def test_a_whole_reference_keeps_its_type(text, value):
    assert template(text).is_whole
    filled = template(text).fill(SCOPE)
    assert (filled, type(filled)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("${", "PRD1201", 0),
        ("ab ${inputs.n", "PRD1201", 3),
        ("${inputs.n} ${'}", "PRD1201", 14),
        ("${{}", "PRD1201", 0),
        ("${inputs.n // }", "PRD1201", 0),
        ("a ${}", "PRD1201", 4),
        ("a ${inputs.n +}", "PRD1201", 14),
        ("a $${ ${foo.bar}", "PRD1209", 8),
        ("a ${'x' + inputs.s}", "PRD1206", 8),
        ("${inputs." + "n" * 5000 + "}", "PRD1201", 0),
        ("${inputs.n}${inputs.none.\ud800}", "PRD1201", 25),
    ],
)
def test_what_cannot_be_read_says_where(text, code, offset):
    with pytest.raises(ExpressionError) as caught:
        template(text)
    assert (caught.value.code, caught.value.offset) == (code, offset)


def test_what_has_no_value_says_where():
    for _ in range(2):  # the second time the template is known already
        with pytest.raises(ExpressionError) as caught:
            template("n: ${inputs.n}, m: ${inputs.missing}").fill(SCOPE)
        assert (caught.value.code, caught.value.offset) == ("PRD1210", 21)


def test_a_template_tells_what_is_in_it():
    text = template("a ${inputs.n} b ${inputs.s.size()}")
    assert [(each.source, offset, each.is_path) for each, offset in text.expressions] == [
        ("inputs.n", 4, True),
        ("inputs.s.size()", 18, False),
    ]
    assert not text.is_whole
    assert not text.is_literal
    assert template("$${a}").is_literal
    assert text.source == "a ${inputs.n} b ${inputs.s.size()}"


def test_every_template_in_a_value_is_found_in_order():
    value = {"b": ["${inputs.n}", {"${inputs.n}": "x $${ y"}, "plain", 1], "a": ("${inputs.s}!", None)}
    assert [(path, each.source) for path, each in templates_in(value)] == [
        (("b", 0), "${inputs.n}"),
        (("b", 1, "${inputs.n}"), "x $${ y"),
        (("a", 0), "${inputs.s}!"),
    ]
    assert next(templates_in("${inputs.n}"))[0] == ()


def test_a_value_is_filled_and_left_as_it_was():
    value = {"a": ["${inputs.n}", {"k": "${inputs.list}", "${inputs.n}": "$${x}"}], "b": (1, "n${inputs.n}")}
    before = json.dumps(value)
    filled = fill(value, SCOPE)
    assert filled == {"a": [3, {"k": [1, "é", None], "${inputs.n}": "${x}"}], "b": [1, "n3"]}
    assert list(filled) == ["a", "b"]
    assert json.dumps(value) == before


def test_deep_values_need_no_stack():
    deep = leaf = []
    for _ in range(5000):
        leaf.append([])
        leaf = leaf[0]
    leaf.append("${inputs.n}")
    filled = fill(deep, SCOPE)
    ((path, _),) = templates_in(deep)
    assert len(path) == 5001
    for _ in range(5000):
        filled = filled[0]
    assert filled == [3]


def test_a_value_that_is_no_json_cannot_be_written_into_a_text():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({1, 2}, float("nan"), b"x", deep):
        with pytest.raises(ExpressionError) as caught:
            template("a ${inputs.x}").fill({"inputs": {"x": value}})
        assert caught.value.code == "PRD1212"


def test_texts_cannot_grow_without_end():
    half = "${inputs.big}" * (MAX_TEXT // 2_000_000 + 1)
    for value in (half + half, [half] * 3):
        with pytest.raises(ExpressionError) as caught:
            fill(value, SCOPE)
        assert caught.value.code == "PRD1211"
    assert len(fill(["${inputs.big}"] * 100, SCOPE)) == 100  # whole values are shared, not copied


@pytest.mark.parametrize(
    "text",
    [
        "$${" * 100_000,
        "${inputs.n}" * 20_000,
        "${'" + "'" * 50_000,
        "$" * 300_000,
        "{" * 300_000,
        "${{" * 50_000,
        '${"""' * 1000,
    ],
)
def test_reading_takes_time_in_proportion(text):
    started = time.process_time()
    try:
        template(text)
    except ExpressionError as error:
        assert error.code == "PRD1201"
    assert time.process_time() - started < 2


# ------------------------------------------------------------------------------- properties

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_a_value_without_templates_is_left_alone(value):
    if not any(True for _ in templates_or_not(value)):
        assert fill(value, {}) == value


def templates_or_not(value):
    try:
        yield from templates_in(value)
    except ExpressionError:
        yield


@given(values, st.text(), st.text())
def test_what_is_filled_in_stays_data(value, before, after):
    before, after = before.replace("$", "€"), after.replace("$", "€")
    for data in (value, "${inputs.x}", "$${", ["${inputs.x"], {"a": "${1 +}"}):
        scope = {"inputs": {"x": data}}
        written = (
            data
            if isinstance(data, str)
            else json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=True)
        )
        assert fill({"k": ["${inputs.x}"]}, scope) == {"k": [data]}
        if "Infinity" not in written:
            assert fill(f"{before} ${{inputs.x}} {after}", scope) == f"{before} {written} {after}"


@given(st.text())
def test_any_text_can_be_escaped(text):
    escaped = text.replace("${", "$${")
    if "$$$" not in escaped:
        assert fill(escaped, {}) == text


pieces = st.sampled_from(
    [
        "${",
        "$${",
        "}",
        "{",
        "'",
        '"',
        "'''",
        "\\",
        "r'",
        "//",
        "\n",
        "inputs.n",
        "$",
        " ",
        "a",
        "1",
        ".x",
        "é",
        "\ud800",
    ]
)


@settings(deadline=None, max_examples=500)
@given(st.text() | st.lists(pieces, max_size=12).map("".join))
def test_any_text_is_read_or_refused(text):
    try:
        template(text).fill(SCOPE)
    except ExpressionError as error:
        assert 0 <= error.offset <= len(text)

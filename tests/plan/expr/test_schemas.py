"""Types that are known before a run, and what they rule out."""

import subprocess
import sys

import pytest

from perdure.plan.expr import ExpressionError, parse

TYPES = {
    "inputs.count": "integer",
    "inputs.price": {"type": "number"},
    "inputs.name": {"type": "string"},
    "inputs.yes": "boolean",
    "inputs.tags": {"type": "array", "items": {"type": "string"}},
    "inputs.rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "inputs.any": {},
    "inputs.maybe": {"type": ["string", "null"]},
    "inputs.page": {"type": "object", "properties": {"title": {"type": "string"}, "odd key": {"type": "boolean"}}},
    "steps.draft.output": {"type": "object", "properties": {"email": {"type": "string"}, "n": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("inputs.yes", "bool"),
        ("inputs.any", "bool"),
        ("inputs.unknown", "bool"),
        ("inputs.maybe", "bool"),
        ("inputs.name", "text"),
        ("inputs.tags", "list"),
        ("inputs.tags[0]", "text"),
        ("inputs.page.title", "text"),
        ('inputs.page["odd key"]', "bool"),
        ("inputs.rows[0].n", "any"),
        ("inputs.page.unknown", "bool"),
        ("steps.draft.output.email", "text"),
        ("steps.?draft.output.email", "text"),
        ("inputs.count > 2", "bool"),
        ("inputs.count > 2.5", "bool"),
        ("inputs.price > 2", "bool"),
        ("inputs.price == inputs.count", "bool"),
        ("inputs.count in [1.5, 2.5]", "bool"),
        ("inputs.name == null", "bool"),
        ("steps.draft.output.n != null && steps.draft.output.n > 1", "bool"),
        ("has(inputs.count) && has(steps.draft.output.email)", "bool"),
        ("has(inputs.page.title) && inputs.page.title == 'a'", "bool"),
        ("inputs.tags.exists(t, t == inputs.name)", "bool"),
        ("inputs.rows.all(r, r.n > 1)", "bool"),
        ("inputs.?count.orValue(1) > 0", "bool"),
        ("inputs.any + 1 > 0", "bool"),
        ("inputs.yes ? inputs.name : 'x'", "text"),
        ("[inputs.name]", "list"),
        ("string(inputs.count)", "text"),
        ("[{'count': 'a'}].exists(inputs, inputs.count == 'a')", "bool"),
    ],
)
def test_what_fits_passes(source, want):
    parse(source).check(TYPES, want)


@pytest.mark.parametrize(
    ("source", "want", "message"),
    [
        ("inputs.count", "bool", "gives an integer where true or false is wanted"),
        ("inputs.name", "bool", "gives a text where true or false is wanted"),
        ("inputs.name", "list", "gives a text where a list is wanted"),
        ("inputs.tags", "text", "gives a list where a text is wanted"),
        ("inputs.page", "list", "gives an object where a list is wanted"),
        ("inputs.rows[0].n", "bool", "gives an integer where"),
        ("steps.draft.output.n", "text", "gives an integer where a text"),
        ("'yes'", "bool", "gives a text where true or false is wanted"),
        ("inputs.any + 1", "bool", "gives an integer where"),
        ("inputs.count == 1", "text", "gives true or false where a text"),
        ("inputs.name > 3", "any", "`>` cannot be used with a text and an integer"),
        ("inputs.count > 2.5 && inputs.name > 3", "any", "`>` cannot be used with a text and an integer"),
        ("inputs.count == 'a'", "any", "`==` cannot be used with an integer and a text"),
        ("inputs.name && inputs.yes", "any", "`&&` cannot be used with a text and true or false"),
        ("inputs.tags.exists(t, t == 1)", "any", "`==` cannot be used with a text and an integer"),
        ("inputs.count + 1.5", "any", "`+` cannot be used with an integer and a decimal number"),
        ("inputs.count in inputs.tags", "any", "`in` cannot be used with an integer and a list"),
        ("inputs.name.x == 1", "any", ""),
        ("size(inputs.count)", "any", "`size` cannot be used with an integer"),
        ("timestamp(inputs.name)", "any", "which is not JSON"),
    ],
)
def test_what_cannot_fit_is_found(source, want, message):
    with pytest.raises(ExpressionError) as caught:
        parse(source).check(TYPES, want)
    assert caught.value.code in ("PRD1207", "PRD1201")
    assert message in caught.value.message


def test_joining_a_known_text_is_left_out_as_ever():
    with pytest.raises(ExpressionError) as caught:
        parse("inputs.name + inputs.any").check(TYPES)
    assert caught.value.code == "PRD1206"


def test_nothing_known_rules_out_nothing():
    for source in ("inputs.count", "inputs.a > inputs.b", "inputs.l.exists(x, x)"):
        parse(source).check(want="bool")


def test_checking_a_path_does_not_load_cel():
    code = """
import sys
from perdure.plan.expr import ExpressionError, parse
try:
    parse("inputs.n").check({"inputs.n": "integer"}, "bool")
except ExpressionError as error:
    assert error.code == "PRD1207"
    assert "cel_expr_python" not in sys.modules
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)

"""Arguments that stand in a plan as they are: what their tool would refuse is told before anything runs."""

import subprocess
import sys

import pytest

from perdure.plan import Toolbox
from perdure.plan.reading import read_data, read_text

SHAPES = {
    "name": {"type": "string", "title": "Name"},
    "count": {"type": "integer", "minimum": 1},
    "plain": {"type": "integer"},
    "share": {"type": "number"},
    "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    "mode": {"enum": ["fast", "safe"], "type": "string"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "place": {"$ref": "#/$defs/Place"},
    "odd": {"type": "string", "pattern": "(["},
    "any": {},
}
PLACE = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
SCHEMA = {"type": "object", "properties": SHAPES, "$defs": {"Place": PLACE}, "minProperties": 9}
TOOLBOX = Toolbox.model_validate({"tools": {"a.b": {"inputs": SCHEMA}}})


def problems(**given):
    document = {"steps": [{"id": "first", "tool": "a.b"}, {"id": "go", "tool": "a.b", "with": given}]}
    return [each for each in read_data(document, toolbox=TOOLBOX).problems if each.severity == "error"]


@pytest.mark.parametrize(
    "given",
    [
        {"name": 5},
        {"name": None},
        {"name": ["a"]},
        {"count": "5"},
        {"count": 0},
        {"count": 1.5},
        {"count": True},
        {"plain": "five"},
        {"share": "half"},
        {"maybe": 5},
        {"mode": "slow"},
        {"tags": "a"},
        {"tags": ["a", 5]},
        {"place": {"x": "far"}},
        {"place": {}},
        {"plain": "$${five}"},
    ],
)
def test_a_literal_of_the_wrong_type_is_told_with_its_place(given):
    [found] = problems(**given)
    assert (found.code, found.path) == ("PRD1403", ("steps", 1, "with", *given))
    assert found.help
    assert '"a.b" does not take this as' in found.message


@pytest.mark.parametrize(
    "given",
    [
        {"name": "Ada", "count": 2, "plain": 3.0, "share": 1, "maybe": None, "mode": "safe", "tags": [], "any": [5]},
        {"maybe": "a", "place": {"x": 5}, "name": "$${five}"},
        {"count": "${steps.first.output}", "tags": ["${steps.first.output}", 5], "plain": "1${steps.first.output}"},
        {"odd": 5},  # nobody can say what it takes, so whoever runs it says
    ],
)
def test_what_fits_or_is_known_only_when_the_plan_runs_is_let_be(given):
    assert problems(**given) == []


def test_the_place_is_told_by_line_and_column():
    text = "steps:\n  - id: go\n    tool: a.b\n    with: {count: many}\n"
    [found] = read_text(text, toolbox=TOOLBOX).problems
    assert (found.line, found.column, str(found.code)) == (4, 19, "PRD1403")


def test_judges_alternates_and_undo_are_looked_at_too():
    judge = {"tool": "a.b", "with": {"name": 5}}
    step = {"id": "go", "tool": "a.b", "accept": [judge], "undo": judge, "alternates": [judge]}
    found = read_data({"steps": [step]}, toolbox=TOOLBOX).problems
    places = sorted(each.path[2] for each in found if each.code == "PRD1403")
    assert places == ["accept", "alternates", "undo"]


def test_plain_arguments_are_checked_without_what_takes_long_to_load():
    told = (
        "import sys; from perdure.plan import Toolbox; from perdure.plan.reading import read_text;"
        "box = Toolbox.model_validate({'tools': {'a.b': {'inputs': {'properties': {'n': {'type': 'string'}}}}}});"
        "print(read_text('steps: [{id: a, tool: a.b, with: {n: x}}]', toolbox=box).problems,"
        " 'jsonschema_rs' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"

"""E1: the JSON Schema says what people may write, so that editors and models can hold to it."""

from pathlib import Path

import jsonschema
import pytest

from perdure.plan.limits import Limits
from perdure.plan.reading.yaml_text import read_yaml
from perdure.plan.schema import plan_schema

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "plans").glob("*.yaml"))


@pytest.fixture(scope="module")
def validator():
    schema = plan_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid(path, validator):
    document, _ = read_yaml(path.read_text(encoding="utf-8"), Limits())
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize(
    "document",
    [
        {"steps": [{"id": "a", "tool": "x.y", "accept": ["output.ok"], "context": "all"}]},
        {"steps": [{"id": "a", "wait": "10m"}, {"id": "b", "wait": {"signal": "go"}}]},
        {"parallel": [{"id": "a", "tool": "x.y"}]},
        {"$schema": "perdure.json", "steps": [{"id": "a", "done": True}]},
    ],
)
def test_short_forms_are_valid(document, validator):
    assert validator.is_valid(document)


@pytest.mark.parametrize(
    "document",
    [
        {"steps": [{"id": "a"}]},
        {"steps": [{"id": "a-b", "tool": "x.y"}]},
        {"steps": [{"id": "a", "tool": "x.y", "agent": "b"}]},
        {"steps": [{"id": "a", "tool": "x.y", "retyr": {}}]},
        {"steps": []},
        {"goal": "x"},
        {"steps": [{"id": "a", "tool": "x.y"}], "parallel": [{"id": "b", "tool": "x.y"}]},
        {"perdure": 2, "steps": [{"id": "a", "tool": "x.y"}]},
    ],
)
def test_what_is_wrong_is_invalid(document, validator):
    assert not validator.is_valid(document)


def test_every_property_is_described():
    schema = plan_schema()
    holders = [schema, *schema["$defs"].values()]
    bare = [
        name
        for holder in holders
        for name, info in (holder.get("properties") or {}).items()
        if "description" not in info and "const" not in info
    ]
    assert bare == []

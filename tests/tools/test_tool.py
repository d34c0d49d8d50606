"""From a function to a tool: names, schemas, refusals."""

import inspect
import threading
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from perdure.core.calls import Call
from perdure.errors import PerdureError
from perdure.ports import Attempt
from perdure.tools import Context, ToolFailure, tool

CONTEXT = Context(Attempt("r", "s", 1, 1, "k", Call("tool", "a.b", {})))


class Place(BaseModel):
    city: str
    size: float = 0


@tool(name="place.find", repeat="keyed", limit=2, timeout=5)
def find(  # noqa: PLR0913  one of each sort
    place: Place, day: date, kind: Literal["a", "b"], near: tuple[int, int], schema: int = 3, *, context: Context
) -> list[Place]:
    """Find a place.

    Longer text.

    Args:
        place: What to look for,
            on two lines.
        day (date): When.

    Returns:
        nothing: of this matters
    """
    return [place, context, day, kind, near, schema]


def test_the_schema_comes_from_the_hints():
    facts = find.facts()
    assert facts.inputs["type"] == "object"
    assert facts.inputs["additionalProperties"] is False
    assert facts.inputs["required"] == ["place", "day", "kind", "near"]
    properties = facts.inputs["properties"]
    assert list(properties) == ["place", "day", "kind", "near", "schema"]
    assert properties["place"] == {"$ref": "#/$defs/Place", "description": "What to look for, on two lines."}
    assert properties["day"] == {"type": "string", "format": "date", "description": "When."}
    assert properties["kind"]["enum"] == ["a", "b"]
    assert properties["schema"] == {"type": "integer", "default": 3}
    assert facts.returns["items"] == {"$ref": "#/$defs/Place"}


def test_what_was_declared_is_kept_and_it_is_called_like_the_function():
    assert (find.name, find.repeat, find.limit, find.timeout, find.isolate) == ("place.find", "keyed", 2, 5, False)
    assert find.summary == "Find a place."
    assert find(1, 2, 3, 4, context=5) == [1, 5, 2, 3, 4, 3]
    assert next(iter(inspect.signature(find).parameters)) == "place"


@tool
def bare(anything) -> None:
    pass


def test_without_a_name_it_is_called_after_module_and_function():
    assert bare.name == "test_tool.bare"
    assert bare.repeat == "never"
    assert bare.facts().inputs["properties"] == {"anything": {}}
    assert bare.facts().returns == {"type": "null"}


@dataclass
class Odd:
    way: Path


@pytest.mark.parametrize(
    ("hint", "schema"), [(int, {"type": "integer"}), (Any, None), (object(), None), (Context, None)]
)
def test_what_is_returned_is_told_where_json_can_say_it(hint, schema):
    def function():
        pass

    function.__annotations__["return"] = hint
    if type(hint) is object:
        function.__annotations__.clear()
    assert tool(name="a.b")(function).facts().returns == schema


def test_arguments_are_read_strictly_but_as_json():
    given = {"place": {"city": "Bonn", "size": 2}, "day": "2024-02-29", "kind": "a", "near": [1, 2]}
    bound = find.bind(given, CONTEXT)
    assert bound == {"place": Place(city="Bonn", size=2), "day": date(2024, 2, 29), "kind": "a", "near": (1, 2), "context": CONTEXT}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"day": "2023-02-29"}, "day must be a date, as in 2024-02-29"),
        ({"near": [1]}, "near[1] is missing"),
        ({"near": [1, "2"]}, "near[1] must be a whole number"),
        ({"kind": "c"}, "kind must be 'a' or 'b'"),
        ({"place": {"city": 5}}, "place.city must be a text"),
        ({"schema": True}, "schema must be a whole number"),
        ({"schema": 1.5}, "schema must be a whole number"),
        ({"shcema": 1}, 'there is no argument "shcema" (did you mean "schema"?)'),
        ({"context": {}}, 'there is no argument "context"'),
        ({"day": object()}, "an argument is not JSON"),
        ({"place": {"city": "\ud800"}}, "an argument is not JSON"),
    ],
)
def test_what_does_not_fit_is_named(change, expected):
    given = {"place": {"city": "Bonn"}, "day": "2024-02-29", "kind": "a", "near": [1, 2], **change}
    with pytest.raises(ToolFailure) as caught:
        find.bind(given, CONTEXT)
    assert caught.value.failure.kind == "invalid"
    assert expected in caught.value.failure.message


def test_all_that_is_missing_is_named_and_there_is_an_end_to_it():
    with pytest.raises(ToolFailure) as caught:
        find.bind({"x": 1, "y": 2, "z": 3}, CONTEXT)
    message = caught.value.failure.message
    assert message.startswith('the argument "place" is missing; the argument "day" is missing')
    assert message.endswith("and 2 more")


def test_a_tool_cannot_change_what_it_was_given():
    @tool(name="a.b")
    def change(value: dict[str, Any], items: list[int] | None = None) -> None:
        value["x"] = items

    given = {"value": {"a": [1]}}
    bound = change.bind(given, CONTEXT)
    assert bound == given
    bound["value"]["a"].append(2)
    assert given == {"value": {"a": [1]}}


def test_bounds_of_pydantic_hold():
    @tool(name="a.b")
    def few(count: Annotated[int, Field(ge=1, le=3)]) -> None:
        pass

    assert few.facts().inputs["properties"]["count"] == {"type": "integer", "minimum": 1, "maximum": 3}
    with pytest.raises(ToolFailure, match="less than or equal to 3"):
        few.bind({"count": 4}, CONTEXT)


def generator():
    yield 1


async def async_generator():
    yield 1


@pytest.mark.parametrize(
    ("function", "options", "code", "word"),
    [
        (lambda: None, {"name": "words"}, "PRD5001", "words"),
        (lambda: None, {"name": "a b.c"}, "PRD5001", "a b.c"),
        (lambda: None, {"name": "a." + "b" * 200}, "PRD5001", "a.bbb"),
        (lambda: None, {"name": "a.b\n"}, "PRD5001", "a.b"),
        (lambda: None, {}, "PRD5001", "<lambda>"),
        (lambda *args: args, {"name": "a.b"}, "PRD5002", "*args"),
        (lambda **more: more, {"name": "a.b"}, "PRD5002", "**more"),
        (lambda a, /: a, {"name": "a.b"}, "PRD5002", "`a`"),
        (generator, {"name": "a.b"}, "PRD5002", "generator"),
        (async_generator, {"name": "a.b"}, "PRD5002", "generator"),
        (lambda: None, {"name": "a.b", "limit": 0}, "PRD5002", "limit"),
        (lambda: None, {"name": "a.b", "timeout": 0}, "PRD5002", "timeout"),
        (lambda: None, {"name": "a.b", "isolate": True}, "PRD5003", "a.b"),
    ],
)
def test_what_is_no_tool_is_refused(function, options, code, word):
    with pytest.raises(PerdureError) as caught:
        tool(**options)(function)
    assert caught.value.code == code
    assert word in caught.value.message
    assert caught.value.help


def test_hints_that_cannot_be_read_or_held_are_refused():
    def unknown(a: "Missing") -> None:  # noqa: F821
        pass

    def unholdable(a: object, b: type(threading)) -> None:
        pass

    def no_json(a: Odd, b: Context | int) -> None:
        pass

    for function, word in ((unknown, "Missing"), (unholdable, "module"), (no_json, "Context")):
        with pytest.raises(PerdureError) as caught:
            tool(name="a.b")(function)
        assert caught.value.code == "PRD5002"
        assert word in caught.value.message

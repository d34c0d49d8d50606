"""Tools for JSON values."""

import json
import re
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import from_json

from perdure.plan.raw import is_list, is_mapping
from perdure.tools.builtin.bounds import ITEMS, Items, Short, Text, refuse_long
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import tool


@tool(name="json.parse", repeat="safe", effects=())
async def parse(text: Text) -> Any:
    """The value that a JSON text stands for."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ToolFailure("invalid", f"the text is not JSON: {error}") from None


@tool(name="json.format", repeat="safe", effects=())
async def format_(value: Any, indent: Annotated[int, Field(ge=0, le=8)] = 0) -> str:
    """A value as JSON text.

    Args:
        indent: Blanks for each level; 0: all on one line.
    """
    text = json.dumps(value, indent=indent or None, ensure_ascii=False)
    refuse_long(len(text))
    return text


@tool(name="json.get", repeat="safe", effects=())
async def get(value: Any, path: Short) -> Any:
    """A part of a value.

    Args:
        path: Keys and positions from the outside in, as in `items.0.name` or `items[0].name`.
    """
    return _at(value, path)


@tool(name="json.merge", repeat="safe", effects=())
async def merge(values: Annotated[list[dict[str, Any]], Field(max_length=ITEMS)]) -> dict[str, Any]:
    """One object from many; where two have the same key, the later one wins."""
    return {key: inner for each in values for key, inner in each.items()}


@tool(name="json.pick", repeat="safe", effects=())
async def pick(value: dict[str, Any], keys: Annotated[list[str], Field(max_length=ITEMS)]) -> dict[str, Any]:
    """An object with some of its keys; a key that is not there is left out."""
    return {key: value[key] for key in keys if key in value}


@tool(name="json.length", repeat="safe", effects=())
async def length(value: list[Any] | dict[str, Any] | str) -> int:
    """How many items, keys or letters there are."""
    return len(value)


@tool(name="json.sort", repeat="safe", effects=())
async def sort(items: Items, by: Short = "") -> list[Any]:
    """The items in order; equal ones stay as they were.

    Args:
        items: Numbers, or texts, or values that have such a part.
        by: The path of the part that decides, as in `json.get`; empty: the item itself.
    """
    try:
        return sorted(items, key=lambda each: _at(each, by) if by else each)
    except TypeError:
        raise ToolFailure("invalid", "only numbers, or only texts, can be put in order") from None


def _at(value: Any, path: str) -> Any:
    found = value
    for word in re.sub(r"\[(\d+)\]", r".\1", path).removeprefix(".").split("."):
        if is_mapping(found) and word in found:
            found = found[word]
        elif is_list(found) and word.isdecimal() and int(word) < len(found):
            found = found[int(word)]
        else:
            raise ToolFailure("invalid", f'path: there is nothing at "{word}" of "{path}"{_there(found)}')
    return found


def _there(value: Any) -> str:
    if is_list(value):
        return f"; it is a list of {len(value)}"
    if not is_mapping(value):
        return "; it is a single value"
    return "; there are: " + ", ".join(list(value)[:10]) if value else "; it is an empty object"

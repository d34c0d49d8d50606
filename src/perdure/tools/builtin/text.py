"""Tools for texts."""

from typing import Annotated

from pydantic import Field

from perdure.tools.builtin.bounds import ITEMS, LETTERS, Text, refuse_long
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import tool


@tool(name="text.upper", repeat="safe", effects=())
async def upper(text: Text) -> str:
    """The text in capital letters."""
    return text.upper()


@tool(name="text.lower", repeat="safe", effects=())
async def lower(text: Text) -> str:
    """The text in small letters."""
    return text.lower()


@tool(name="text.trim", repeat="safe", effects=())
async def trim(text: Text) -> str:
    """The text without white space around it."""
    return text.strip()


@tool(name="text.words", repeat="safe", effects=())
async def words(text: Text) -> int:
    """How many words the text has."""
    return len(text.split())


@tool(name="text.lines", repeat="safe", effects=())
async def lines(text: Text) -> list[str]:
    """The lines of the text."""
    return text.splitlines()


@tool(name="text.split", repeat="safe", effects=())
async def split(text: Text, by: Text = "") -> list[str]:
    """The parts of the text.

    Args:
        by: What stands between the parts; empty: any white space.
    """
    return text.split(by or None)


@tool(name="text.join", repeat="safe", effects=())
async def join(parts: Annotated[list[Text], Field(max_length=ITEMS)], by: Text = "") -> str:
    """One text from many.

    Args:
        parts: The texts, in order.
        by: What to write between them.
    """
    refuse_long(sum(map(len, parts)) + len(by) * (len(parts) - 1))
    return by.join(parts)


@tool(name="text.replace", repeat="safe", effects=())
async def replace(text: Text, old: Text, new: Text) -> str:
    """The text with something else in the place of something.

    Args:
        old: What to look for, letter by letter; it is no pattern.
        new: What to write there, each time.
    """
    if not old:
        raise ToolFailure("invalid", "old: nothing to look for")
    refuse_long(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


@tool(name="text.truncate", repeat="safe", effects=())
async def truncate(text: Text, length: Annotated[int, Field(ge=1, le=LETTERS)]) -> str:
    """The text, cut with an ellipsis if it is too long.

    Args:
        length: The most letters, with the ellipsis.
    """
    return text if len(text) <= length else text[: length - 1] + "…"

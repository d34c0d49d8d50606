"""Tools that remember what runs have taught. Trouble with the memory is told in what they give, and stops no run."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from perdure.ports import JournalError, Memory
from perdure.tools.builtin.bounds import Short, Text
from perdure.tools.context import Context
from perdure.tools.tool import tool

LONGEST: Final = 20_000
"""Letters of a note."""
Note = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Kinds = Annotated[list[Literal["outcome", "lesson", "fact"]], Field(max_length=3)]


@tool(name="memory.note", repeat="keyed", effects=(), staged=False)
async def note(
    text: Note, context: Context, kind: Literal["lesson", "fact"] = "lesson", about: Short = ""
) -> dict[str, Any]:
    """Keeps a lesson or a fact for later runs, with the run and the step that it comes from.

    It stays when the run is taken back, or forgotten. The same call made again, after a crash, is the same note.

    Args:
        text: What later runs should know.
        kind: A `lesson` is about how to do things, a `fact` about how things are.
        about: What it is about, in words that somebody may look for.
    """
    of = f"m_{context.key}"
    memory = Memory(id=of, kind=kind, text=text, about=about, run=context.run, step=context.step, by="step")
    try:
        await context.memory.remember(memory)
    except JournalError as error:
        return {"noted": False, "id": "", "trouble": _told(error)}
    return {"noted": True, "id": memory.id, "trouble": ""}


@tool(name="memory.search", repeat="safe", effects=(), recalls=True)
async def search(
    query: Text, context: Context, limit: Annotated[int, Field(ge=1, le=50)] = 10, kinds: Kinds | None = None
) -> dict[str, Any]:
    """What earlier runs have taught: how they ended, and what their steps noted. The best comes first.

    Args:
        query: Any text; memories are found by its words.
        limit: How many at most.
        kinds: Only of these kinds: `outcome`, `lesson`, `fact`. Without it, of all.
    """
    try:
        found = await context.memory.search(query, kinds or (), limit)
    except JournalError as error:
        return {"found": [], "trouble": _told(error)}
    return {"found": [_shown(each) for each in found], "trouble": ""}


def _told(error: JournalError) -> str:
    return f"{error.code}: {error.message}"


def _shown(memory: Memory) -> dict[str, Any]:
    words = ("id", "kind", "text", "about", "run", "step", "by")
    return {**{word: getattr(memory, word) for word in words}, "at": _moment(memory.at)}


def _moment(at: int) -> str:
    try:
        return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""  # no calendar has it

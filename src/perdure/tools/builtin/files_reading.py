"""Tools that look at files: what is in them, which there are, and where something stands."""

import base64
import time
from typing import Annotated, Any, Final

from pydantic import Field, WithJsonSchema

from perdure.tools.builtin.bounds import Short
from perdure.tools.changes.looking import Looking
from perdure.tools.changes.text import Encoding, Text
from perdure.tools.changes.walking import Found, is_like
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import tool

Path = Annotated[str, Field(min_length=1, max_length=4096)]
Start = Annotated[str, Field(max_length=4096)]
_TEXT, _COUNT = {"type": "string"}, {"type": "integer"}
_READ: Final = {
    "type": "object",
    "properties": {
        "path": _TEXT, "digest": _TEXT, "size": _COUNT, "mode": _TEXT, "text": _TEXT, "base64": _TEXT,
        "first": _COUNT, "lines": _COUNT, "newlines": _TEXT, "mark": {"type": "boolean"}, "more": {"type": "boolean"},
    },
    "required": ["path", "digest", "size", "mode"],
}  # fmt: skip
Read = Annotated[dict[str, Any], WithJsonSchema(_READ)]
"""What is in a file. A planner sees from it that there is a `text` to hand on."""
LINES: Final = 2_000
LETTERS: Final = 200_000
"""Letters that one reading gives."""
WIDE: Final = 400
"""Letters of a line that is found."""
BYTES: Final = 256 * 1024 * 1024
"""Bytes that one search goes through."""
LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a file that is searched."""
SECONDS: Final = 20.0


@tool(name="files.read", repeat="safe", effects=["reads"], judges=True, staged=True)
def read(  # noqa: PLR0913  each word stands for itself in a plan
    path: Path,
    context: Context,
    *,
    first: Annotated[int, Field(ge=1)] = 1,
    lines: Annotated[int, Field(ge=1, le=100_000)] = LINES,
    encoding: Encoding = "utf-8",
    binary: bool = False,
) -> Read:
    """What is in a file: its text, or some lines of it.

    Args:
        path: From the workspace's root.
        first: The first line, from one.
        lines: How many at most.
        encoding: Of the text.
        binary: Give the bytes as `base64` instead.
    """
    with Looking(context) as looking:
        image, data = looking.file(path)
    about = {"path": path, "digest": image.digest, "size": image.size, "mode": f"{image.mode:04o}"}
    if binary:
        return {**about, "base64": base64.b64encode(data).decode()}
    text = Text.read(path, data, encoding)
    return {**about, **_pieces(text, first, lines)}


@tool(name="files.list", repeat="safe", effects=["reads"], judges=True, staged=True)
def list_(
    context: Context, path: Start = "", glob: Short = "**", most: Annotated[int, Field(ge=1, le=20_000)] = 1_000
) -> dict[str, Any]:
    """Which files there are. Links are shown, not followed; caches and version control are passed over.

    Args:
        path: The directory to begin in; empty: the whole workspace.
        glob: Which paths, from the workspace's root: `*` within a name, `**` for any number of directories.
        most: How many at most.
    """
    found: list[dict[str, Any]] = []
    with Looking(context) as looking:
        walk = looking.walk(path)
        for each in walk:
            context.raise_if_cancelled()
            if is_like(glob, each.path) and looking.may_see(each.path):
                found.append(_entry(each))
            if len(found) > most:
                break
    return {"entries": found[:most], "more": len(found) > most or walk.is_cut, "withheld": looking.withheld + walk.odd}


@tool(name="files.search", repeat="safe", effects=["reads"], judges=True, staged=True)
def search(  # noqa: PLR0913  each word stands for itself in a plan
    text: Annotated[str, Field(min_length=1, max_length=1_000)],
    context: Context,
    *,
    path: Start = "",
    glob: Short = "**",
    most: Annotated[int, Field(ge=1, le=5_000)] = 200,
    any_case: bool = False,
) -> dict[str, Any]:
    """Where a text stands in files. It is looked for letter by letter, within a line; it is no pattern.

    Args:
        text: What to look for.
        path: The directory to begin in; empty: the whole workspace.
        glob: In which files.
        most: How many lines at most.
        any_case: Whether capital and small letters are the same.
    """
    hunt = _Hunt(text.casefold() if any_case else text, most, folds=any_case)
    with Looking(context) as looking:
        walk = looking.walk(path)
        for each in walk:
            context.raise_if_cancelled()
            if hunt.is_over:
                break
            if each.kind == "file" and is_like(glob, each.path):
                hunt.look(looking, each)
    more = hunt.is_over or walk.is_cut
    return {"matches": hunt.found[:most], "files": hunt.files, "more": more, "withheld": looking.withheld + walk.odd}


class _Hunt:
    """One search, within its bounds."""

    def __init__(self, text: str, most: int, *, folds: bool) -> None:
        self._text: Final = text
        self._most: Final = most
        self._folds: Final = folds
        self._until: Final = time.monotonic() + SECONDS
        self._bytes = 0
        self.found: list[dict[str, Any]] = []
        self.files = 0

    @property
    def is_over(self) -> bool:
        """Whether it has found enough, or looked for long enough."""
        return len(self.found) > self._most or self._bytes > BYTES or time.monotonic() > self._until

    def look(self, looking: Looking, each: Found) -> None:
        """Go through a file, if it may be seen and is a text."""
        if each.status.st_size > LARGEST or not looking.may_see(each.path):
            return
        data = looking.bytes(each.path)
        self._bytes += len(data)
        try:
            self._go_through(each.path, data.decode())
        except UnicodeDecodeError:
            return
        self.files += 1

    def _go_through(self, path: str, text: str) -> None:
        if self._text not in (text.casefold() if self._folds else text):
            return
        for n, line in enumerate(text.split("\n"), 1):
            if self._text in (line.casefold() if self._folds else line) and len(self.found) <= self._most:
                self.found.append({"path": path, "line": n, "text": line.removesuffix("\r")[:WIDE]})


def _pieces(text: Text, first: int, lines: int) -> dict[str, Any]:
    whole = text.body.split("\n")
    count = len(whole) - (whole[-1] == "")
    if first > max(count, 1):
        raise ToolFailure("invalid", f"there is no line {first}; the file has {count}")
    given = "\n".join(whole[first - 1 : first - 1 + lines])
    shown = given if first - 1 + lines >= len(whole) else f"{given}\n"
    newline = "crlf" if text.crlf else "mixed" if text.is_mixed else "lf"
    cut = len(shown) > LETTERS
    return {
        "text": shown[:LETTERS], "first": first, "lines": count, "newlines": newline, "mark": text.mark,
        "more": cut or first - 1 + lines < count,
    }  # fmt: skip


def _entry(found: Found) -> dict[str, Any]:
    return {"path": found.path, "kind": found.kind, "size": found.status.st_size}

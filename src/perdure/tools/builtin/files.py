"""Tools that change files: exactly, all or nothing, never over somebody's save, and so that it can be taken back."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from perdure.tools.builtin.bounds import Text as Letters
from perdure.tools.builtin.files_reading import list_, read, search
from perdure.tools.changes import Desk, take_back
from perdure.tools.changes.drafting import PLAIN, RUNNABLE, Draft, from_base64
from perdure.tools.changes.editing import replaced
from perdure.tools.changes.images import Image
from perdure.tools.changes.patches import read_patch
from perdure.tools.changes.patching import apply, names_in
from perdure.tools.changes.paths import refuse_unplain
from perdure.tools.changes.text import Encoding, Text
from perdure.tools.changes.tree import Tree
from perdure.tools.changes.walking import all_below
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import tool

Path = Annotated[str, Field(min_length=1, max_length=4096)]
MANY: Final = 1_000
"""Files that one call names."""
Must = Literal["", "create", "replace"]


class Edit(BaseModel):
    """One replacement."""

    model_config = ConfigDict(extra="forbid")
    path: Path
    old: Letters = Field(description="What stands there, letter by letter; it occurs once.")
    new: Letters = Field(description="What shall stand there.")
    every: bool = Field(default=False, description="Replace it wherever it occurs.")


class Move(BaseModel):
    """One move."""

    model_config = ConfigDict(extra="forbid")
    path: Path
    to: Path


@tool(name="files.write", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def write(  # noqa: PLR0913  each word stands for itself in a plan
    path: Path,
    context: Context,
    *,
    text: Letters | None = None,
    base64: Letters | None = None,
    must: Must = "",
    expect: str = "",
    executable: bool | None = None,
    encoding: Encoding = "utf-8",
) -> dict[str, Any]:
    """Writes a whole file, of `text` or of `base64`. A text keeps the newlines and the byte order mark of the old file.

    Args:
        path: From the workspace's root; directories on the way are made.
        text: What the file shall hold; `""` for an empty one. Left out: `base64` is given.
        base64: What it shall hold, if that is no text. Left out: `text` is given.
        must: `create`: only if there is nothing yet; `replace`: only if there is a file.
        expect: The digest that `files.read` gave; if the file is another by now, nothing is written.
        executable: Whether it may be run; left out: as it was.
        encoding: Of the text.
    """
    _refuse_unsaid(text, base64)
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        draft = Draft(desk, path)
        old = draft.image(path)
        _refuse_unexpected(path, old, must, expect)
        data = from_base64(base64) if base64 else _fitted(draft, path, old, text or "", encoding)
        draft.write(path, data, _mode(old, executable))
        return desk.carry_out(draft.changes())


@tool(name="files.edit", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def edit(
    edits: Annotated[list[Edit], Field(min_length=1, max_length=MANY)], context: Context, encoding: Encoding = "utf-8"
) -> dict[str, Any]:
    """Replaces pieces of text in files. Each piece occurs exactly once, or nothing is changed at all.

    Args:
        edits: In order; several may be about one file.
        encoding: Of all the files.
    """
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        draft = Draft(desk, *(each.path for each in edits))
        for each in edits:
            text = draft.text(each.path, encoding)
            old, new = text.fitted(each.old), text.fitted(each.new)
            draft.write(each.path, text.data(replaced(each.path, text.body, old, new, every=each.every)))
        return desk.carry_out(draft.changes())


@tool(name="files.patch", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def patch(patch: Letters, context: Context, encoding: Encoding = "utf-8") -> dict[str, Any]:
    """Applies a patch to many files: all of it, or nothing.

    Args:
        patch: Either `*** Begin Patch` … `*** End Patch` (V4A), or a unified diff as of `git diff`.
        encoding: Of all the files.
    """
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        found = read_patch(patch)
        draft = Draft(desk, *names_in(found))
        for each in found:
            apply(draft, each, encoding)
        return desk.carry_out(draft.changes())


@tool(name="files.move", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def move(moves: Annotated[list[Move], Field(min_length=1, max_length=MANY)], context: Context) -> dict[str, Any]:
    """Gives files other names. Nothing is overwritten; directories on the way are made.

    Args:
        moves: In order. A directory moves with all that is in it.
    """
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        pairs = [pair for each in moves for pair in _pairs(desk.tree, each)]
        draft = Draft(desk, *(name for pair in pairs for name in pair))
        for old, new in pairs:
            draft.rename(old, new)
        return desk.carry_out(draft.changes())


@tool(name="files.delete", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def delete(paths: Annotated[list[Path], Field(min_length=1, max_length=MANY)], context: Context) -> dict[str, Any]:
    """Removes files, links and directories. What they held is kept, so that it can be taken back.

    Args:
        paths: A directory goes with all that is in it.
    """
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        for path in paths:
            refuse_unplain(path)
        draft = Draft(desk, *(each for path in paths for each in (path, *all_below(desk.tree, path))))
        for path in paths:
            if draft.image(path) is None:
                draft.file(path)  # says what is near
        for path in draft.paths:
            draft.set(path, None)
        return desk.carry_out(draft.changes())


# ------------------------------------------------------------------------------- writing


def _refuse_unsaid(text: str | None, base64: str | None) -> None:
    """A word that was forgotten must not empty a file."""
    if text is None and base64 is None:
        raise ToolFailure("invalid", 'say what the file shall hold: `text` or `base64`; `text: ""` is an empty file')
    if text and base64:
        raise ToolFailure("invalid", "`text` and `base64` are both given; leave one of them out")


def _refuse_unexpected(path: str, old: Image | None, must: Must, expect: str) -> None:
    if must == "create" and old is not None:
        raise ToolFailure("logic", f"{path} is there already; it is a {old.kind} of {old.size:,} bytes")
    if must == "replace" and old is None:
        raise ToolFailure("logic", f"there is no file {path} to replace")
    if expect and expect != (old.digest if old else ""):
        raise ToolFailure("logic", f"{path} was changed since it was read; read it again, nothing was written")


def _fitted(draft: Draft, path: str, old: Image | None, text: str, encoding: Encoding) -> bytes:
    """The text with newlines and mark as in the file that it replaces, if that is a text too."""
    if old is None:
        return Text(text, encoding).data(text)
    try:
        was = draft.text(path, encoding)
    except ToolFailure:
        return Text(text, encoding).data(text)
    return was.data(was.fitted(text).removeprefix("\ufeff"))


def _mode(old: Image | None, executable: bool | None) -> int | None:  # noqa: FBT001  as the plan says it
    if executable is None:
        return None
    kept = old.mode if old is not None else PLAIN
    return kept | (RUNNABLE & 0o111) if executable else kept & ~0o111


def _pairs(tree: Tree, each: Move) -> list[tuple[str, str]]:
    """Old and new names, a directory before what is in it."""
    refuse_unplain(each.path)
    if each.to == each.path or each.to.startswith(f"{each.path}/"):
        raise ToolFailure("invalid", f"{each.path} cannot be moved to {each.to}, which is itself or inside it")
    below = all_below(tree, each.path)
    return [(each.path, each.to), *((old, each.to + old.removeprefix(each.path)) for old in below)]


FILES: Final = (read, list_, search, write, edit, patch, move, delete)
"""The tools for files."""

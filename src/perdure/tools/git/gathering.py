"""What became of a commit on the copy of a branch, as a tree of git: what changed there, on top of a parent.

Only files are looked at that git would not ignore, however much else has come to lie there.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from perdure.tools.branches.branch import Base, base_of, inside, named, place_of
from perdure.tools.changes import Image
from perdure.tools.changes.tree import Tree
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.desk import Desk
from perdure.tools.git.names import readable
from perdure.tools.git.repository import Repository
from perdure.tools.git.snapshot import (
    MOST,
    Change,
    Snapshot,
    bring,
    changes_between,
    check_reading,
    known_to,
    put,
    refuse_converted,
    refuse_unmatched,
    refuse_unnamable,
)
from perdure.tools.scratch import scratch

FILTERS: Final = ("filter",)
"""Attributes that say that git keeps something else. An encoding is of working trees; a copy has what git keeps."""
_SUBMODULE: Final = b"160000"
_IGNORED: Final = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
"""Directories of which all is ignored are not looked into."""


class Copy(NamedTuple):
    """The copy of a branch that was opened from a commit."""

    root: Path
    commit: str
    base: Base
    """What it was in the beginning."""


class Upon(NamedTuple):
    """What a commit of a copy is put upon, and how much of the copy."""

    parent: str
    ground: str
    """What the first of the copy's commits was put upon that lead to the parent."""
    paths: Sequence[str] = ()
    certain: Sequence[str] = ()
    """Those that have to match something."""


def copy_of(context: Context, name: str) -> Copy:
    """The copy of a branch of this run. `ToolFailure` if there is none, or it is of no commit."""
    hands = context.hands
    branch = named(hands, context.run, name)
    if not branch.commit:
        hint = "open the branch with `commit: HEAD`, or bring it into the workspace with `branch.place`"
        raise ToolFailure("invalid", f"the branch {name!r} is no copy of a commit: {hint}")
    return Copy(inside(hands, name).workspace, branch.commit, base_of(place_of(hands, name)))


def _changed(context: Context, copy: Copy, names: Iterable[bytes]) -> dict[bytes, bool]:
    """Those that are others than in the commit, and whether they are there."""
    found: dict[bytes, bool] = {}
    with closing(Tree(copy.root)) as tree:
        for name in names:
            context.raise_if_cancelled()
            path = os.fsdecode(name)
            now = _kept(_image(tree, path))
            if now != _kept(copy.base.get(path)):
                found[name] = now is not None
    return found


def _image(tree: Tree, path: str) -> Image | None:
    with suppress(ToolFailure):  # it is no file, or lies behind a link: there is nothing for git
        return tree.image(path)
    return None


def _kept(image: Image | None) -> tuple[str, str, int] | None:
    """What git keeps of something; of directories, nothing."""
    if image is None or image.kind == "directory":
        return None
    return image.kind, image.digest, image.mode & 0o100


async def gathered(draft: Repository, desk: Desk, context: Context, upon: Upon, copy: Copy) -> Snapshot:
    """The parent's tree with the copy's version of what was changed there.

    What earlier commits of the copy have changed, and the copy has no longer changed, is as it was before them.
    """
    parent, ground, paths, certain = upon
    await draft.ask("read-tree", parent)
    known = sorted({*await known_to(draft, copy.commit, *paths)})
    await refuse_unmatched(draft, copy.commit, certain)
    await _refuse_in_submodules(draft, copy)
    changed = await asyncio.to_thread(_changed, context, copy, known)
    names = list(changed)
    if len(names) > MOST:
        raise ToolFailure("invalid", f"{len(names):,} files were changed; name at most {MOST:,} by `paths`")
    back = _back(await changes_between(draft, parent, ground), frozenset(known), changed)
    check_reading(context, [*names, *(each.path for each in back)])
    await refuse_converted(draft, [each for each in names if changed[each]], FILTERS)
    await put(draft, desk, names)
    await bring(draft, back)
    tree = await draft.line("write-tree")
    return Snapshot(tree, await changes_between(draft, parent, tree))


async def state_of(repository: Repository, context: Context, copy: Copy) -> dict[str, Any]:
    """What a commit of the copy would hold, and what lies there that git would leave out.

    What would not be committed is refused here already: before anything is on a branch.
    """
    with scratch() as place:
        draft = repository.seen_in(copy.root).drafting(place, {"GIT_INDEX_FILE": str(place / "index")})
        await draft.ask("read-tree", copy.commit)
        known = sorted({*await known_to(draft, copy.commit)})
        said = (await draft.ask(*_IGNORED, cut=True)).out.split(b"\0")[:-1]
        changed = await asyncio.to_thread(_changed, context, copy, known)
        await _refuse_in_submodules(draft, copy)
        await refuse_converted(draft, [each for each in changed if changed[each]], FILTERS)
        await refuse_unnamable(draft, [each for each in changed if changed[each]], copy.commit)
    files = [{"path": readable(each), "state": _state(copy, each, changed[each])} for each in changed]
    ignored = [readable(each).removesuffix("/") for each in said]
    return {
        "branch": None,
        "commit": copy.commit,
        "clean": not files,
        "files": [*files, *({"path": each, "state": "ignored"} for each in ignored)][:MOST],
        "count": len(files) + len(ignored),
        "ignored": ignored[:MOST],
    }


def _state(copy: Copy, name: bytes, is_there: bool) -> str:  # noqa: FBT001  as it was found
    if not is_there:
        return "deleted"
    return "modified" if os.fsdecode(name) in copy.base else "untracked"


def _back(since: Sequence[Change], known: frozenset[bytes], changed: Mapping[bytes, bool]) -> list[Change]:
    """What was changed by earlier commits, and is no longer."""
    return [each for each in since if each.path in known and each.path not in changed]


async def _refuse_in_submodules(draft: Repository, copy: Copy) -> None:
    """A submodule is not in the copy, so that whatever stands in its place was not meant to take it away."""
    rows = (await draft.ask("ls-files", "-z", "--stage")).out.split(b"\0")[:-1]
    for place in (row.partition(b"\t")[2] for row in rows if row.startswith(_SUBMODULE)):
        if _is_taken(copy.root / os.fsdecode(place)):
            told = f"{readable(place)} is a submodule, which is not in the copy, and something was written there"
            raise ToolFailure("unmet", f"{told}; write it elsewhere")


def _is_taken(place: Path) -> bool:
    """Whether something stands there; an empty directory is nothing to git."""
    return os.path.lexists(place) and (place.is_symlink() or not place.is_dir() or any(place.iterdir()))

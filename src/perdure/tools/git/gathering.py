"""What became of a commit on the copy of a branch, as a tree of git: what changed there, on top of a parent."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from perdure.tools.branches.branch import base_of, inside, named, place_of
from perdure.tools.branches.placing import images_in
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
)

FILTERS: Final = ("filter",)
"""Attributes that say that git keeps something else. An encoding is of working trees; a copy has what git keeps."""
_SUBMODULE: Final = b"160000"


class Copy(NamedTuple):
    """The copy of a branch that was opened from a commit."""

    root: Path
    commit: str
    changed: Mapping[bytes, bool]
    """Names of files that are others than in the commit, and whether they are there."""


class Upon(NamedTuple):
    """What a commit of a copy is put upon, and how much of the copy."""

    parent: str
    ground: str
    """What the first of the copy's commits was put upon that lead to the parent."""
    paths: Sequence[str] = ()


def copy_of(context: Context, name: str) -> Copy:
    """The copy of a branch of this run. `ToolFailure` if there is none, or it is of no commit."""
    hands = context.hands
    branch = named(hands, context.run, name)
    if not branch.commit:
        hint = "open the branch with `commit: HEAD`, or bring it into the workspace with `branch.place`"
        raise ToolFailure("invalid", f"the branch {name!r} is no copy of a commit: {hint}")
    base, own = base_of(place_of(hands, name)), inside(hands, name)
    with closing(Tree(own.workspace)) as tree:
        now = images_in(context, tree, own)
    names = sorted(each for each in base.keys() | now.keys() if _kept(base.get(each)) != _kept(now.get(each)))
    return Copy(own.workspace, branch.commit, {each.encode(): _kept(now.get(each)) is not None for each in names})


def _kept(image: Image | None) -> tuple[str, str, int] | None:
    """What git keeps of something; of directories, nothing."""
    if image is None or image.kind == "directory":
        return None
    return image.kind, image.digest, image.mode & 0o100


async def gathered(draft: Repository, desk: Desk, context: Context, upon: Upon, copy: Copy) -> Snapshot:
    """The parent's tree with the copy's version of what was changed there.

    What earlier commits of the copy have changed, and the copy has no longer changed, is as it was before them.
    """
    parent, ground, paths = upon
    await draft.ask("read-tree", parent)
    known = frozenset(await known_to(draft, copy.commit, *paths))
    await refuse_unmatched(draft, copy.commit, paths)
    await _refuse_in_submodules(draft, copy)
    names = [each for each in copy.changed if each in known]
    if len(names) > MOST:
        raise ToolFailure("invalid", f"{len(names):,} files were changed; name at most {MOST:,} by `paths`")
    back = [each for each in await changes_between(draft, parent, ground) if _is_back(each, copy, known)]
    check_reading(context, [*names, *(each.path for each in back)])
    await refuse_converted(draft, [each for each in names if copy.changed[each]], FILTERS)
    await put(draft, desk, names)
    await bring(draft, back)
    tree = await draft.line("write-tree")
    return Snapshot(tree, await changes_between(draft, parent, tree))


def _is_back(change: Change, copy: Copy, known: frozenset[bytes]) -> bool:
    return change.path in known and change.path not in copy.changed


async def _refuse_in_submodules(draft: Repository, copy: Copy) -> None:
    """A submodule is not in the copy, so that whatever stands in its place was not meant to take it away."""
    rows = (await draft.ask("ls-files", "-z", "--stage")).out.split(b"\0")[:-1]
    for place in (row.partition(b"\t")[2] for row in rows if row.startswith(_SUBMODULE)):
        if found := [each for each in copy.changed if each == place or each.startswith(place + b"/")]:
            told = f"{readable(found[0])} stands where {readable(place)} is a submodule, which is not in the copy"
            raise ToolFailure("unmet", f"{told}; write it elsewhere")

"""What a working tree looks like now, as a tree of git. The user's index is copied, never written.

The files are read by us and hashed as they are: no filter, no conversion, so a commit holds the bytes that are there.
"""

import asyncio
import os
import shutil
from collections.abc import Sequence
from typing import Final, NamedTuple

from perdure.core.policy import Deed
from perdure.plan.problems import did_you_mean
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.desk import Desk
from perdure.tools.git.names import SPEC, readable
from perdure.tools.git.reading import read_into
from perdure.tools.git.refusing import ABSENT, CONFIG, refusal
from perdure.tools.git.repository import Repository

MOST: Final = 20_000
"""Files of one commit."""
CONVERTED: Final = ("filter", "working-tree-encoding")
"""Attributes by which git keeps something else than the bytes of a file."""
_PASSED_OVER: Final = "Ignoring path "
WORDS: Final = {"A": "added", "D": "deleted", "M": "modified", "T": "modified"}


class Change(NamedTuple):
    """A file that differs between two trees."""

    path: bytes
    how: str
    """`added`, `deleted` or `modified`."""
    mode: str
    id: str

    @property
    def told(self) -> dict[str, str]:
        """For people and plans."""
        return {"path": readable(self.path), "change": self.how}


Asked = tuple[Sequence[str], Sequence[str]]
"""The paths that are wanted, none for all; and those of them that have to match something."""


class Snapshot(NamedTuple):
    """A tree, and what is different in it."""

    tree: str
    changes: list[Change]


async def snapshot_of(draft: Repository, desk: Desk, parent: str, asked: Asked, context: Context) -> Snapshot:
    """The tree of a commit with what is in the working tree, or with some of its paths on top of its parent."""
    paths, certain = asked
    old = parent or await draft.line("mktree")
    names = await _touched(draft, desk, paths)
    await refuse_unmatched(draft, parent, certain)
    check_reading(context, names)
    await refuse_converted(draft, names)
    await put(draft, desk, names)
    now = await draft.line("write-tree")
    changes = await changes_between(draft, old, now, paths)
    check_reading(context, [each.path for each in changes])
    if paths:
        now = await _on_top(draft, old, changes)
    return Snapshot(now, changes)


async def _touched(draft: Repository, desk: Desk, paths: Sequence[str]) -> list[bytes]:
    """Names of files that are not as the index has them, and of files it does not have."""
    if (index := draft.layout.own / "index").exists():
        await asyncio.to_thread(shutil.copyfile, index, desk.index)
    words = ("diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all", "--", *paths)
    said = (await draft.ask(*words)).out.split(b"\0")[:-1]
    states = list(zip(said[1::2], said[::2], strict=True))  # one that is unmerged may be named twice
    if unmerged := [name for name, state in states if state == b"U"]:
        raise ToolFailure("unmet", f"{readable(unmerged[0])} is in the middle of a merge; settle that first")
    others = ("ls-files", "-z", "--others", "--exclude-standard", "--", *paths)
    found = (await draft.ask(*others)).out.split(b"\0")[:-1]
    names = sorted({*(name for name, _ in states), *(each for each in found if not each.endswith(b"/"))})
    if len(names) > MOST:
        raise ToolFailure("invalid", f"{len(names):,} files are not in the index; name at most {MOST:,} by `paths`")
    return names


async def refuse_unmatched(draft: Repository, parent: str, paths: Sequence[str]) -> None:
    """A path that is nowhere was meant otherwise; a commit without it would look like all of it."""
    for path in paths:
        name = path.removeprefix(SPEC)
        if not _is_there(draft, name) and not await known_to(draft, parent, path):
            known = map(readable, await known_to(draft, parent))
            hint = did_you_mean(name, known) or "write it from the root of the workspace, as in src/**/*.py"
            raise refusal(ABSENT, "invalid", f"nothing is committed: {name!a} matches no file; {hint}", path=name)


def _is_there(draft: Repository, name: str) -> bool:
    return os.path.lexists(draft.root / name)


async def known_to(draft: Repository, parent: str, *paths: str) -> list[bytes]:
    """Files of the index, of the parent, and those that are new; not those that are ignored."""
    beside = [f"--with-tree={parent}"] if parent else []
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", *beside, "--", *paths)
    return (await draft.ask(*words, cut=True)).out.split(b"\0")[:-1]


def check_reading(context: Context, names: Sequence[bytes]) -> None:
    """Go on only if these files may be read."""
    context.guard.check(Deed("read", readable(each)) for each in names)


async def refuse_converted(draft: Repository, names: Sequence[bytes], attributes: Sequence[str] = CONVERTED) -> None:
    """What a filter keeps elsewhere cannot be committed as it is: others would get something else."""
    if not names:
        return
    words = ("check-attr", "-z", "--stdin", *attributes)
    said = (await draft.ask(*words, given=b"\0".join([*names, b""]))).out.split(b"\0")[:-1]
    for name, attribute, value in zip(said[::3], said[1::3], said[2::3], strict=True):
        if value not in (b"unspecified", b"unset", b""):
            told = f"{readable(name)} goes through {readable(attribute)}={readable(value)}, which is not run here"
            raise refusal(CONFIG, "unmet", f"{told}; commit it yourself, or leave it out of `paths`")


async def put(draft: Repository, desk: Desk, names: Sequence[bytes]) -> None:
    """Bring the desk's index up to the working tree."""
    copies = [desk.files / str(n) for n in range(len(names))]
    read = await asyncio.to_thread(
        lambda: [read_into(draft.root, name, copy) for name, copy in zip(names, copies, strict=True)]
    )
    there = [each for each in read if each]
    ids = iter(await _hashed(draft, [os.fsencode(each.copy) for each in there]))
    is_blind = draft.settings.get("core.filemode") == "false" and not draft.copy
    fixed = await _modes(draft) if is_blind else {}
    found = list(zip(names, read, strict=True))
    gone = [_line("0", draft.no_id, name) for name, each in found if not each]
    there = [_line(fixed.get(name, each.mode), next(ids), name) for name, each in found if each]
    await _index(draft, [*gone, *there])


async def bring(draft: Repository, changes: Sequence[Change]) -> None:
    """Have the desk's index hold what these changes lead to."""
    gone = [_line("0", draft.no_id, each.path) for each in changes if each.how == "deleted"]
    there = [_line(each.mode, each.id, each.path) for each in changes if each.how != "deleted"]
    await _index(draft, [*gone, *there])


async def _modes(draft: Repository) -> dict[bytes, str]:
    """Where the file system cannot say what is executable, the index does."""
    rows = (await draft.ask("ls-files", "-z", "--stage")).out.split(b"\0")[:-1]
    return {row.partition(b"\t")[2]: row[:6].decode() for row in rows}


async def _hashed(draft: Repository, files: Sequence[bytes]) -> list[str]:
    if not files:
        return []
    words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    said = await draft.ask(*words, given=b"\n".join([*files, b""]))
    return said.out.decode().split()


def _line(mode: str, found: str, name: bytes) -> bytes:
    return f"{mode} {found}\t".encode() + name + b"\0"


async def refuse_unnamable(draft: Repository, names: Sequence[bytes], some: str) -> None:
    """What git would pass over because of its name cannot be committed. `some` is any id: nobody looks it up."""
    await _index(draft, [_line("100644", some, each) for each in names])


async def _index(draft: Repository, lines: Sequence[bytes]) -> None:
    if not lines:
        return
    said = await draft.ask("update-index", "-z", "--index-info", given=b"".join(lines))
    if _PASSED_OVER in said.err:  # git ends well all the same
        name = said.err.partition(_PASSED_OVER)[2].partition("\n")[0]
        told = f"git takes no file of this name, because it means something else to it: {name!a}"
        raise ToolFailure("invalid", f"{told}; call it otherwise, or leave it out of `paths`")


async def _on_top(draft: Repository, parent: str, changes: Sequence[Change]) -> str:
    """The parent's tree with these changes alone: what else the user has staged is theirs."""
    await draft.ask("read-tree", parent)
    await bring(draft, changes)
    return await draft.line("write-tree")


async def changes_between(draft: Repository, old: str, new: str, paths: Sequence[str] = ()) -> list[Change]:
    """The files that differ between two trees."""
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new, "--", *paths)
    said = (await draft.ask(*words)).out.split(b"\0")[:-1]
    return [_change(row, path) for row, path in zip(said[::2], said[1::2], strict=True)]


def _change(row: bytes, path: bytes) -> Change:
    _, mode, _, found, how = row.decode().lstrip(":").split(" ")
    return Change(path, WORDS[how[0]], mode, found)

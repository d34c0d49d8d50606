"""Opening a branch. Killed at any moment, it is there whole or not at all."""

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from perdure.tools.branches.branch import (
    BASE,
    NEW,
    RECORD,
    Branch,
    Take,
    Taken,
    base_of,
    held,
    inside,
    name_of,
    named,
    place_of,
    recorded,
    was_closed,
)
from perdure.tools.branches.closing import clear
from perdure.tools.branches.copying import copied
from perdure.tools.changes.durable import sync_directory, write_durably
from perdure.tools.changes.kernel import sync_all
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure

Output = dict[str, Any]


def opened(context: Context, origin: str, take: Take | None = None, without: Collection[str] = ()) -> Output:
    """Make the copy, of the workspace, of another branch, or as `take` does; done already: say so."""
    name = name_of(context.run, context.contained[-1])
    place = place_of(context.hands, name)
    try:
        with held(context):
            found = recorded(place) or _made(
                context, name, place, origin, take or partial(_copied, context, origin, without)
            )
    except OSError as error:
        raise ToolFailure("unavailable", f"no branch can be opened: {error}") from error
    if found.key != context.key:
        raise ToolFailure("invalid", "a branch is open here already; a group has one, opened once")
    return _told(found)


def _told(branch: Branch) -> Output:
    told: Output = {"branch": branch.name, "files": branch.files, "bytes": branch.size}
    if branch.commit:
        told["commit"] = branch.commit
    if branch.left_out:
        told["left_out"] = msgspec.to_builtins(branch.left_out)
    return told


def _made(context: Context, name: str, place: Path, origin: str, take: Take) -> Branch:
    hands = context.hands
    if was_closed(place):
        raise ToolFailure("invalid", "the branch of this group was closed; a group has one, opened once")
    parent = named(hands, context.run, origin) if origin else None
    draft = place.with_name(name + NEW)
    clear(draft)
    draft.mkdir(mode=0o700)
    try:
        taken = take(draft / "workspace")
        (draft / "state").mkdir(mode=0o700)
        branch = _recorded(context, name, origin, taken)
        write_durably(draft / RECORD, msgspec.json.encode(branch))
        first = base_of(place_of(hands, parent.name)) if parent else taken.base
        write_durably(draft / BASE, msgspec.json.encode(first))
        sync_all(draft)
    except BaseException:
        clear(draft)
        raise
    draft.rename(place)
    sync_directory(place.parent)
    return branch


def _copied(context: Context, origin: str, without: Collection[str], to: Path) -> Taken:
    """A copy of the workspace; or of another branch, whose line it goes on with."""
    hands = context.hands
    if not origin:
        return Taken(copied(context, hands, to, without))
    parent = named(hands, context.run, origin)
    return Taken(copied(context, inside(hands, parent.name), to, without), parent.commit, parent.left_out)


def _recorded(context: Context, name: str, origin: str, taken: Taken) -> Branch:
    files = [each for each in taken.base.values() if each.kind == "file"]
    size = sum(each.size for each in files)
    return Branch(name, context.run, context.key, len(files), size, taken.commit, taken.left_out, origin)

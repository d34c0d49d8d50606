"""Taking a branch away: undone as if it had never been, or closed because it has served its purpose.

One that was closed leaves its record behind. What was done on it needs no undo, and must not be undone elsewhere.
"""

import os
from pathlib import Path

import msgspec

from perdure.tools.branches.branch import (
    CLOSED,
    GONE,
    NEW,
    RECORD,
    Branch,
    held,
    name_of,
    place_of,
    recorded,
    was_closed,
)
from perdure.tools.changes.durable import make_private, sync_directory, write_durably
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.scratch import remove


def undone(context: Context) -> None:
    """Remove the branch that was opened under this key, or begun; one that is not there is gone already."""
    name = name_of(context.run, context.contained[-1])
    place = place_of(context.hands, name)
    with held(context):
        found = recorded(place)
        if found is not None and found.key == context.key:
            take_away(place)
        for suffix in (NEW, GONE, CLOSED):
            clear(place.with_name(name + suffix))


def closed(context: Context, name: str) -> bool:
    """Remove a branch of this run; False: there never was one. `ToolFailure` for one that is another run's."""
    place = place_of(context.hands, name)
    with held(context):
        found = recorded(place)
        if found is not None:
            _refuse_foreign(context, found)
            _leave_record(place, found)
            take_away(place)
        clear(place.with_name(name + GONE))
    return was_closed(place)


def _refuse_foreign(context: Context, branch: Branch) -> None:
    if branch.run != context.run:
        raise ToolFailure("invalid", f"the branch {branch.name!r} belongs to another run")


def _leave_record(place: Path, branch: Branch) -> None:
    mark = place.with_name(branch.name + CLOSED)
    make_private(mark)
    write_durably(mark / RECORD, msgspec.json.encode(branch))


def take_away(place: Path) -> None:
    """Remove a branch: from one moment to the next it is not there any more, whatever is left of it."""
    gone = place.with_name(place.name + GONE)
    clear(gone)
    place.rename(gone)
    sync_directory(place.parent)
    remove(gone)


def clear(place: Path) -> None:
    """Remove a directory, if it is there."""
    if os.path.lexists(place):
        remove(place)

"""Change sets: many files at once, all or nothing, never over somebody's save, and undoable.

A tool that changes files begins with `unfinished`, so that a call under the same key is never done twice, makes a
`ChangeSet` from images, and hands it to `carry_out`. Its `undo` is `take_back`.
"""

from typing import Any, cast

from perdure.tools.changes.desk import Desk as Desk
from perdure.tools.changes.images import Image as Image
from perdure.tools.changes.images import Images as Images
from perdure.tools.changes.sets import Change as Change
from perdure.tools.changes.sets import ChangeSet as ChangeSet
from perdure.tools.context import Context


def carry_out(context: Context, changes: ChangeSet) -> dict[str, Any]:
    """Have the changes judged, write down what is meant, make them, and say what was made."""
    with Desk(context) as desk:
        return desk.carry_out(changes)


def unfinished(context: Context) -> dict[str, Any] | None:
    """What came of an earlier call under the same key, which is brought to its end; None if there was none."""
    with Desk(context) as desk:
        return desk.unfinished()


def take_back(context: Context, output: Any = None) -> dict[str, Any]:
    """Undo what a step has given as its output, or has begun under its key, if nobody saw what it gave.

    What somebody has changed since is reported, never overwritten.
    """
    with Desk(context) as desk:
        return desk.take_back(cast("dict[str, Any]", output) if isinstance(output, dict) else {})

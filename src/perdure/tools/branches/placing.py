"""Bringing what a branch has changed into the workspace: one change set, judged and undoable like all others."""

from contextlib import closing

from perdure.tools.branches.branch import Base, base_of, inside, place_of
from perdure.tools.branches.copying import Whole
from perdure.tools.changes import Change, ChangeSet, Desk
from perdure.tools.changes.tree import Tree
from perdure.tools.context import Context
from perdure.tools.hands import Hands


def difference(context: Context, name: str, desk: Desk) -> ChangeSet:
    """What became of each name since the line began that leads to a branch.

    `ToolFailure` if a file in the workspace is another one by now.
    """
    hands = inside(context.hands, name)
    base = base_of(place_of(context.hands, name))
    with closing(Tree(hands.workspace)) as tree:
        now = images_in(context, tree, hands)
        changed = sorted(path for path in base.keys() | now.keys() if base.get(path) != now.get(path))
        changes = [Change(path, base.get(path), tree.image(path, desk.images)) for path in changed]
    return desk.keep(ChangeSet(tuple(changes)))


def images_in(context: Context, tree: Tree, hands: Hands) -> Base:
    """What stands under each name of a copy now."""
    now: Base = {}
    for each in Whole(tree, hands).found():
        context.raise_if_cancelled()
        if (image := tree.image(each.path)) is not None:
            now[each.path] = image
    return now

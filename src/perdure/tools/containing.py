"""What is kept in a branch: its steps reach the branch's copy of the workspace, and nothing else in the world.

Where a step lies in a branch, and the copy is not there, nothing is done: it might as well be the workspace.
"""

from typing import Final

from perdure.core.calls import Outcome
from perdure.ports import Attempt
from perdure.tools.branches.branch import Reach, around
from perdure.tools.hands import Hands
from perdure.tools.tool import AnyTool

OPENING: Final = "branch.open"
CLOSING: Final = "branch.close"
_GIT: Final = "git."


def hands_for(attempt: Attempt, hands: Hands | None) -> Hands | None:
    """The hands that a step gets: those of the branch it lies in, if it has to lie in one."""
    return hands if hands is None or not attempt.contained else _reached(attempt, hands).hands


def refused(tool: AnyTool, attempt: Attempt, hands: Hands | None) -> Outcome | None:
    """How a step that is kept in a branch ends before it begins; None: it may begin."""
    reached, depth, is_closed = (None, 0, False) if hands is None else _reached(attempt, hands)
    if is_closed and tool.name != CLOSING:
        told = "the branch that it lies in was closed; what comes after that stands outside of its group"
        return Outcome() if attempt.deed == "undo" else Outcome.failed("unavailable", told)
    if tool.name in (OPENING, CLOSING):
        return None
    if attempt.deed == "undo" and not depth:
        return Outcome()  # what was done on a copy has gone with it
    if attempt.by != "undo" and not _stays_inside(tool, attempt, reached):
        told = f'"{tool.name}" is not called in a branch: what it does would not stay on the copy of the workspace'
        return Outcome.failed("denied", told)
    if not depth and (tool.declared.effects or tool.declared.staged is not None):
        told = "there is no copy of the workspace to do it on; the first step of a branch is `branch.open`"
        return Outcome.failed("unavailable", told)
    return None


def _reached(attempt: Attempt, hands: Hands) -> Reach:
    """A branch is made of what is around it, not of itself."""
    groups = attempt.contained[:-1] if attempt.call.name == OPENING else attempt.contained
    return around(hands, attempt.run, groups)


def _stays_inside(tool: AnyTool, attempt: Attempt, hands: Hands | None) -> bool:
    if tool.declared.effects is not None and not tool.declared.effects:
        return True  # what it does, it does to no world at all: a lesson that was learned is learned
    return not tool.name.startswith(_GIT) and tool.may_rehearse(attempt.call.arguments, hands)

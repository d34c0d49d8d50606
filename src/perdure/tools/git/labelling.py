"""Branches and tags: made, and taken away so that they can be brought back."""

import time

from perdure.tools.failure import ToolFailure
from perdure.tools.git.committing import ENGINE, refuse_checked_out, tip_of
from perdure.tools.git.desk import Desk, Intent, Update
from perdure.tools.git.names import HEADS, KEPT
from perdure.tools.git.refusing import ABSENT, HELD, refusal
from perdure.tools.git.repository import Repository


async def label_intent(draft: Repository, ref: str, target: str, message: str = "") -> Intent:
    """A new branch or tag at a commit. With a message, the tag is an object of its own."""
    commit = await draft.commit_at(target)
    if tip := await tip_of(draft, ref):
        raise refusal(HELD, "unmet", f"{ref} is there already, at {tip[:12]}; nothing was changed", ref=ref, now=tip)
    if ref.startswith(HEADS):  # somebody's HEAD may be on a branch that has no commit yet
        refuse_checked_out(draft, ref)
    new = await _tag_object(draft, ref, commit, message) if message else commit
    return Intent((Update(ref, "", new),), {"ref": ref, "before": None, "after": new, "commit": commit})


async def _tag_object(draft: Repository, ref: str, commit: str, message: str) -> str:
    if "\0" in message:
        raise ToolFailure("invalid", "message: it holds a NUL")
    name = ref.split("/", 2)[2]
    head = f"object {commit}\ntype commit\ntag {name}\ntagger {ENGINE} {int(time.time())} +0000\n\n"
    text = head + (message if message.endswith("\n") else f"{message}\n")
    given = text.encode("utf-8", "backslashreplace")
    return await draft.line("mktag", given=given)


async def removal_intent(draft: Repository, desk: Desk, ref: str) -> Intent:
    """A branch or tag taken away. What it held is kept under a name that garbage collection respects."""
    if ref.startswith(HEADS):
        refuse_checked_out(draft, ref)
    tip = await tip_of(draft, ref)
    if not tip:
        raise refusal(ABSENT, "invalid", f"there is no {ref}", ref=ref)
    updates = (Update(f"{KEPT}{desk.id}", "", tip), Update(ref, tip, ""))
    return Intent(updates, {"ref": ref, "before": tip, "after": None, "kept": updates[0].ref})

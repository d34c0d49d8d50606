"""From the desk into the repository: objects first, then refs by compare-and-swap, so that a ref is old or new.

Reconciling after a crash is the same routine: a ref that is new is done, one that is old is still to be moved, and
any other place means that somebody else was there. Nothing is ever forced.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from perdure.tools.failure import ToolFailure
from perdure.tools.git.desk import Desk, Intent, Update
from perdure.tools.git.faltering import kind_of
from perdure.tools.git.layout import refuse_links_to
from perdure.tools.git.locks import clear_stale, locks_of
from perdure.tools.git.names import HEADS
from perdure.tools.git.refusing import MOVED, refusal
from perdure.tools.git.repository import Repository

WAITS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.2, 1.6, 2.0, 2.0)
"""Seconds between tries while somebody else holds a lock."""
PATIENT: Final = 7
"""Tries after which a lock that is in nobody's way counts as somebody else's."""


async def land(repository: Repository, desk: Desk, intent: Intent, *, again: bool) -> None:
    """Have the refs where they should be. `again`: an earlier try may have come as far as any point of this."""
    left = await _left(repository, intent.updates)
    if left:
        await _carry(repository, desk, left)
        await swap(repository, left, again=again)
    elif again:
        await _unlock(repository, intent.updates)


async def take_back(repository: Repository, updates: Iterable[Update]) -> None:
    """Move refs back to where they were, if they are still where the deed left them."""
    wanted = [each.back for each in reversed(list(updates))]
    left = await _left(repository, wanted, exact=True)
    if left:
        await swap(repository, left, again=True)
    await _unlock(repository, wanted)


async def _unlock(repository: Repository, updates: Sequence[Update]) -> None:
    """Take away locks that a dead process of ours has left, on its way there or back. Those of others stay."""
    both = [*updates, *(each.back for each in updates)]
    for wait in WAITS[:PATIENT]:
        if not (locks := locks_of(repository.layout, both)):
            return
        clear_stale(repository.layout, locks, again=True)
        await asyncio.sleep(wait)


async def _left(repository: Repository, updates: Sequence[Update], *, exact: bool = False) -> list[Update]:
    """Those that are still to be done. Raises if somebody else has moved one of them."""
    standing = await repository.refs(*(each.ref for each in updates)) if updates else {}
    left: list[Update] = []
    for each in updates:
        now = standing.get(each.ref, "")
        if now == each.new or (not exact and await _is_built_upon(repository, each, now)):
            continue
        if now != each.old:
            raise moved(each, now)
        left.append(each)
    return left


async def _is_built_upon(repository: Repository, update: Update, now: str) -> bool:
    """Whether a branch has our commit in it, because somebody went on from there."""
    if not (now and update.new and update.ref.startswith(HEADS)) or now == update.old:
        return False
    words = ("merge-base", "--is-ancestor", update.new, now)
    return (await repository.ask(*words, codes=(0, 1, 128))).code == 0


def moved(update: Update, now: str) -> ToolFailure:
    """Somebody else was there."""
    told = f"{update.ref} is {_at(now)}, not {_at(update.old)} as expected; somebody else moved it, nothing was changed"
    return refusal(MOVED, "unmet", told, ref=update.ref, now=now or None, old=update.old or None)


def _at(where: str) -> str:
    return f"at {where[:12]}" if where else "not there"


async def _carry(repository: Repository, desk: Desk, updates: Sequence[Update]) -> None:
    """Bring new objects into the repository. Until a ref names them they mean nothing there."""
    new = [each.new for each in updates if each.new]
    if not new or not desk.objects.is_dir():
        return
    for leftover in desk.place.glob("carry-*"):
        leftover.unlink()
    draft = repository.drafting(desk.place, desk.variables)
    old = [f"^{known}" for each in new for known in await _known(draft, desk, each)]
    asked = "\n".join([*new, *old, ""]).encode()
    words = ("pack-objects", "-q", "--revs", str(desk.place / "carry"))
    name = (await draft.ask(*words, given=asked)).out.decode().strip()
    await repository.changing().ask("unpack-objects", "-q", given=desk.place / f"carry-{name}.pack")


async def _known(draft: Repository, desk: Desk, new: str) -> list[str]:
    """Commits with which the repository has all that is behind a new object; else its whole history would be carried.

    A commit of the desk is none, even if the repository has it: who died while carrying may have left it without its
    files there.
    """
    said = await draft.ask("rev-list", "--parents", "-1", new, codes=(0, 128))
    commit, *parents = said.out.decode().split() or [""]
    return parents if (desk.objects / commit[:2] / commit[2:]).is_file() else [commit] if commit else []


async def swap(repository: Repository, updates: Sequence[Update], *, again: bool) -> None:
    """Move all refs, or none, each only if it is where it is expected."""
    for each in updates:
        refuse_links_to(repository.layout.common, each.ref)
    text = "".join(map(_line, updates)).encode()
    words = ("update-ref", "--no-deref", "-m", "perdure", "--stdin")
    for wait in WAITS:
        said = await repository.changing().ask(*words, given=text, codes=range(-64, 256))
        if said.code == 0 or not await _left(repository, updates, exact=True):
            return
        again = again or said.code < 0  # it was killed, and what it left is ours
        locks = locks_of(repository.layout, updates)
        if not locks and said.code > 0 and not _was_locked(said.err):
            raise ToolFailure(kind_of(said.err, "unmet"), f"git could not move {_named(updates)}: {said.err}")
        clear_stale(repository.layout, locks, again=again)
        await asyncio.sleep(wait)
    raise ToolFailure("transient", f"another git process holds a lock on {_named(updates)}; it may be left over")


def _was_locked(err: str) -> bool:
    """Whether git met a lock, which may be gone again by now. It speaks plain English, because it is told to."""
    return ".lock': File exists" in err


def _named(updates: Iterable[Update]) -> str:
    return ", ".join(each.ref for each in updates)


def _line(update: Update) -> str:
    if not update.old:
        return f"create {update.ref} {update.new}\n"
    if not update.new:
        return f"delete {update.ref} {update.old}\n"
    return f"update {update.ref} {update.new} {update.old}\n"

"""A commit, made on the desk and landed on a branch. Neither the user's files nor their index is touched.

Its dates are kept with the intent, so doing it again gives the same id.
"""

import hashlib
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.desk import SHOWN, Desk, Intent, Update
from perdure.tools.git.gathering import Copy, Upon, gathered
from perdure.tools.git.hardening import PLAIN
from perdure.tools.git.keeping import keep, recall
from perdure.tools.git.refusing import HELD, LAYOUT, MOVED, NAME, refusal
from perdure.tools.git.repository import Repository
from perdure.tools.git.snapshot import Change, Snapshot, snapshot_of

ENGINE: Final = "Perdure <perdure@localhost>"
"""Who commits; and who has written it, where nobody else is named."""
_PERSON: Final = re.compile(r"(?P<name>[^<>\n\0]{1,200}) <(?P<address>[^<>\n\0]{0,200})>")
FILES: Final = 1_000
"""Changed files that an output names; how many there are is said beside them."""


class Words(NamedTuple):
    """What a commit says, and who says it."""

    message: str
    author: str = ""


class Wanted(NamedTuple):
    """A commit that somebody asks for."""

    ref: str
    words: Words
    paths: Sequence[str] = ()
    expected: str | None = None
    """Where the branch must be; empty: nowhere; None: where this working tree has seen it."""
    absent: bool = False
    """Whether paths that match no file are passed over."""

    @property
    def certain(self) -> Sequence[str]:
        """The paths that have to match something."""
        return () if self.absent else self.paths


class Place(NamedTuple):
    """Where a commit belongs."""

    tip: str
    """Where the branch is; empty: it is not there."""
    parent: str
    """What to commit on; empty: it is the first."""
    ground: str
    """What the commits that were made from here were put upon."""


async def commit_intent(draft: Repository, desk: Desk, context: Context, wanted: Wanted) -> Intent:
    """What a commit of the working tree would be; its objects are on the desk."""
    refuse_checked_out(draft, wanted.ref)
    place = await _place(draft, wanted, await draft.find("HEAD^{commit}"))
    found = await snapshot_of(draft, desk, place.parent, (wanted.paths, wanted.certain), context)
    return await _intent(draft, wanted, place, found)


async def copy_intent(draft: Repository, desk: Desk, context: Context, wanted: Wanted, copy: Copy) -> Intent:
    """The same, of the copy of a branch that was opened from a commit."""
    refuse_checked_out(draft, wanted.ref)
    place = await _place(draft, wanted, copy.commit)
    upon = Upon(place.parent, place.ground, wanted.paths, wanted.certain)
    found = await gathered(draft.seen_in(copy.root), desk, context, upon, copy)
    intent = await _intent(draft, wanted, place, found)
    return msgspec.structs.replace(intent, ground=place.ground)


async def _intent(draft: Repository, wanted: Wanted, place: Place, found: Snapshot) -> Intent:
    tip, parent, _ = place
    tree, changes = found
    at = {"ref": wanted.ref, "before": tip or None, "after": tip or None}
    output = {"commit": parent or None, "tree": tree, **at, **told_of(changes)}
    if not changes:
        return Intent((), output)
    made = await commit_of(draft, tree, [parent] if parent else [], wanted.words)
    shown = await shown_between(draft, parent, tree)
    return Intent((Update(wanted.ref, tip, made),), {**output, "commit": made, "after": made}, shown)


def told_of(changes: Sequence[Change]) -> dict[str, Any]:
    """What an output says of changed files."""
    return {"files": [each.told for each in changes[:FILES]], "count": len(changes)}


async def _place(repository: Repository, wanted: Wanted, start: str) -> Place:
    """Where the branch is, and what to commit on. A branch that others have moved is not built on unseen."""
    ref, expected = wanted.ref, wanted.expected
    tip = await tip_of(repository, ref)
    last, ground = seen(repository, ref)
    if tip not in ({expected} if expected is not None else {"", start, last}):
        hint = "merge it, name another branch, or pass its commit as `expect` if what is there may be built upon"
        told = f"{ref} is at {tip[:12] or 'no commit'}, which is not what this {_seat(repository)} began with: {hint}"
        raise refusal(MOVED, "unmet", told, ref=ref, now=tip or None)
    return Place(tip, tip or start, ground if tip and tip == last else tip or start)


def _seat(repository: Repository) -> str:
    return "copy" if repository.copy else "working tree"


async def tip_of(repository: Repository, ref: str) -> str:
    """Where a branch is; empty if it is not there."""
    tip = (await repository.refs(ref)).get(ref, "")
    if tip.startswith("-> "):
        told = f"{ref} only stands for {tip[3:]}; name that branch"
        raise refusal(LAYOUT, "denied", told, ref=ref)
    return tip


def refuse_checked_out(repository: Repository, ref: str) -> None:
    """Moving a branch under somebody's files would make all of them look changed."""
    common = repository.layout.common
    for head in (common / "HEAD", *common.glob("worktrees/*/HEAD")):
        if (recall(head) or b"").strip() == f"ref: {ref}".encode():
            hint = "work on another branch, and let a person merge it where they have their files"
            raise refusal(HELD, "denied", f"{ref} is checked out in a working tree: {hint}", ref=ref)


async def commit_of(draft: Repository, tree: str, parents: Sequence[str], words: Words) -> str:
    """A commit object, on the desk."""
    message = words.message
    if not message.strip() or "\0" in message:
        raise ToolFailure("invalid", "message: say in a line what the commit is about")
    date = f"@{int(time.time())} +0000"
    ways = [word for each in parents for word in ("-p", each)]
    text = (message if message.endswith("\n") else f"{message}\n").encode("utf-8", "backslashreplace")
    people = {**_person("AUTHOR", words.author or ENGINE, date), **_person("COMMITTER", ENGINE, date)}
    return await draft.line("commit-tree", *ways, "-F", "-", tree, given=text, variables=people)


def is_person(text: str) -> bool:
    """Whether it names somebody as git can write it down."""
    found = _PERSON.fullmatch(text)
    return found is not None and bool(found["name"].strip(" .,:;\"'"))


def _person(role: str, person: str, date: str) -> dict[str, str]:
    found = _PERSON.fullmatch(person)
    if not found or not is_person(person):
        raise refusal(NAME, "invalid", f"{person[:80]!a} is nobody: write a name and an address, as in {ENGINE}")
    return {f"GIT_{role}_NAME": found["name"], f"GIT_{role}_EMAIL": found["address"], f"GIT_{role}_DATE": date}


async def shown_between(draft: Repository, old: str, new: str) -> str:
    """The difference for people, cut where it becomes too long to read."""
    start = old or await draft.line("mktree")
    words = ("diff-tree", "-r", "-p", "--stat", *PLAIN, "--submodule=short", "-M", start, new)
    said = await draft.ask(*words, most=SHOWN, cut=True)
    text = said.out.decode("utf-8", "backslashreplace")
    return f"{text}\n… {new}" if said.was_cut else text


# ------------------------------------------------------------------------------- what this working tree has seen


def seen(repository: Repository, ref: str) -> tuple[str, str]:
    """The commit that was last made from this working tree on a branch, and what the first of them was put upon."""
    said = (recall(note_of(repository.state, repository.standpoint, ref)) or b"").decode()
    last, _, ground = said.partition(" ")
    return last, ground or last


def see(repository: Repository, ref: str, commit: str, ground: str = "") -> None:
    """Remember it. Left out, the ground stays what it was."""
    kept = ground or seen(repository, ref)[1]
    text = f"{commit} {kept}" if repository.copy else commit
    keep(note_of(repository.state, repository.standpoint, ref), text.encode())


def note_of(state: Path, own: str, ref: str) -> Path:
    """Where it is remembered."""
    return state / "seen" / hashlib.sha256(f"{own}\0{ref}".encode()).hexdigest()


def branch_for(run: str) -> str:
    """The branch of a run that names no other."""
    return f"perdure/{run}"


async def follow(repository: Repository, commit: str) -> None:
    """Have a working tree of the engine's own stand on a commit that was made from it. Its files stay as they are."""
    if not repository.is_own or not commit:
        return
    for lock in ("HEAD.lock", "index.lock"):  # whoever held them worked for us, and is dead
        (repository.layout.own / lock).unlink(missing_ok=True)
    own = repository.changing()
    await own.ask("update-ref", "--no-deref", "-m", "perdure", "HEAD", commit)
    await own.ask("read-tree", commit)
    await own.ask("update-index", "-q", "--refresh", codes=(0, 1))

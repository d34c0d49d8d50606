"""Pushing: the one deed that leaves the repository. It moves a ref only from where it was seen, and a person agrees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from perdure.tools.failure import ToolFailure
from perdure.tools.git.desk import Update
from perdure.tools.git.landing import moved
from perdure.tools.git.refusing import REMOTE, refusal
from perdure.tools.git.repository import Repository
from perdure.tools.git.running import Said, program

FILES_ONLY: Final = {"GIT_ALLOW_PROTOCOL": "file"}
ANY_CODE: Final = range(-64, 256)
_PUSH: Final = (
    "push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--no-recurse-submodules",
)  # fmt: skip


class Way(Protocol):
    """How git reaches the other side."""

    @property
    def reached(self) -> tuple[str, ...]:
        """The addresses that it was let to."""
        ...

    async def ask(self, words: Sequence[str], after: Sequence[str], codes: Sequence[int] = (0,)) -> Said:
        """Have git talk to the other side; `after` stands after where that is."""
        ...

    def failure(self, said: Said) -> ToolFailure:
        """What a talk that did not end well means."""
        ...


@dataclass(frozen=True, slots=True)
class Beside:
    """The way to a repository on this machine."""

    repository: Repository
    path: Path
    reached: tuple[str, ...] = ()

    async def ask(self, words: Sequence[str], after: Sequence[str], codes: Sequence[int] = (0,)) -> Said:
        """Have git talk to another git that it starts."""
        is_push = words[0] == "push"
        near = replace(self.repository, changes=(self.path,)) if is_push else self.repository.seeing(self.path)
        service = _service("receive-pack" if is_push else "upload-pack")
        return await near.ask(*words, service, str(self.path), *after, variables=FILES_ONLY, codes=codes)

    def failure(self, said: Said) -> ToolFailure:
        """What a talk that did not end well means."""
        return ToolFailure("unmet", f"the push did not go through: {said.err or said.out.decode('utf-8', 'replace')}")


def _service(name: str) -> str:
    """The program on the other side, as hard to lead astray as on this one."""
    return f"--{name}={program()} -c core.hooksPath=/dev/null -c gc.auto=0 -c receive.autogc=false {name}"


async def there(way: Way, ref: str) -> str:
    """Where the ref is on the other side; empty if it is not there."""
    said = (await way.ask(("ls-remote", "--refs"), (ref,))).out.decode("utf-8", "replace")
    rows = {name: found for found, _, name in (row.partition("\t") for row in said.splitlines())}
    return rows.get(ref, "")


async def refuse_rewriting(repository: Repository, update: Update) -> None:
    """What is there has to be in what is pushed."""
    if not update.old:
        return
    words = ("merge-base", "--is-ancestor", update.old, update.new)
    if (await repository.ask(*words, codes=(0, 1, 128))).code:
        hint = "fetch and merge it first, or say `rewrite: true` to replace it"
        told = f"{update.ref} is at {update.old[:12]} there, which {update.new[:12]} does not have in it: {hint}"
        raise refusal(REMOTE, "unmet", told, ref=update.ref, now=update.old)


async def is_left(way: Way, update: Update) -> bool:
    """Whether the ref is still to be moved. Raises if somebody else has moved it."""
    now = await there(way, update.ref)
    if now not in (update.old, update.new):
        raise moved(update, now)
    return now != update.new


async def send(way: Way, update: Update) -> None:
    """Move the ref on the other side from old to new. One that is new already is left alone."""
    if not await is_left(way, update):
        return
    lease = f"--force-with-lease={update.ref}:{update.old}"
    said = await way.ask((*_PUSH, lease), (f"{update.new}:{update.ref}",), ANY_CODE)
    if said.code:
        await _settle(way, update, said)


async def _settle(way: Way, update: Update, said: Said) -> None:
    """A push that did not end well may have been heard all the same: the other side is asked."""
    refused = [line for line in said.out.decode("utf-8", "replace").splitlines() if line.startswith("!")]
    why = way.failure(said)
    if refused:
        why = ToolFailure("unmet", f"the push was refused: {' '.join(refused)} {said.err}".replace("\t", " "))
    try:
        now = await there(way, update.ref)
    except ToolFailure as failure:
        if refused:
            raise why from None
        raise ToolFailure("in_doubt", f"{why}; and nobody can be asked where {update.ref} is now: {failure}") from None
    if now != update.new:
        raise why if now == update.old else moved(update, now)

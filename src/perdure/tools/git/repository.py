"""A repository that was looked at and may be worked with: the door through which everything else asks git."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from perdure.core.policy import Deed
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.config import Setting, borrowed_by, settings_of, suspects_of
from perdure.tools.git.desk import Intent
from perdure.tools.git.faltering import kind_of
from perdure.tools.git.keeping import keep, recall
from perdure.tools.git.layout import Layout, layout_of
from perdure.tools.git.names import revision
from perdure.tools.git.refusing import ABSENT, CONFIG, NAME, refusal
from perdure.tools.git.running import MOST, SECONDS, Hear, Job, Said, run
from perdure.tools.hands import Hands, Tier
from perdure.tools.sandbox.errors import SandboxUnavailable
from perdure.tools.sandbox.probes import available

GIT: Final = "git"
"""Where the engine remembers what it does to repositories, under its state."""
WORKTREES: Final = "worktrees"
"""Where the engine keeps working trees of its own, under its state."""


@dataclass(frozen=True)
class Repository:
    """Asks git about one repository, as seen from one of its working trees."""

    layout: Layout
    state: Path
    """Where the engine remembers what it does to repositories."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    is_own: bool = False
    """Whether the working tree is the engine's own."""
    copy: str = ""
    """The branch whose copy stands for the working tree, by its name."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """What git is told beside, each time."""

    changes: tuple[Path, ...] = ()
    """What git may write to. A look at a repository writes nothing."""
    sees: tuple[Path, ...] = ()
    """What git may read beside the repository."""
    borrowed: tuple[Path, ...] = ()
    """Where it has objects from that are not its own; a person has agreed to that."""
    tier: Tier = "none"

    def drafting(self, place: Path, variables: Mapping[str, str]) -> "Repository":
        """The same repository, with new objects written to another place."""
        return replace(self, variables=variables, changes=(place,))

    def changing(self, *beside: Path) -> "Repository":
        """The same repository, and now it may be written."""
        return replace(self, changes=(self.layout.common, self.layout.own, *beside))

    def seen_in(self, root: Path) -> "Repository":
        """The same repository, with other files for its working tree."""
        return replace(self, layout=self.layout._replace(root=root))

    def seeing(self, *beside: Path) -> "Repository":
        """The same repository, and something beside it."""
        return replace(self, sees=beside)

    @property
    def root(self) -> Path:
        """The working tree."""
        return self.layout.root

    @property
    def standpoint(self) -> str:
        """From where it is looked at: what was seen from one working tree or copy was not seen from another."""
        return f"{self.layout.own}#{self.copy}" if self.copy else str(self.layout.own)

    @property
    def no_id(self) -> str:
        """What stands for an object that is not there."""
        return "0" * (64 if self.settings.get("extensions.objectformat") == "sha256" else 40)

    def done_for(self, context: Context, intent: Intent) -> Intent:
        """The same intent, and whose it is."""
        place = str(context.hands.workspace)
        return msgspec.structs.replace(intent, run=context.run, workspace=place, own=self.standpoint)

    async def ask(
        self,
        *arguments: str,
        given: bytes | Path = b"",
        variables: Mapping[str, str] | None = None,
        codes: Sequence[int] = (0,),
        most: int = MOST,
        cut: bool = False,
    ) -> Said:
        """Have git do something. A failure, unless it ends with one of these codes."""
        places = {"GIT_DIR": str(self.layout.own), "GIT_WORK_TREE": str(self.root)}
        sees = (*dict.fromkeys(self.layout), *self.sees, *self.borrowed)
        told = {**places, **self.variables, **(variables or {})}
        said = await run(Job(arguments, self.root, told, given, SECONDS, most, cut, sees, self.changes, self.tier))
        return _refused_but(codes, arguments[0], said)

    async def tell(self, *arguments: str, given: bytes, hear: Hear, seconds: float) -> None:
        """Have git say more than anybody wants to hold at once: whoever hears it takes it piece by piece."""
        places = {"GIT_DIR": str(self.layout.own), "GIT_WORK_TREE": str(self.root), **self.variables}
        sees = (*dict.fromkeys(self.layout), *self.sees, *self.borrowed)
        job = Job(arguments, self.root, places, given, seconds, 0, sees=sees, tier=self.tier, hear=hear)
        _refused_but((0,), arguments[0], await run(job))

    async def line(self, *arguments: str, variables: Mapping[str, str] | None = None, given: bytes = b"") -> str:
        """The one line that git answers with."""
        said = await self.ask(*arguments, variables=variables, given=given)
        return said.out.decode("utf-8", "backslashreplace").strip()

    async def commit_at(self, name: str) -> str:
        """The id of the commit that somebody names."""
        if found := await self.find(f"{revision(name)}^{{commit}}"):
            return found
        known = [ref.partition("/")[2].partition("/")[2] for ref in await self.refs("refs/heads", "refs/tags")]
        hint = f"; there are: {', '.join(known[:10])}" if known else ""
        raise refusal(ABSENT, "invalid", f'there is no commit "{name}"{hint}', name=name)

    async def find(self, name: str) -> str:
        """The id of an object; empty if there is none of this name."""
        said = await self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name, codes=(0, 1, 128))
        return said.out.decode().strip() if said.code == 0 else ""

    async def refs(self, *patterns: str) -> dict[str, str]:
        """Ids by whole names."""
        words = ("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)", *patterns)
        rows = [row.split("\0") for row in (await self.ask(*words)).out.decode("utf-8", "replace").splitlines()]
        return {name: f"-> {symref}" if symref else found for name, found, symref in rows}


def _refused_but(codes: Sequence[int], verb: str, said: Said) -> Said:
    """What git said. `ToolFailure`, unless it ended with one of these codes."""
    if said.code not in codes:
        raise ToolFailure(kind_of(said.err, "unknown"), f"git {verb} ended with {said.code}: {said.err or 'no word'}")
    return said


def is_within(hands: Hands | None) -> bool:
    """Whether all that git touches lies in the workspace: it is walled in, and the repository is not elsewhere."""
    return hands is None or (hands.is_walled and not (hands.workspace / ".git").is_file())


async def opened(context: Context, worktree: str = "") -> Repository:
    """The repository of the workspace, or of a worktree of the engine's own, after a look at its settings."""
    context.kept_in(context.hands.tier)
    repository, suspects = await looked_at(context.hands, worktree)
    _have_agreed(context, suspects, repository.state)
    return repository


async def opened_again(hands: Hands, worktree: str = "") -> Repository:
    """The same, where nobody can be asked: a failure, unless a person has agreed to its settings before."""
    repository, suspects = await looked_at(hands, worktree)
    if suspects:
        told = f"nobody has agreed to {suspects[0].key} in {suspects[0].file}"
        raise refusal(CONFIG, "denied", told, file=suspects[0].file, key=suspects[0].key)
    return repository


async def looked_at(hands: Hands, worktree: str = "") -> tuple[Repository, list[Setting]]:
    """The repository, and its settings if a person has to agree to some of them first. Then git is asked nothing."""
    root = hands.workspace if not worktree else hands.state / WORKTREES / _plain(worktree)
    layout = layout_of(root)
    await _refuse_without(hands)
    settings = await settings_of(layout, hands.tier)
    found = {each.key: each.value for each in settings}
    repository = Repository(
        layout, hands.state / GIT, found, is_own=bool(worktree), borrowed=borrowed_by(layout), tier=hands.tier
    )
    suspects = suspects_of(layout, settings)
    is_agreed = not suspects or recall(_agreement(suspects, repository.state)) is not None
    return repository, [] if is_agreed else suspects


async def _refuse_without(hands: Hands) -> None:
    try:
        await available(hands)
    except SandboxUnavailable as error:
        raise refusal(error.code, "unavailable", f"{error.message} ({error.help})") from None


def _plain(worktree: str) -> str:
    if worktree.replace("-", "").isalnum() and worktree.isascii():
        return worktree
    raise refusal(NAME, "invalid", f"{worktree[:80]!a} is no worktree: write what git.worktree gave as its name")


def _have_agreed(context: Context, suspects: list[Setting], state: Path) -> None:
    """A person agrees once to settings, as they stand; whoever changes them has to be agreed with anew."""
    if not suspects:
        return
    shown = _shown(suspects)
    keys = ", ".join(sorted({each.key for each in suspects}))
    why = f"{CONFIG}: settings of the repository can run programs or reach elsewhere: {keys} in {suspects[0].file}"
    context.guard.ask(Deed("use", "git:config"), why, shown)
    keep(_agreement(suspects, state), shown.encode())


def _agreement(suspects: list[Setting], state: Path) -> Path:
    return state / "agreed" / hashlib.sha256(_shown(suspects).encode()).hexdigest()


def _shown(suspects: list[Setting]) -> str:
    return "\n".join(f"{each.file}: {each.key} = {each.value}" for each in suspects)

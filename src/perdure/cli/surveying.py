"""A look at a repository before anybody is asked anything: where it is, what work would begin with, what is in the way.

Git is asked in the sandbox, as the tools ask it, and writes nothing. Where a person has to agree to settings of the
repository first, it is not asked at all: the run asks that person when it begins.
"""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Final, NamedTuple

from perdure.cli.authors import author_of
from perdure.cli.contents import committed, lying
from perdure.cli.environments import Environment, environment_for
from perdure.config import Settings
from perdure.config.policy import load_policy
from perdure.engine.reaching import state_of
from perdure.errors import PerdureError
from perdure.kits.coding.detecting import Tests
from perdure.plan.raw import is_mapping
from perdure.tools import ToolFailure
from perdure.tools.git.committing import refuse_checked_out
from perdure.tools.git.history import status
from perdure.tools.git.names import HEADS, branch_ref
from perdure.tools.git.repository import Repository, looked_at
from perdure.tools.hands import Hands

SHORT: Final = 12
"""Letters of an id that people are shown."""


class NoRepository(PerdureError):
    """There is nothing to work on."""

    code: ClassVar[str] = "PRD7001"
    exit_code: int = 3


class Unworkable(PerdureError):
    """There is a repository, and it is not worked with."""

    code: ClassVar[str] = "PRD7002"


class NoCommit(PerdureError):
    """There is no commit to begin with."""

    code: ClassVar[str] = "PRD7003"
    exit_code: int = 3


class NoBranch(PerdureError):
    """The work cannot be put onto this branch."""

    code: ClassVar[str] = "PRD7004"
    exit_code: int = 2


class Survey(NamedTuple):
    """What there is to say of a repository before anything is done to it."""

    root: Path
    commit: str = ""
    """What work would begin with; empty: nobody can say before a person has agreed to `settings`."""
    branch: str = ""
    """Where the work would go."""
    changed: int = 0
    """Files that are not as they were committed, and so are no part of it."""
    settings: tuple[str, ...] = ()
    """Settings of the repository that a person will be asked about."""
    tests: Tests = Tests()
    """What tests it."""
    environment: Environment | None = None
    """What tests may need beside it."""
    author: str = ""
    """Whom the settings of git name; empty: nobody."""


# ------------------------------------------------------------------------------- where it is


def root_of(place: Path) -> Path:
    """The root of the repository around a directory: the nearest, which may be a part of another one."""
    place = place.resolve()
    for each in (place, *place.parents):
        if os.path.lexists(each / ".git"):
            return each
        if _is_bare(each):
            told = f"{each} is a repository without files to work on, or the inside of one"
            raise Unworkable(told, f"name the directory that has the files, or make one: git clone {each}")
    hint = "name one with --repo, or make it one: git init && git add . && git commit -m Begin"
    raise NoRepository(f"{place} is in no git repository", hint)


def _is_bare(place: Path) -> bool:
    return (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()


# ------------------------------------------------------------------------------- what is there


async def survey(settings: Settings, root: Path, base: str, branches: Iterable[str]) -> Survey:
    """Look at a repository. The work goes onto the first of these branches that nothing stands in the way of."""
    names = list(branches)
    for each in names:
        _refuse_no_name(each)
    with _hands(settings, root) as hands:
        try:
            repository, suspects = await looked_at(hands)
            author = await author_of(repository.settings, hands.tier)
            if suspects:
                asked = tuple(sorted({each.key for each in suspects}))
                return Survey(root, branch=names[0], settings=asked, tests=lying(root), author=author)
            commit = await _commit(repository, base)
            branch, changed = await _branch(repository, names, commit), await _changed(repository)
            tests, files = await committed(repository, commit)
            return Survey(root, commit, branch, changed, (), tests, environment_for(root, files), author)
        except ToolFailure as error:
            raise _unworkable(error) from None


@contextmanager
def _hands(settings: Settings, root: Path) -> Generator[Hands]:
    """Hands that only look. What the engine knows of the sandbox is where it keeps it, if it has been here before."""
    policy, kept = load_policy(root), state_of(settings.db)
    if kept.is_dir():
        yield Hands(root, kept, policy.tier)
        return
    with TemporaryDirectory(prefix="perdure-look-") as place:
        yield Hands(root, Path(place), policy.tier)


def _unworkable(error: ToolFailure) -> Unworkable:
    detail = error.failure.detail
    code = str(detail.get("code", "")) if is_mapping(detail) else ""
    told = error.failure.message.removeprefix(f"{code}: ")
    return Unworkable(told, f"see: perdure explain {code}" if code else "")


async def _commit(repository: Repository, base: str) -> str:
    try:
        commit = await repository.commit_at(base)
    except ToolFailure as error:
        raise await _no_commit(repository, base, error) from None
    if (await repository.ask("cat-file", "-e", f"{commit}^{{tree}}", codes=(0, 1, 128))).code:
        told = f"the files of {base} are not all in {repository.root}: the repository is damaged, or a part of another"
        raise Unworkable(told, "look with git fsck; git fetch may bring what is missing")
    return commit


async def _no_commit(repository: Repository, base: str, error: ToolFailure) -> NoCommit:
    if base == "HEAD" and not await repository.refs():
        hint = "commit what there is: git add . && git commit -m Begin"
        return NoCommit(f"{repository.root} has no commit yet, and work begins with one", hint)
    _, _, told = error.failure.message.partition(": ")
    return NoCommit(f"--base: {told}", "git log --oneline --all shows what there is")


async def _changed(repository: Repository) -> int:
    """How many files are not as they were committed. Whoever cannot say so is at work on them; it does not matter."""
    try:
        return (await status(repository, ignored=False))["count"]
    except ToolFailure:
        return 0


# ------------------------------------------------------------------------------- where the work goes


def _refuse_no_name(branch: str) -> None:
    try:
        branch_ref(branch)
    except ToolFailure as error:
        _, _, told = error.failure.message.partition(": ")
        raise NoBranch(f"--branch: {told}", "for example --branch fix/prices") from None


async def _branch(repository: Repository, names: list[str], commit: str) -> str:
    standing = await repository.refs("refs/heads")
    free = [each for each in names if not _in_the_way(standing, branch_ref(each))]
    if not free:
        other = _in_the_way(standing, branch_ref(names[0])).removeprefix(HEADS)
        raise NoBranch(f"there is a branch {other}, beside which there can be no {names[0]}", "say another --branch")
    ref = branch_ref(free[0])
    try:
        refuse_checked_out(repository, ref)
    except ToolFailure:
        hint = "say another --branch, and merge it when you have seen it"
        raise NoBranch(f"{free[0]} is checked out; work is not put under your files", hint) from None
    if standing.get(ref, commit) != commit:
        hint = f"say another --branch, or --base {free[0]} to go on from there"
        raise NoBranch(f"there is a branch {free[0]} already, at {standing[ref][:SHORT]}", hint)
    return free[0]


def _in_the_way(standing: Iterable[str], ref: str) -> str:
    """A branch that this one would be inside of, or the other way round: git keeps them like files in directories."""
    return next((each for each in standing if _is_inside(each, ref) or _is_inside(ref, each)), "")


def _is_inside(one: str, other: str) -> bool:
    return one.startswith(f"{other}/")

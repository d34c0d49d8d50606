"""`perdure doctor`: whether everything is in order, and what to do where it is not."""

import asyncio
import os
import platform
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from perdure.cli.codes import FAILED
from perdure.cli.journals import db_option
from perdure.cli.printing import json_option, print_json
from perdure.config import ConfigError, Loaded, load
from perdure.errors import PerdureError
from perdure.journal.ballast import PLENTY, SIZE, Ballast
from perdure.journal.driver import connect
from perdure.journal.filesystem import UNTRUSTED, magic_of
from perdure.journal.listing import PAGE
from perdure.journal.lock import writer_of
from perdure.journal.reader import Reader
from perdure.plan.visible import number_of, visible
from perdure.ports import Filter, JournalError, NoMemory, Run

if TYPE_CHECKING:
    from perdure.config.policy import UserPolicy
    from perdure.models.places import Place

_OLDEST: Final = (3, 37, 0)
"""The first SQLite with STRICT tables."""
_MENDED: Final = (3, 51, 3)
"""The first SQLite without the WAL-reset bug, which is as old as the write-ahead log."""
_LOCAL: Final = {
    0xEF53: "ext4",
    0x58465342: "XFS",
    0x9123683E: "Btrfs",
    0x2FC12FC1: "ZFS",
    0xF2F52010: "F2FS",
    0x794C7630: "overlay",
    0x01021994: "tmpfs",
}
_FORGETFUL: Final = {"tmpfs"}
_FLAWS: Final = 3
"""As many as are told of one file; the first one is what matters."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one thing."""

    about: str
    state: Literal["ok", "warn", "fail"]
    message: str
    help: str = ""


@click.command()
@db_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, db: str | None, as_json: bool) -> None:
    """Look at the settings, your policy, agents, models, the sandbox, the disk, and every run that is not over.

    Nothing is changed, and no model is asked.

    Exit code 0: nothing failed. 1: something did; the line below it says what to do.
    """
    found: list[Finding] = []
    for finding in _findings(db):
        found.append(finding)
        if not as_json:
            _print(finding)
    failed = any(each.state == "fail" for each in found)
    if as_json:
        print_json({"schema": "perdure.doctor/1", "ok": not failed, "checks": [asdict(each) for each in found]})
    ctx.exit(FAILED if failed else 0)


def _print(finding: Finding) -> None:
    click.echo(visible(f"{finding.state:<4}  {finding.about:<8}  {finding.message}"))
    if finding.help:
        click.echo(visible(f"{'':<16}help: {finding.help}"))


def _findings(db: str | None) -> Iterator[Finding]:
    yield Finding("python", "ok", platform.python_version())
    yield _sqlite(sqlite3.sqlite_version_info)
    yield _sandbox()
    yield from _about_user()
    yield _agents()
    try:
        loaded = load({"db": db}, planning=True)
    except ConfigError as error:
        yield Finding("settings", "fail", error.message, error.help)
        if db:  # then the journal can be looked at all the same
            yield from _about_journal(Path(db).absolute(), network=False)
        return
    yield _settings(loaded)
    yield from _models(loaded)
    yield from _about_journal(loaded.settings.db, network=loaded.settings.network_disk)


def _sqlite(version: tuple[int, ...]) -> Finding:
    text = ".".join(map(str, version))
    if version < _OLDEST:
        return Finding("sqlite", "fail", f"{text} is too old", "use a Python with SQLite 3.37 or newer")
    if version < _MENDED:
        told = f"{text} has the WAL-reset bug; it does no harm here, because only one process writes a journal"
        return Finding("sqlite", "warn", told, "keep other programs from writing the file; 3.51.3 is mended")
    return Finding("sqlite", "ok", text)


def _settings(loaded: Loaded) -> Finding:
    files = ", ".join(str(file) for file in loaded.files)
    return Finding("settings", "ok", f"read from {files}" if files else "there is no file of settings")


def _models(loaded: Loaded) -> Iterator[Finding]:
    """Whether each tier could be asked: who it is, what is installed, and whether there is a key. Nobody is asked."""
    tiers = loaded.settings.heads.tiers
    if not tiers:
        yield Finding("models", "ok", "none is set, and plans that ask one are not begun")
        return
    from perdure.config.heads import models_of  # noqa: PLC0415  only where one is set

    models = models_of(loaded.settings.heads)
    for tier, name in tiers.items():
        try:
            place: Place | None = getattr(models.find(tier), "place", None)
        except PerdureError as error:
            yield Finding("models", "warn", f"{tier} is {name}: {error.message}", error.help)
        else:
            key = f", its key is in {' or '.join(place.keys)}" if place and place.keys else ""
            yield Finding("models", "ok", f"{tier} is {name}{key}")


def _about_user() -> Iterator[Finding]:
    """What the user says in files of their own: each decides what runs may do, and is refused if it is broken."""
    from perdure.cli.toolsets import toolset_here  # noqa: PLC0415  only this command needs all of them
    from perdure.config.policy import load_policy  # noqa: PLC0415  as above
    from perdure.config.secrets import load_secrets  # noqa: PLC0415  as above

    try:
        policy = load_policy()
    except PerdureError as error:
        yield _refused("policy", error)
        return  # it says where the secrets are, and what servers are kept in
    yield _policy(policy)
    try:
        yield Finding("secrets", "ok", f"{number_of(len(load_secrets(source=policy.secrets) or ()), 'secret')} known")
    except PerdureError as error:
        yield _refused("secrets", error)
        return
    try:
        servers = toolset_here()
    except PerdureError as error:
        yield _refused("mcp", error)
    else:
        yield Finding("mcp", "ok", number_of(len(servers.servers) if servers else 0, "server") + " named")


def _agents() -> Finding:
    """Whether all agents can be what they say: while one cannot, no plan that has work for agents is begun."""
    from perdure.cli.heads import roster_here  # noqa: PLC0415  only this command needs all of them

    try:
        return Finding("agents", "ok", number_of(len(roster_here(Path.cwd()).names), "agent") + " can be given work")
    except PerdureError as error:
        return _refused("agents", error)
    except OSError as error:
        told = f"{error.filename} cannot be read: {error.strerror}"
        return Finding("agents", "fail", told, "look at its permissions")


def _refused(about: str, error: PerdureError) -> Finding:
    return Finding(about, "fail", f"{error.code}: {error.message}", error.help)


def _policy(policy: "UserPolicy") -> Finding:
    if missing := [str(bind) for bind in policy.binds if not bind.exists()]:
        told = f"sandbox.binds in {policy.place} names what is not there: {', '.join(missing)}"
        return Finding("policy", "fail", told, "make it, or take it out: commands are refused as it is")
    return Finding("policy", "ok", "the default one" if policy.is_default else f"read from {policy.place}")


def _sandbox() -> Finding:
    """Tried anew, in a place of its own, so that nothing is changed."""
    from perdure.tools.hands import Hands  # noqa: PLC0415  only this command needs it
    from perdure.tools.sandbox import Report, probe  # noqa: PLC0415  as above
    from perdure.tools.scratch import scratch  # noqa: PLC0415  as above

    with scratch() as place:
        report: Report = asyncio.run(probe(Hands(place, place / "state"), afresh=True))
    if report.ok:
        held = number_of(len(report.findings), "probe")
        return Finding(
            "sandbox", "ok", f"bubblewrap holds, by {held}; commands work on a stage of the kind {report.staging}"
        )
    told = f"commands are refused: {report.problem}"
    return Finding("sandbox", "fail" if report.findings else "warn", told, report.fix)


# ------------------------------------------------------------ the disk


def _about_journal(path: Path, *, network: bool) -> Iterator[Finding]:
    directory = next(each for each in path.absolute().parents if each.is_dir())
    yield _disk(directory, network=network)
    yield _room(path, directory)
    yield _directory(directory)
    if not path.exists():
        yield Finding("journal", "ok", f"there is no {path} yet; the first run makes it")
        return
    access = _access(path)
    yield access
    if access.state != "fail":
        yield from _about_file(path)


def _disk(directory: Path, *, network: bool) -> Finding:
    magic = magic_of(directory)
    if name := UNTRUSTED.get(magic):
        told = f"{directory} lies on {name}, where locks and syncs cannot be trusted"
        return Finding("disk", "warn" if network else "fail", told, "put the journal on a local disk")
    name = _LOCAL.get(magic, f"a file system of the kind {magic:#x}" if magic else "a local disk")
    if name in _FORGETFUL:
        return Finding(
            "disk", "warn", f"{directory} lies on {name}", "it is empty after a restart: choose another place"
        )
    return Finding("disk", "ok", f"{directory} lies on {name}")


def _room(path: Path, directory: Path) -> Finding:
    found = os.statvfs(directory)
    free = found.f_bavail * found.f_frsize
    ballast = "some is held back" if Ballast(path).held else "none is held back yet"
    told = f"{free // (1024 * 1024):,} MB are free, {ballast} for the last words on a full disk"
    state = "fail" if free < SIZE else "warn" if free < PLENTY else "ok"
    return Finding("room", state, told, "" if state == "ok" else "make room")


def _directory(directory: Path) -> Finding:
    if os.access(directory, os.W_OK | os.X_OK):
        return Finding("writing", "ok", f"{directory} can be written")
    return Finding("writing", "warn", f"{directory} cannot be written by you", "runs can be looked at, not started")


def _access(path: Path) -> Finding:
    if not path.is_file():
        return Finding("journal", "fail", f"{path} is not a file", "choose another one")
    if not os.access(path, os.R_OK):
        return Finding("journal", "fail", f"{path} cannot be read by you", "look at its owner and permissions")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        told = f"{path} is open to others than its owner ({mode:o})"
        return Finding("journal", "warn", told, f"chmod 600 {path}")
    return Finding("journal", "ok", f"{path}, for its owner alone")


# ------------------------------------------------------------ the file


def _about_file(path: Path) -> Iterator[Finding]:
    reader = Reader(path.resolve(), connect)
    try:
        yield Finding("owner", "ok", writer_of(path) or "nobody writes it now")
        yield Finding("schema", "ok", f"version {reader.check()}")
        yield _pages(reader)
        yield _memory(reader)
        yield from _chains(reader)
    except JournalError as error:
        yield Finding("journal", "fail", f"{error.code}: {error.message}", error.help)
    except OSError as error:
        yield Finding("journal", "fail", f"{path} cannot be looked at: {error}", "look at its permissions")


def _pages(reader: Reader) -> Finding:
    if flaws := reader.flaws(_FLAWS):
        return Finding("pages", "fail", f"SQLite finds: {'; '.join(flaws)}", "export what can be read, restore a copy")
    return Finding("pages", "ok", "SQLite finds nothing wrong")


def _memory(reader: Reader) -> Finding:
    """No run needs it, so nothing about it is a failure."""
    try:
        kept, waiting = reader.remembered()
    except NoMemory as error:
        return Finding("memory", "warn", error.message, "use a Python whose SQLite has FTS5; or restore a copy")
    behind = f", {waiting:,} of them not by their words yet" if waiting else ""
    return Finding("memory", "ok", f"{kept:,} memories can be found{behind}")


def _chains(reader: Reader) -> Iterator[Finding]:
    whole = 0
    for run in _unfinished(reader):
        verdict = reader.verify(run.id)
        if verdict.bad_seq is None:
            whole += 1
        else:
            told = f"entry {verdict.bad_seq} of {run.id} cannot be believed: {verdict.reason}"
            yield Finding("runs", "fail", told, "it will not be resumed; restore a copy of the journal")
    yield Finding("runs", "ok", f"{number_of(whole, 'run')} not over, as written")


def _unfinished(reader: Reader) -> Iterator[Run]:
    before = None
    while page := reader.runs(Filter(over=False), before, PAGE):
        yield from page
        before = page[-1].number

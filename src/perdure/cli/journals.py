"""The journal that a command works on: which file it is, and open for as long as the command takes."""

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from perdure.config import Settings, load
from perdure.journal import AnyJournal, open_journal
from perdure.plan.visible import visible
from perdure.ports import Run

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)

db_option = click.option("--db", metavar="FILE", help="The journal; without it, the one that the settings name.")


def settings_for(db: str | None, **flags: Any) -> Settings:
    """The settings that hold for a command; a flag is named like its setting, with `__` for the dot."""
    given = {name.replace("__", "."): value for name, value in flags.items()}
    return load({"db": db, **given}, planning=True).settings


@asynccontextmanager
async def opened(settings: Settings, *, read_only: bool = True) -> "AsyncGenerator[AnyJournal]":
    """The journal, opened."""
    journal = await open_journal(settings.db, read_only=read_only, network=settings.network_disk)
    try:
        yield journal
    finally:
        await journal.close()


def is_there(settings: Settings) -> bool:
    """Whether there is a journal; where there is none yet, a hint on standard error says so."""
    if settings.db.exists():
        return True
    click.echo(visible(f"there is no journal {settings.db} yet; the first run makes it"), err=True)
    return False


def moment(milliseconds: int | None) -> str | None:
    """A time as ISO 8601 with its offset; None for none, and for one that no calendar has."""
    try:
        return None if milliseconds is None else (_BEGINNING + timedelta(milliseconds=milliseconds)).isoformat()
    except OverflowError:
        return None


def fork_document(of: str, seq: int) -> dict[str, Any] | None:
    """The same as plain data."""
    return {"of": of, "seq": seq} if of else None


def fork_of(run: Run) -> tuple[str, int]:
    """The run that another one is a fork of, and the last fact that they share; empty: it is none."""
    try:
        found = json.loads(run.summary.counters).get("fork", {})
        return str(found["of"]), int(found["seq"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", 0


def run_as_json(run: Run) -> dict[str, Any]:
    """A run as plain data."""
    summary = run.summary
    return {
        "id": run.id,
        "number": run.number,
        "status": summary.status,
        "over": summary.over,
        "goal": summary.goal,
        "session": summary.session or None,
        "parent": summary.parent or None,
        "fork": fork_document(*fork_of(run)),
        "created": moment(run.created),
        "updated": moment(run.updated),
        "wake_at": moment(summary.wake_at),
        "entries": run.head_seq,
        "head": run.head,
    }

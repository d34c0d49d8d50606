"""The plan of a run, as it was at each of its revisions."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from perdure.cli.journals import moment, opened, settings_for
from perdure.config import Settings
from perdure.core.events import RunRevised
from perdure.engine import View
from perdure.plan.model.document import Plan


@dataclass(frozen=True, slots=True)
class Revision:
    """A plan, and how it came to be."""

    number: int
    plan: Plan
    by: str = ""
    why: str = ""
    at: str | None = None


async def revisions_of(settings: Settings, run: str) -> Sequence[Revision]:
    """Every plan that a run had, the first one first."""
    async with opened(settings) as journal:
        id_ = (await journal.run(run)).id
        _, entries = await journal.load(id_)
        view, found = View(journal, id_), list[Revision]()
        for entry in entries:
            event = view.take(entry)
            if isinstance(event, RunRevised):
                found.append(Revision(len(found), view.plan, event.by, event.why, moment(entry.at)))
            elif not found:
                found.append(Revision(0, view.plan, at=moment(entry.at)))
        return found


async def plan_of(db: str | None, run: str) -> Plan:
    """The plan of a run as it is now."""
    return (await revisions_of(settings_for(db), run))[-1].plan


def chosen(revisions: Sequence[Revision], number: str) -> Revision:
    """One of them, by its number."""
    if not number.isdecimal() or int(number) >= len(revisions):
        raise click.UsageError(f"{number} is no revision: there are 0 to {len(revisions) - 1}")
    return revisions[int(number)]

"""The plan of a run, as it was at each of its revisions, looked up for a command."""

from collections.abc import Sequence

import click

from perdure.cli.journals import opened, settings_for
from perdure.config import Settings
from perdure.documents.revisions import Revision, revisions_in
from perdure.plan.model.document import Plan


async def revisions_of(settings: Settings, run: str) -> Sequence[Revision]:
    """Every plan that a run had, the first one first."""
    async with opened(settings) as journal:
        return await revisions_in(journal, run)


async def plan_of(db: str | None, run: str) -> Plan:
    """The plan of a run as it is now."""
    return (await revisions_of(settings_for(db), run))[-1].plan


def chosen(revisions: Sequence[Revision], number: str) -> Revision:
    """One of them, by its number."""
    if not number.isdecimal() or int(number) >= len(revisions):
        raise click.UsageError(f"{number} is no revision: there are 0 to {len(revisions) - 1}")
    return revisions[int(number)]

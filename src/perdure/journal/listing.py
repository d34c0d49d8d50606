"""Listing runs: all of them, however many there are."""

from typing import Final

from perdure.ports import Filter, Journal, Run

PAGE: Final = 500
"""What is read at once when all of it is wanted."""


async def every_run(journal: Journal, where: Filter | None = None, before: int | None = None) -> list[Run]:
    """All runs, newest first."""
    runs: list[Run] = []
    while page := await journal.runs(where, before, PAGE):
        runs += page
        before = page[-1].number
    return runs

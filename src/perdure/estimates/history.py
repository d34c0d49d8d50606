"""What earlier runs took: the newest samples of each step, tool, model and agent. Read from the journal, bounded."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import msgspec

from perdure.core.outline import Outline
from perdure.core.state import Rules
from perdure.estimates.past import Past, Sample, step_key, witnessed
from perdure.plan.model.recalling import recalled
from perdure.ports import Entry, Filter, Journal, Run

MOST_RUNS: Final = 200
MOST_ENTRIES: Final = 30_000
"""Facts that are read, of all runs together."""
MOST_SAMPLES: Final = 200
"""The newest samples that count, of one step, one tool and so on."""
_PAGE: Final = 50
_ENTRIES: Final = 5_000
_MANY: Final = 2_000
"""From so many facts on, a run is folded in a thread: others need the event loop meanwhile."""


class History:
    """Runs that are over, the newest first, and what is known from them."""

    def __init__(self, pasts: Sequence[Past] = (), *, left_out: int = 0) -> None:
        self.pasts = tuple(pasts)
        self.left_out = left_out
        """Runs that could not be read."""
        self._samples: defaultdict[str, list[Sample]] = defaultdict(list)
        for past in self.pasts:
            for key, samples in past.samples.items():
                found = self._samples[key]
                found += samples[: MOST_SAMPLES - len(found)]

    def of(self, key: str) -> Sequence[Sample]:
        """The newest samples under a key."""
        return self._samples.get(key, ())

    def runs_of(self, plan: str) -> list[Past]:
        """Earlier runs of a plan that have succeeded, the newest first."""
        found = (past for past in self.pasts if past.plan == plan and past.status == "succeeded")
        return list(islice(found, MOST_SAMPLES))

    def share_passed(self, plan: str, step: str) -> float | None:
        """How often a step was passed by, of all times it came to it; None: it never did."""
        key = step_key(plan, step)
        passed = sum(past.passed.get(key, 0) for past in self.pasts)
        entered = len(self.of(key))
        return passed / (passed + entered) if passed + entered else None

    def items(self, plan: str, step: str) -> list[int]:
        """How many items a map had, the newest first."""
        key = step_key(plan, step)
        return [count for past in self.pasts for count in past.items.get(key, ())][:MOST_SAMPLES]

    def before(self, at: int) -> "History":
        """What was known at a moment."""
        return History([past for past in self.pasts if past.over <= at])


class Reader:
    """Reads what runs took out of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.outline = lru_cache(maxsize=64)(self._recalled)
        """A plan by its digest."""

    def _recalled(self, digest: str) -> Outline:
        data = self._journal.fetch(digest)
        return Outline(recalled(data), data)

    def rules(self) -> Rules:
        """What a fold of a run may look up."""
        return Rules(lru_cache(maxsize=16)(self._value), self.outline)

    def _value(self, digest: str) -> Any:
        return msgspec.json.decode(self._journal.fetch(digest))

    async def past(self, run: Run) -> Past | None:
        """What a run took; None if its facts do not fit together."""
        entries: list[Entry] = []
        while page := await self._journal.read(run.id, len(entries), _ENTRIES):
            entries += page
        try:
            if len(entries) < _MANY:
                return witnessed(run.id, entries, self.rules())
            return await asyncio.to_thread(witnessed, run.id, entries, self.rules())
        except Exception:  # noqa: BLE001  what one run has lost says nothing about the others; `doctor` tells of it
            return None


async def gather(journal: Journal, runs: int = MOST_RUNS, entries: int = MOST_ENTRIES) -> History:
    """What the newest runs that are over took."""
    reader, pasts, left, missed = Reader(journal), list[Past](), entries, 0
    before: int | None = None
    while len(pasts) < runs and left > 0 and (page := await journal.runs(Filter(over=True), before, _PAGE)):
        before = page[-1].number
        for run in _within(page, left, runs - len(pasts)):
            past = await reader.past(run)
            left -= run.head_seq
            missed += past is None
            pasts += [] if past is None else [past]
        if all(run.head_seq > left for run in page):
            break
    return History(pasts, left_out=missed)


def _within(page: Sequence[Run], left: int, most: int) -> Iterator[Run]:
    """Those that can still be read; one that is too long makes way for shorter ones."""
    for run in page:
        if run.head_seq <= left and most > 0:
            left, most = left - run.head_seq, most - 1
            yield run

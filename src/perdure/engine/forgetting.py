"""Forgetting old runs: their facts, and what hands have kept to take them back."""

import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from perdure.journal.listing import every_run
from perdure.ports import Journal, Run
from perdure.tools.hands import Tier
from perdure.tools.remaining import Remaining
from perdure.tools.sweeping import foreseen, sweep

AT_WORK: Final = 86_400.0
"""Seconds. While tools are at work nothing younger goes: they may have kept it, and not yet written down what for."""
MILLISECONDS: Final = 1000


class Beside(NamedTuple):
    """What lies beside a journal."""

    state: Path
    """Where hands keep what they need."""
    tier: Tier = "bwrap"
    """What git is kept in."""
    spare: float = 0
    """How many seconds old something has to be before it goes."""


class Forgotten(NamedTuple):
    """What was forgotten."""

    runs: int
    artifacts: int
    hands: int = 0
    """Bytes of what hands had kept."""
    left: tuple[str, ...] = ()
    """What could not go, and why."""


class Foretold(NamedTuple):
    """What would be forgotten."""

    runs: list[str]
    hands: int


async def forget(journal: Journal, beside: Beside, before: int, keep: int = 0) -> Forgotten:
    """Forget runs that are over and were last touched before a time, except the newest, and all that was kept for them.

    The journal comes first: from then on no run is there that could need the rest.
    """
    swept = await journal.sweep(before, keep)
    limit = min(before / MILLISECONDS, time.time() - beside.spare)
    freed = await sweep(beside.state, beside.tier, _remaining(await every_run(journal), limit))
    return Forgotten(swept.runs, swept.artifacts, freed.size, freed.left)


async def foretell(journal: Journal, state: Path, before: int, keep: int = 0) -> Foretold:
    """What `forget` would do. Nothing is changed."""
    runs = await every_run(journal)
    over = [run for run in runs if run.summary.over]
    going = {run.id: None for run in over[keep:] if run.updated < before}
    remaining = _remaining((run for run in runs if run.id not in going), before / MILLISECONDS)
    return Foretold(list(going), foreseen(state, remaining))


def _remaining(runs: Iterable[Run], before: float) -> Remaining:
    began = {run.id: run.created / MILLISECONDS for run in runs}
    return Remaining(frozenset(began), before, min(began.values(), default=math.inf))

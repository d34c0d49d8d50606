"""Following a run: its facts as they come, shown on a screen, until there is nothing more to wait for."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from perdure.cli.screens import FRAME, Screen
from perdure.core.state import State
from perdure.core.turn import status_of
from perdure.engine import View
from perdure.ports import Journal

SOON: Final = 60_000
"""Milliseconds: what is due within them is waited for."""
LATE: Final = 5_000
"""What was due longer ago does not come by itself: it waits for a person too, such as for more of a budget."""
_RESTING: Final = frozenset({"waiting", "paused"})

Enough = Callable[[View], Awaitable[bool]]


async def follow(journal: Journal, view: View, screen: Screen, enough: Enough, after: int = 0) -> None:
    """Show what is there after an entry and what comes, until the run is over or it is enough."""
    await screen.begin(journal)
    while True:
        page = await journal.read(view.run, view.seq)
        for entry in page:
            event = view.take(entry)
            screen.passed(event)
            if entry.seq > after:
                screen.told(entry, event)
        screen.paint(view)
        if page:
            await asyncio.sleep(0)  # a long history must not keep others waiting
        elif view.state.ended is not None or await enough(view):
            return
        else:
            await journal.grown(view.run, view.seq, FRAME)


def rests(state: State) -> bool:
    """Whether nothing will happen by itself soon: it is paused, or waits for a person, a signal or a later hour."""
    if status_of(state) not in _RESTING or state.flying or any(each.flying for each in state.undoing.values()):
        return False
    wake_at, now = state.wake_at, time.time() * 1000
    return wake_at is None or not now - LATE < wake_at < now + SOON


async def never(_: View) -> bool:
    """It is not enough before the run is over."""
    return False

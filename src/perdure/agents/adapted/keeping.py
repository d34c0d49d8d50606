"""Loops that are kept at hand between their steps, so that they need not be led again to where they were."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final

from perdure.agents.adapted.held import HeldLoop

MOST: Final = 256
"""Loops that are kept at hand, but for those in use; another one is led again to where it was."""
Place = tuple[str, str]
"""A run, and the group in it that a loop works for."""


class Kept:
    """The loops of one agent, the one that was used longest ago first."""

    def __init__(self) -> None:
        self._loops: Final[dict[Place, HeldLoop]] = {}
        self._going: Sequence[HeldLoop] = ()
        """Those that were given up, and may still put things in order."""

    @contextmanager
    def used(self, place: Place, begun: Callable[[], HeldLoop]) -> Generator[HeldLoop]:
        """A loop that is not given up meanwhile: the one at hand, or one that is begun."""
        found = self._loops.pop(place, None)
        if found is None or not found.is_here:
            found = begun()
        self._loops[place] = found
        found.users += 1
        self._make_room()
        try:
            yield found
        finally:
            found.users -= 1

    def _make_room(self) -> None:
        """Give up loops that nobody uses, if there are too many."""
        more = len(self._loops) - MOST
        if more > 0:
            for place in [each for each, loop in self._loops.items() if not loop.users][:more]:
                self._give_up(self._loops.pop(place))

    def _give_up(self, loop: HeldLoop) -> None:
        loop.close()
        self._going = [each for each in (*self._going, loop) if not each.is_over]

    def drop(self, place: Place, loop: HeldLoop) -> None:
        """Give a loop up, and not the one that was begun in its place."""
        if self._loops.get(place) is loop:
            del self._loops[place]
        self._give_up(loop)

    def leave(self, run: str) -> None:
        """Give up all that work for a run."""
        for place in [each for each in self._loops if each[0] == run]:
            self._give_up(self._loops.pop(place))

    async def close(self) -> None:
        """Give up all of them, and let them put things in order."""
        left, self._going = [*self._going, *self._loops.values()], ()
        self._loops.clear()
        await asyncio.gather(*(each.gone() for each in left))

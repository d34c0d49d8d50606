"""Room for requests: so many at once, so many streams; and a pause for those who guess."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from perdure.server.refusing import TooMany

_HELP: Final = "try again in a moment"


@dataclass(frozen=True, slots=True)
class Most:
    """What is let in at once."""

    requests: int = 128
    streams: int = 256
    """Two hundred people may watch at once; each costs a connection and a place in the order."""
    guesses: int = 32
    """Requests without a valid key that wait for their refusal."""
    pause: float = 0.05
    """Seconds before the first of them is refused; twice as long for each that waits already."""
    longest: float = 2.0


class Visit:
    """One request that was let in."""

    def __init__(self, entrance: "Entrance") -> None:
        self._entrance: Final = entrance
        self._task: Final = asyncio.current_task()
        self.is_stream = False
        self.is_ended = False

    def become_stream(self) -> bool:
        """Its answer turns out to be one that may last for hours; whether there is room for that."""
        self.is_stream = self._entrance.count(self)
        return self.is_stream

    def end(self) -> None:
        """Stop a stream."""
        if self._task is not None and not self.is_ended:
            self.is_ended = True
            self._task.cancel()

    def forgive(self) -> None:
        """Go on after that, to say the last word."""
        if self._task is not None:
            self._task.uncancel()


class Entrance:
    """Counts who is inside."""

    def __init__(self, most: Most | None = None) -> None:
        self._most: Final = most or Most()
        self._inside = 0
        self._guessing = 0
        self._streams: set[Visit] = set()
        self._is_closed = False

    @contextmanager
    def inside(self) -> Generator[Visit]:
        """Let a request in; `TooMany` if there is no room. A stream takes none of the room of others."""
        if self._inside >= self._most.requests or self._is_closed:
            raise TooMany("too many requests are at work", _HELP)
        self._inside += 1
        visit = Visit(self)
        try:
            yield visit
        finally:
            if visit.is_stream:
                self._streams.discard(visit)
            else:
                self._inside -= 1

    def count(self, visit: Visit) -> bool:
        """Note that a request has become a stream, if there is room for one."""
        if len(self._streams) >= self._most.streams:
            return False
        self._streams.add(visit)
        self._inside -= 1
        return True

    async def guess(self) -> None:
        """Let somebody wait who has no valid key. Those who have one wait for nobody."""
        if self._guessing >= self._most.guesses:
            raise TooMany("too many requests without a valid key", _HELP)
        pause = min(self._most.longest, self._most.pause * 2**self._guessing)
        self._guessing += 1
        try:
            await asyncio.sleep(pause)
        finally:
            self._guessing -= 1

    def close(self) -> None:
        """Let nobody in any more, and let streams end."""
        self._is_closed = True
        for each in tuple(self._streams):
            each.end()

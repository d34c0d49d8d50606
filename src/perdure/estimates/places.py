"""Places in a simulated run: how many tries may be under way, of what tool, and who holds which lock."""

from collections.abc import Callable
from heapq import heappop, heappush
from sys import maxsize
from typing import Final

from perdure.estimates.sources import Means
from perdure.estimates.standing import Visit

EVERYTHING: Final = "everything"
"""There is more of it than anybody wants."""
Waiting = tuple[int, int, Visit]


class Places:
    """Gives places away by priority, then by age. What is missing is a line of its own."""

    def __init__(self, means: Means, extra: str, start: Callable[[Visit], None]) -> None:
        self._start = start
        self._extra = extra
        is_free = extra == EVERYTHING
        self.slots = maxsize if is_free else means.slots + (extra == "slots")
        self._tools = {name: most + (extra == f"tool {name}") for name, most in means.limits.items() if not is_free}
        self._locks: dict[str, int] = {}
        self._numbers = 0
        self.hungry: list[Waiting] = []
        self._parked: dict[str, list[Waiting]] = {}

    def want(self, visit: Visit) -> None:
        """Get in line."""
        self._numbers += 1
        visit.age = self._numbers
        heappush(self.hungry, (visit.part.rank, visit.age, visit))

    def feed(self) -> None:
        """Give a place to whoever is first, if nothing else is missing."""
        entry = heappop(self.hungry)
        visit = entry[2]
        if not visit.alive or visit.at_work or visit.age != entry[1]:
            return
        missing = self._missing(visit)
        if not missing:
            self._start(visit)
            return
        heappush(self._parked.setdefault(missing, []), entry)
        if visit.cause and visit.cause != missing:
            self._offer(visit.cause)
        visit.cause = missing

    def _missing(self, visit: Visit) -> str:
        part = visit.part
        if part.tool and self._tools.get(part.tool, 1) <= 0:
            return f"tool {part.tool}"
        for name in part.locks if not visit.held and self._extra != EVERYTHING else ():
            if self._locks.get(name, 0) > (self._extra == f"lock {name}"):
                return f"lock {name}"
        return ""

    def _offer(self, cause: str) -> None:
        """Something has become free: whoever waited for it first may look again."""
        waiting = self._parked.get(cause)
        while waiting:
            entry = heappop(waiting)
            if entry[2].alive:
                heappush(self.hungry, entry)
                return

    def take(self, visit: Visit) -> None:
        """Somebody begins."""
        part = visit.part
        for name in part.locks if not visit.held else ():
            self._locks[name] = self._locks.get(name, 0) + 1
        visit.held, visit.at_work = True, True
        self.slots -= 1
        if part.tool in self._tools:
            self._tools[part.tool] -= 1

    def free(self, visit: Visit) -> None:
        """A try is over; its locks stay until the visit is."""
        visit.at_work = False
        self.slots += 1
        if visit.part.tool in self._tools:
            self._tools[visit.part.tool] += 1
            self._offer(f"tool {visit.part.tool}")

    def unlock(self, visit: Visit) -> None:
        """A visit is over."""
        if visit.held:
            visit.held = False
            for name in visit.part.locks:
                self._locks[name] -= 1
                self._offer(f"lock {name}")

"""Room for attempts: how many may be at work at once, shared fairly between runs; and who holds which lock."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from perdure.core.deciding import Moment


@dataclass(frozen=True, slots=True)
class Limits:
    """The most attempts that may be at work at once."""

    run: int = 64
    """In one run."""
    total: int = 256
    """In the whole process."""
    tools: Mapping[str, int] = field(default_factory=dict[str, int])
    """With one tool."""
    grace: float = 5.0
    """Seconds that a stopped attempt has to put things in order."""


class Room:
    """Counts what is taken, and wakes those who wait when something becomes free."""

    def __init__(self, limits: Limits, wake: Callable[[str], None]) -> None:
        self._limits = limits
        self._wake = wake
        self._taken = 0
        self._by_run: Counter[str] = Counter()
        self._by_tool: Counter[str] = Counter()
        self._wanting: OrderedDict[str, None] = OrderedDict()
        self._locks: dict[str, str] = {}
        self._parked: dict[str, dict[str, None]] = {}

    def moment(self, run: str, at: int) -> Moment:
        """What a run may take now. Where others wait, what is free is shared."""
        free = self._limits.total - self._taken
        others = len(self._wanting) - (run in self._wanting)
        share = -(-free // (others + 1)) if free > 0 else 0
        slots = min(share, self._limits.run - self._by_run[run])
        tools = {name: most - self._by_tool[name] for name, most in self._limits.tools.items()}
        return Moment(at, slots, tools, self._locked_for(run))

    def close(self) -> None:
        """Let nothing begin any more."""
        self._limits = Limits(0, 0, grace=self._limits.grace)

    def _locked_for(self, run: str) -> frozenset[str]:
        if not self._locks:
            return frozenset()
        return frozenset(name for name, holder in self._locks.items() if holder != run)

    # ------------------------------------------------------------ attempts

    def take(self, run: str, tool: str) -> None:
        """An attempt has begun."""
        self._taken += 1
        self._by_run[run] += 1
        if tool in self._limits.tools:
            self._by_tool[tool] += 1

    def give(self, run: str, tool: str) -> None:
        """An attempt is over; those who wait longest are told first."""
        self._taken -= 1
        self._by_run[run] -= 1
        if tool in self._limits.tools:
            self._by_tool[tool] -= 1
        if self._wanting:
            longest, _ = self._wanting.popitem(last=False)
            self._wake(longest)

    def want(self, run: str, *, wants: bool) -> None:
        """Note whether a run could begin more than it may."""
        if wants:
            self._wanting[run] = None
        else:
            self._wanting.pop(run, None)

    def leave(self, run: str) -> None:
        """A run has nothing at work any more."""
        self._taken -= self._by_run.pop(run, 0)
        self._wanting.pop(run, None)

    # ------------------------------------------------------------ locks

    def hold(self, run: str, locks: Iterable[str], waits_for: Iterable[str]) -> None:
        """Note which locks a run holds now, and which it would like to have."""
        held = set(locks)
        freed = [name for name, holder in self._locks.items() if holder == run and name not in held]
        for name in freed:
            del self._locks[name]
        self._locks.update(dict.fromkeys(held, run))
        for name in waits_for:
            self._parked.setdefault(name, {})[run] = None
        for name in freed:
            for waiting in self._parked.pop(name, {}):
                self._wake(waiting)

    @property
    def is_unlocked(self) -> bool:
        """Whether nobody holds or wants a lock."""
        return not self._locks and not self._parked

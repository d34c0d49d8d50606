"""Room for attempts: how many may be at work at once, shared fairly between runs; and who holds which lock."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
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
    """Counts what is taken, and wakes those who wait when something becomes free, the one who waited longest first."""

    def __init__(self, limits: Limits, wake: Callable[[str], None]) -> None:
        self.limits = limits
        self._closed = False
        self._wake = wake
        self._taken = 0
        self._by_run: dict[str, Counter[str]] = {}
        self._taken_by: Counter[str] = Counter()
        """How many attempts each run has at work: the sum of the above."""
        self._by_tool: Counter[str] = Counter()
        self._waiting: dict[str, OrderedDict[str, int]] = {}
        """Who could begin more than it may, by the limited tool it is for; all others stand in one line, `""`."""
        self._since: dict[str, int] = {}
        self._numbers = 0
        self._woken: dict[str, str] = {}
        """Those that were told and have not looked yet, with the line they stood in: a place is kept for each."""
        self._locks: dict[str, str] = {}
        self._parked: dict[str, dict[str, None]] = {}
        self._claims: dict[str, set[str]] = {}
        """Runs that by their facts hold what another one has, as forks do: they begin nothing before they have it."""

    def moment(self, run: str, at: int) -> Moment:
        """What a run may take now. Where others wait, what is free is shared."""
        if not (self._since or self._woken or self._locks or self.limits.tools):
            return Moment(at, min(self.limits.total - self._taken, self._left_in(run)), held=self._closed)
        mine = self._woken.pop(run, None)
        free = self.limits.total - self._taken - len(self._woken)
        others = len(self._since) - (run in self._since)
        share = -(-free // (others + 1)) if free > 0 else 0
        tools = {name: self._left_for(name) for name in self.limits.tools}
        if mine is not None:
            self._woken[run] = mine
        held = self._closed or run in self._claims
        return Moment(at, 0 if held else min(share, self._left_in(run)), tools, self._locked_for(run), held)

    def _left_for(self, tool: str) -> int:
        kept = sum(line == tool for line in self._woken.values())
        return self.limits.tools.get(tool, 0) - self._by_tool[tool] - kept

    def _left_in(self, run: str) -> int:
        return self.limits.run - self._taken_by.get(run, 0)

    def close(self) -> None:
        """Let nothing begin any more."""
        self.limits = Limits(0, 0, grace=self.limits.grace)
        self._closed = True

    def _locked_for(self, run: str) -> frozenset[str]:
        if not self._locks:
            return frozenset()
        return frozenset(name for name, holder in self._locks.items() if holder != run)

    # ------------------------------------------------------------ attempts

    def take(self, run: str, tool: str) -> None:
        """An attempt has begun."""
        self._taken += 1
        self._taken_by[run] += 1
        mine = self._by_run.get(run)
        if mine is None:
            mine = self._by_run[run] = Counter()
        mine[tool] += 1
        self._by_tool[tool] += 1

    def give(self, run: str, tool: str) -> None:
        """An attempt is over."""
        self._taken -= 1
        self._taken_by[run] -= 1
        self._by_run[run][tool] -= 1
        self._by_tool[tool] -= 1
        if self._since:
            self._offer()

    def recount(self, run: str, tools: Iterable[str]) -> None:
        """Note what a run has at work, whatever was thought before."""
        for tool, count in self._by_run.pop(run, Counter[str]()).items():
            self._taken -= count
            self._by_tool[tool] -= count
        self._taken_by.pop(run, None)
        for tool in tools:
            self.take(run, tool)
        self._offer()

    def leave(self, run: str) -> None:
        """A run has nothing at work any more."""
        self._woken.pop(run, None)
        self._leave_line(run)
        self.recount(run, ())

    # ------------------------------------------------------------ those who wait

    def want(self, run: str, tools: Collection[str]) -> None:
        """Note what a run could begin and may not, now that it has looked. Who waited already keeps its place."""
        if not tools and not self._since and not self._woken:
            return
        wanted = () if run in self._claims else tools
        lines = {tool if tool in self.limits.tools else "" for tool in wanted}
        woken = self._woken.pop(run, None) is not None
        if not lines:
            if self._leave_line(run) or woken:
                self._offer()
            return
        since = self._since.get(run)
        if since is None:
            self._numbers += 1
            since = self._since[run] = self._numbers
        for line in lines:
            self._waiting.setdefault(line, OrderedDict())[run] = since
        for line in self._waiting.keys() - lines:
            self._waiting[line].pop(run, None)
        self._offer()

    def _leave_line(self, run: str) -> bool:
        if self._since.pop(run, None) is None:
            return False
        for waiting in self._waiting.values():
            waiting.pop(run, None)
        return True

    def _offer(self) -> None:
        """Wake as many as there is room for. One that is woken looks, and then says again what it wants."""
        while self._since and self.limits.total - self._taken > len(self._woken):
            heads = [(*found, line) for line in self._waiting if (found := self._first_in(line)) is not None]
            if not heads:
                return
            _, run, line = min(heads)
            self._leave_line(run)
            self._woken[run] = line
            self._wake(run)

    def _first_in(self, line: str) -> tuple[int, str] | None:
        """Who waited longest in a line, if it may begin anything."""
        if line and self._left_for(line) <= 0:
            return None
        return next(((since, run) for run, since in self._waiting[line].items() if self._left_in(run) > 0), None)

    # ------------------------------------------------------------ locks

    def hold(self, run: str, locks: Iterable[str], waits_for: Iterable[str]) -> None:
        """Note which locks a run holds now, and which it would like to have."""
        held = set(locks)
        freed = [name for name, holder in self._locks.items() if holder == run and name not in held]
        for name in freed:
            del self._locks[name]
        self._claim(run, {name for name in held if self._locks.setdefault(name, run) != run})
        for name in waits_for:
            self._parked.setdefault(name, {})[run] = None
        for name in freed:
            self._hand_on(name)

    def _claim(self, run: str, names: set[str]) -> None:
        if names:
            self._claims[run] = names
        else:
            self._claims.pop(run, None)

    def _hand_on(self, name: str) -> None:
        """Somebody let go of a lock: it goes to whoever counts on it, or to the first of those who would like it."""
        claimant = next((run for run, names in self._claims.items() if name in names), None)
        if claimant is not None:
            self._locks[name] = claimant
            self._claim(claimant, self._claims[claimant] - {name})
            self._wake(claimant)
        for waiting in self._parked.pop(name, {}):
            self._wake(waiting)

    @property
    def is_unlocked(self) -> bool:
        """Whether nobody holds or wants a lock."""
        return not self._locks and not self._parked

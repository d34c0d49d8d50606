"""The desk: who is at which work, in all runs of an engine, and who gets the next."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from perdure.core.cells import Body, Cell
from perdure.core.state import State
from perdure.plan.model.parts import AgentCall
from perdure.ports import TASK, Attempt, Chosen, JournalError, Memories, Memory, Wanted
from perdure.runtime.host import Host
from perdure.tools.failure import ToolFailure

if TYPE_CHECKING:
    from perdure.agents.agent import Agent
    from perdure.agents.choosing import Known
    from perdure.engine.heads import Heads

FRESH: Final = 1.0
"""Seconds for which it is believed how agents did: many ask at once."""
Place = tuple[str, str, int]
"""A run, a step of it, and a visit."""
Holder = frozenset[Place]
"""What is at work in a piece of work that holds a seat."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody who was told that all are at work."""

    priority: int
    agents: frozenset[str]


class FrontDesk:
    """Gives out work. It is asked by steps, so that what it says is written down before anything comes of it."""

    def __init__(self, heads: "Heads", memory: Memories) -> None:
        self._heads: Final = heads
        self._memory: Final = memory
        self.host: Host | None = None
        """Who drives the runs."""
        self._given: dict[Place, tuple[str, str]] = {}
        """Agents and seats that were given just now, to steps that do not know it yet."""
        self._waiting: dict[Place, Waiting] = {}
        self._read: Sequence[Memory] = ()
        self._stale = 0.0

    async def choose(self, wanted: Wanted, attempt: Attempt) -> Chosen:
        """Find an agent for a step. From the look at who is busy on nobody else gets a turn."""
        from perdure.agents.choosing import BUSY, able_of, choose  # noqa: PLC0415  most engines have no agents

        agents = self._heads.roster.agents
        tasks = await self._tasks()
        self._forget_gone()
        self._given.pop((attempt.run, attempt.step, attempt.visit), None)  # of a try whose answer nobody has heard
        place, able = (attempt.run, attempt.step, attempt.visit), able_of(agents, wanted)
        taken, known = self._known(able, wanted, place, tasks)
        try:
            found = choose(agents, wanted, known, taken)
        except ToolFailure as failure:
            if failure.failure.kind == BUSY:
                self._waiting[place] = Waiting(wanted.priority, frozenset(each.name for each in able))
                self._refuse_circle(place)
            raise
        self._waiting.pop(place, None)
        self._given[place] = (found.agent, found.seat)
        return found

    async def _tasks(self) -> Sequence[Memory]:
        """How agents did, newest first; nothing if nobody can tell: that must not be in the way of work."""
        from perdure.agents.choosing import LAST_TASKS  # noqa: PLC0415  as above

        now = asyncio.get_running_loop().time()
        if now >= self._stale:
            try:
                self._read = await self._memory.memories([TASK], limit=LAST_TASKS)
            except JournalError:
                self._read = ()
            self._stale = now + FRESH
        return self._read

    def _refuse_circle(self, place: Place) -> None:
        """`ToolFailure` if those who could do it wait, in the end, for the step that looks for one."""
        stuck = stuck_in(self._waiting, self._holders())
        if place in stuck:
            names = ", ".join(sorted(self._waiting.pop(place).agents))
            raise ToolFailure("stalled", f"{names}: all who could do it are at work that waits for this one")

    def _holders(self) -> Mapping[str, Sequence[Holder]]:
        """What each agent with seats is at, by what that waits for."""
        found: dict[str, list[Holder]] = {}
        for state in self._states():
            for cell in state.agents.values():
                if cell.is_live and cell.traits.locks:
                    found.setdefault(cell.traits.call.agent, []).append(frozenset(_leaves_in(state.run, cell)))
        return found

    # ------------------------------------------------------------ what is known

    def _known(
        self, able: "Sequence[Agent]", wanted: Wanted, place: Place, tasks: Sequence[Memory]
    ) -> "tuple[set[str], Mapping[str, Known]]":
        from perdure.agents.choosing import Known, records_of  # noqa: PLC0415  as above

        load, taken = self._at_work()
        records = records_of(tasks)
        claimed = Counter(name for each in self._more_important(place, wanted) for name in each.agents)
        held = self._held_around(place)
        return taken, {
            name: Known(load[name], *records.get(name, (0, 0)), held.get(name, ""), claimed[name])
            for name in (each.name for each in able)
        }

    def _at_work(self) -> tuple[Counter[str], set[str]]:
        """How many tasks each agent is at, and which seats are taken."""
        load, taken = Counter[str](), set[str]()
        for cell in (each for state in self._states() for each in state.agents.values() if each.is_live):
            load[cell.traits.call.agent] += 1
            taken.update(cell.traits.locks)
        for agent, seat in self._given.values():
            load[agent] += 1
            taken.add(seat)
        return load, taken

    def _more_important(self, place: Place, wanted: Wanted) -> Iterator[Waiting]:
        return (each for other, each in self._waiting.items() if other != place and each.priority > wanted.priority)

    def _held_around(self, place: Place) -> Mapping[str, str]:
        """Seats that the work around a step holds: an agent that asks for itself would else wait for itself."""
        cell = self._cell(place)
        around = [] if cell is None else [(each.traits.call, each.traits.locks) for each in cell.around]
        seats = ((call.agent, lock) for call, locks in around if isinstance(call, AgentCall) for lock in locks)
        return {agent: lock for agent, lock in seats if lock.startswith(f"agent.{agent}.")}

    # ------------------------------------------------------------ where runs stand

    def _states(self) -> Iterable[State]:
        runners = self.host.runners.values() if self.host else ()
        return [each.state for each in runners if not each.is_foreign]

    def _cell(self, place: Place) -> Cell | None:
        run, step, _ = place
        runner = self.host.runners.get(run) if self.host else None
        return runner.state.cells.get(step) if runner else None

    def _forget_gone(self) -> None:
        """What was given is known to the run once the step is over; who waited and is gone waits no more."""
        self._given = {place: given for place, given in self._given.items() if self._is_live(place)}
        self._waiting = {place: each for place, each in self._waiting.items() if self._is_awaited(place)}

    def _is_awaited(self, place: Place) -> bool:
        """Whether a step will ask again; one of a run that stands still does not."""
        runner = self.host.runners.get(place[0]) if self.host else None
        state = runner.state if runner else None
        return state is not None and state.paused_at is None and state.stopping is None and self._is_live(place)

    def _is_live(self, place: Place) -> bool:
        cell = self._cell(place)
        return cell is not None and cell.is_live and cell.visit == place[2]


def _leaves_in(run: str, cell: Cell) -> Iterator[Place]:
    """The steps at work, or about to be, inside one."""
    left = [cell]
    while left:
        each = left.pop()
        if isinstance(each.body, Body):
            left.extend(each.body.live.values())
        else:
            yield run, each.key, each.visit


def stuck_in(waiting: Mapping[Place, Waiting], holders: Mapping[str, Sequence[Holder]]) -> set[Place]:
    """Those who wait for one another, and for nobody else: none of them will ever be served.

    An agent may become free as long as one of those it is at has something in it that does not wait so.
    """
    stuck = set(waiting)
    while freed := {place for place in stuck if _may_come(waiting[place].agents, holders, stuck)}:
        stuck -= freed
    return stuck


def _may_come(agents: Iterable[str], holders: Mapping[str, Sequence[Holder]], stuck: set[Place]) -> bool:
    return any(not holders.get(name) or any(not each or not each <= stuck for each in holders[name]) for name in agents)

"""One turn while it is made: what was decided so far, and which steps are still to be looked at."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.core import events as e
from perdure.core.cells import Body, Cell, Result
from perdure.core.evolve import end_visit, evolve
from perdure.core.state import State
from perdure.core.values import Value, keep
from perdure.plan.model.steps import WaitStep


class Moment(msgspec.Struct, gc=False):
    """What comes with a message, besides what it says: the time, and what is free."""

    at: int
    """Milliseconds."""
    slots: int = 1_000_000
    """How many attempts may begin."""
    tools: Mapping[str, int] = {}
    """How many of them with a tool; a tool that is not named has no limit."""
    locked: frozenset[str] = frozenset()
    """Locks that other runs hold."""
    held: bool = False
    """Nothing begins at all, not even taking back, which waits for no slot."""


class Deciding:
    """A turn in the making."""

    __slots__ = (
        "agenda", "at", "begun", "entered", "events", "held", "locked", "now", "over", "slots", "state", "tools",
    )  # fmt: skip

    def __init__(self, state: State, moment: Moment) -> None:
        self.state = state
        self.at = max(moment.at, state.at)
        self.now = state.clock(self.at)
        """The run's own time."""
        self.slots = moment.slots
        self.tools = dict(moment.tools)
        self.locked = moment.locked
        self.held = moment.held
        self.events: list[e.Event] = []
        self.agenda: dict[Cell, None] = {}
        self.over: list[Cell] = []
        """Steps that have just ended, as long as nobody was asked whether the plan is to change for that."""
        self.entered: dict[Cell, int] = {}
        """Where in `events` an acting step was entered."""
        self.begun = -1
        """The last place in `events` where an attempt begins."""

    def record(self, event: e.Event) -> None:
        """Make it so."""
        self.events.append(event)
        evolve(self.state, event, self.at)

    def record_entry(self, cell: Cell, event: e.StepEntered) -> None:
        """A visit begins."""
        if (cell.traits.usual or cell.traits).kind == "work" and not event.strategy:
            self.entered[cell] = len(self.events)
        self.record(event)

    def record_start(self, cell: Cell, event: e.AttemptStarted) -> None:
        """An attempt begins. If its step was entered in this turn, that goes without saying.

        The order of the facts stays as it was decided, also if somebody else could begin before. One that takes locks
        or sets a timer stays behind whatever came between: a lock may have become free there.
        """
        place = self.entered.pop(cell, -1)
        is_bound = event.due is not None or cell.traits.locks
        if place <= self.begun or (is_bound and place + 1 != len(self.events)):
            place = len(self.events)
        self.begun = place
        self.events[place : place + 1] = [event]
        evolve(self.state, event, self.at)

    def record_end(self, cell: Cell, to: str) -> None:
        """A visit is over with the attempt that was heard of last: one fact says both."""
        heard = self.events[-1]
        assert isinstance(heard, e.AttemptEnded)  # noqa: S101  that is when it is called
        told = self.events[-1] = cell.work.outcome = replace(heard, to=to)
        end_visit(self.state, cell, Result(told.exit, to, cell.body, told.output))

    def look_at(self, cell: Cell | None) -> None:
        """Look at a step before the turn is over."""
        if cell is not None:
            self.agenda[cell] = None

    def look_within(self, cell: Cell) -> None:
        """Look at a step and all that is live inside it, as far as it may go on."""
        self.look_at(cell)
        for child in list(cell.body.live.values()) if isinstance(cell.body, Body) and cell.open else ():
            self.look_within(child)

    def keep(self, value: Any) -> Value:
        """A value as facts hold it."""
        return keep(value, self.state.kept)

    def read(self, digest: str) -> Any:
        """A value that was kept."""
        return self.state.read(digest)

    def is_late(self, cell: Cell) -> bool:
        """Whether the time of a visit is up."""
        if cell.due is None or self.state.paused_at is not None:
            return False
        fixed = isinstance(cell.step, WaitStep) and cell.step.wait.until is not None
        return cell.due <= (self.at if fixed else self.now)

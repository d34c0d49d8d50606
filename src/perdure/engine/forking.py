"""A new run that begins with the facts of another one, up to a point, and goes its own way from there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from msgspec import structs

from perdure.core import events as e
from perdure.core.accepting import culprit
from perdure.core.cells import Cell, Graph
from perdure.core.deciding import Moment
from perdure.core.refusing import NoStep
from perdure.core.state import Rules, State
from perdure.core.turn import replay, status_of, turn
from perdure.core.values import Value, keep
from perdure.engine.ids import new_id
from perdure.engine.revising import message_of
from perdure.engine.starting import accepted, goal_of
from perdure.errors import PerdureError
from perdure.plan.between import edits_between
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import MapStep
from perdure.plan.raw import is_mapping
from perdure.ports import Artifact, Entry, Journal, Summary, Turn
from perdure.runtime.summing import counters_of

PAGE: Final = 200
"""Entries that are kept in one row."""


class NoPoint(PerdureError):
    """A run cannot be forked there."""

    code: ClassVar[str] = "PRD3301"
    exit_code: int = 2


@dataclass(frozen=True, slots=True)
class Fork:
    """What is wanted."""

    at: int | None = None
    """After so many facts."""
    step: str = ""
    """Before the last visit of a step."""
    inputs: Mapping[str, Any] | None = None
    """What is seen in place of what the run was given."""
    by: str = ""
    plan: Plan | None = None
    """What the plan is to be from there on."""


async def forked(  # noqa: PLR0913  what is wanted, and all that it is made of
    journal: Journal, rules: Rules, run: str, wish: Fork, now: int, *, check: Callable[[State], object]
) -> list[Turn]:
    """The turns that such a run begins with. Nothing is written. `check` may refuse the state that it begins with."""
    _, entries = await journal.load(run)
    events = [e.decode(each.type, each.body) for each in entries]
    return _Forking(rules, run, entries, events, check).turns(wish, now)


class _Forking:
    """One run, and the facts of it that another one begins with."""

    def __init__(
        self,
        rules: Rules,
        run: str,
        entries: Sequence[Entry],
        events: Sequence[e.Event],
        check: Callable[[State], object],
    ) -> None:
        self._rules, self._run, self._entries, self._events, self._check = rules, run, entries, events, check

    def turns(self, wish: Fork, now: int) -> list[Turn]:
        point = self._point(wish)
        at = self._entries[point - 1].at
        state = self._folded(point, new_id("r", now))
        if state.ended is not None:
            told = f"{self._run} was over after fact {point}: it {state.ended.status}"
            raise NoPoint(told, "name an earlier fact, or a step to begin with: --from STEP")
        revised = _revised(state, wish)
        about = {"of": self._run, "seq": point, "at": at, "by": wish.by, "revised": revised is not None}
        made = turn(state, e.RunForked(**about, **_seen(state, wish)), Moment(now, slots=0, held=True))
        if revised is not None:
            made += turn(state, revised, Moment(now, slots=0, held=True))
        self._check(state)
        return self._written(state, made, point, max(now, at))

    def _folded(self, point: int, run: str) -> State:
        facts = zip(self._events[:point], (each.at for each in self._entries), strict=False)
        return replay(run, self._rules, facts)

    # ------------------------------------------------------------ where

    def _point(self, wish: Fork) -> int:
        """How many facts are taken over."""
        if wish.at is not None and wish.step:
            raise NoPoint("a fork begins after a fact or before a step, not both", "name one of them")
        if wish.at is not None:
            return self._whole(self._in_range(wish.at))
        if wish.step:
            return self._whole(self._before(wish.step))
        return self._whole(self._by_itself())

    def _in_range(self, at: int) -> int:
        most = len(self._events)
        if not 1 <= at <= most:
            raise NoPoint(f"{self._run} has no fact {at}: they are numbered 1 to {most}", "`perdure logs` shows them")
        return at

    def _whole(self, point: int) -> int:
        """Not behind a fact that only leads up to the next one: both were decided as one.

        Before a run was mended it was over, so whoever names the fact by which it goes on gets the plan as well.
        """
        if _awaits_plan(self._events[point - 1]):
            return point + 1
        while point < len(self._events) and self._leads_up(point):
            point -= 1
        return point

    def _leads_up(self, point: int) -> bool:
        event = self._events[point - 1]
        if isinstance(event, e.QuestionAnswered):
            return self._is_about_budget(event.question)
        return isinstance(event, (e.SignalTaken, e.QuestionClosed, e.EffectFound, e.RungTaken))

    def _is_about_budget(self, question: str) -> bool:
        asked = (each for each in self._events if isinstance(each, e.QuestionAsked))
        return any(each.question == question and each.about == "budget" for each in asked)

    def _before(self, step: str) -> int:
        """Just before the last visit of a step began."""
        found: dict[int, int] = {}
        for place, event in enumerate(self._events):
            if _begins(event, step):
                found.setdefault(getattr(event, "visit", -place), place)
        if not found:
            raise NoStep(f"no visit of {step!r} has begun in {self._run}", "`perdure show` lists the steps")
        return max(found.values())

    def _by_itself(self) -> int:
        """Where somebody who says nothing wants to go on: before what went wrong, or where it stands."""
        state = self._folded(len(self._events), self._run)
        if state.ended is None:
            return len(self._events)
        if state.ended.status not in {"failed", "cancelled"}:
            told = f"{self._run} is over: {status_of(state)}"
            raise NoPoint(told, "say where to begin: --from STEP, or --from and the number of a fact")
        cause = culprit(state)
        ends = (e.RunStopping, e.RunEnded)
        return self._before(cause) if cause else self._last(ends[: 1 + (state.stopping is None)])

    def _last(self, types: tuple[type[e.Event], ...]) -> int:
        return max(place for place, event in enumerate(self._events) if isinstance(event, types))

    # ------------------------------------------------------------ what is written

    def _written(self, state: State, made: list[e.Event], point: int, at: int) -> list[Turn]:
        events = [*self._events[:point], *made]
        times = [*(each.at for each in self._entries[:point]), *([at] * len(made))]
        bodies = [*(each.body for each in self._entries[:point]), *map(e.encode, made)]
        facts = [
            (Entry(state.run, seq, event.type, when, body), event)
            for seq, (event, when, body) in enumerate(zip(events, times, bodies, strict=True), 1)
        ]
        rows = [facts[first : min(first + PAGE, point)] for first in range(0, point, PAGE)] + [facts[point:]]
        summary = _summary(state)
        shown = {0: summary, len(rows) - 1: summary}
        return [_turn(row, state.kept, shown.get(place)) for place, row in enumerate(rows)]


def _awaits_plan(event: e.Event) -> bool:
    """Whether the plan is another one with the next fact."""
    return isinstance(event, (e.RunReopened, e.RunForked)) and event.revised


def _begins(event: e.Event, step: str) -> bool:
    """Whether a visit of a step begins with it, or the step was passed by."""
    if isinstance(event, (e.StepEntered, e.StepPassed)):
        return event.step == step
    if not isinstance(event, e.AttemptStarted) or event.step != step:
        return False
    return event.deed == "do" and event.attempt == 1


def _revised(state: State, wish: Fork) -> e.RunRevised | None:
    """What makes the plan that is wanted of the one that the run has at that point; None if it is the same."""
    if wish.plan is None:
        return None
    edits = edits_between(state.cells[""].scope.outline.plan, wish.plan)
    return message_of(edits, base=None, by=wish.by, why="another plan for the fork") if edits else None


def _seen(state: State, wish: Fork) -> dict[str, Any]:
    """What changes in what is seen: the inputs, and a goal that names them."""
    if not wish.inputs:
        return {}
    assert state.started is not None  # noqa: S101  its first fact says so
    for cell in state.cells.values():
        if _is_bound(cell):
            told = f"the items of {cell.key} were told by the inputs, and it is under way"
            raise NoPoint(told, f"begin before it: --from {cell.key}")
    plan = state.cells[""].scope.outline.plan
    given = accepted(plan, {**state.started.inputs.load(state.read), **wish.inputs})
    return {"inputs": keep(given, state.kept), "goal": goal_of(plan, given)}


def _is_bound(cell: Cell) -> bool:
    """Whether it is a map that has its items, and they came from the inputs."""
    step = cell.step
    if not (isinstance(step, MapStep) and cell.kind == "map" and cell.is_live):
        return False
    named = (each.root for each in cell.scope.outline.form(step.map).references)
    return isinstance(cell.body, Graph) and cell.body.grown and "inputs" in named


def _summary(state: State) -> Summary:
    assert state.started is not None  # noqa: S101  its first fact says so
    started, status = state.started, status_of(state)
    wake_at = state.wake_at if status == "waiting" else None
    shown = (started.goal, started.session, started.parent)
    return Summary(status, *shown, wake_at, state.ended is not None, counters_of(state))


def _turn(facts: Sequence[tuple[Entry, e.Event]], kept: Mapping[str, bytes], summary: Summary | None) -> Turn:
    entries, events = [entry for entry, _ in facts], [event for _, event in facts]
    asked = [each.question for each in events if isinstance(each, e.QuestionAsked)]
    closed = [each.question for each in events if isinstance(each, (e.QuestionAnswered, e.QuestionClosed))]
    named = dict.fromkeys(digest for event in events for digest in _named(event))
    artifacts = [Artifact(digest, kept.get(digest)) for digest in named]
    return Turn(entries[0].run, entries[0].seq, entries, artifacts, summary, asked, closed)


def _named(event: e.Event) -> Iterator[str]:
    """The values that a fact names and that are kept apart."""
    fields: dict[str, Any] = structs.asdict(event)
    for name, value in fields.items():
        if isinstance(value, Value) and value.sha256:
            yield value.sha256
        elif name == "undo" and is_mapping(value) and "sha256" in value:
            yield str(value["sha256"])
        elif name == "plan" and value:
            yield str(value)

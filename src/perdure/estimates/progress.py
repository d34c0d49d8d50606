"""Progress: how far a run is, and when it will be over. Made anew as facts come, in bounded time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from perdure.core import events as e
from perdure.core.state import State
from perdure.core.turn import status_of
from perdure.estimates.forecast import Forecast, Range, range_of, simulated
from perdure.estimates.history import History
from perdure.estimates.parts import SECOND, Layout
from perdure.estimates.past import Witness
from perdure.estimates.resuming import Resumed
from perdure.estimates.sources import Means
from perdure.plan.raw import is_mapping

RUNS: Final = 100
STEPS: Final = 30_000
"""Steps that are simulated for one look."""
SLACK: Final = 0.1
"""A run that is a little less far than it seemed to be stays where it was; one that has lost more says so."""
LEAST_PAUSE: Final = 500
PAUSE: Final = 0.1
"""Milliseconds until the next look, for each step that was simulated: looking takes a small share of the time."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    status: str
    fraction: float
    """From 0 to 1, by the work that is done and that is expected to be left."""
    left: Range
    """Seconds to its end, with people and the outside that are waited for."""
    work_left: Range
    """Seconds of them with somebody at work."""
    worked: float
    """Seconds with somebody at work until now."""
    steps_over: int
    at_work: int
    waits: int
    """Questions to people that are open. How long they wait may be known from earlier answers, or not at all."""
    guess: bool
    """Whether some of what is left had to be guessed."""


class Pace:
    """Follows a run: sees each fact after the state has taken it, and says how far it is when somebody asks."""

    def __init__(self, state: State, history: History, means: Means | None = None) -> None:
        self._witness = Witness(state)
        self._history, self._means = history, means
        self._layout: tuple[int, Forecast] | None = None
        self._last: Progress | None = None
        self._seen = self._looked = 0
        self._again = 0

    def see(self, event: e.Event) -> None:
        """The fact that the state has just taken."""
        self._witness.see(event)
        self._seen += 1

    def progress(self, now: int) -> Progress | None:
        """How far it is at a moment, in milliseconds; None: it has not begun. It may be the last answer."""
        state = self._witness.state
        if state.root is None:
            return None
        if state.ended is not None:
            return self._over(state)
        if self._last is None or now >= self._again:
            self._last = self._look(state, now)
        return self._last

    def _over(self, state: State) -> Progress:
        none, status = Range(0, 0, 0), status_of(state)
        fraction = 1.0 if status == "succeeded" or self._last is None else self._last.fraction
        worked = self._witness.worked / 1_000
        return Progress(status, fraction, none, none, worked, state.steps_over, 0, 0, guess=False)

    def _look(self, state: State, now: int) -> Progress:
        forecast = self._forecast(state)
        clock = max(state.clock(max(now, state.at)), 0)
        taken = simulated(lambda n: Resumed(forecast.course(0, n), self._witness, clock).run(), RUNS, STEPS)
        self._again = now + max(LEAST_PAUSE, round(PAUSE * sum(each.steps for each in taken)))
        good = [each for each in taken if each.exit == "success"] or taken
        done = self._done(state, clock)
        ahead = fmean(each.labour for each in good) / SECOND
        return Progress(
            status_of(state),
            self._fraction(done / (done + ahead) if done + ahead else 0.0),
            range_of(each.took / SECOND for each in good),
            range_of(each.worked / SECOND for each in good),
            self._witness.worked / 1_000,
            state.steps_over,
            len(state.flying),
            len(state.questions),
            guess=bool(forecast.guessed or forecast.open_ended),
        )

    def _done(self, state: State, clock: int) -> float:
        """Seconds of work that are done, those of what is under way included."""
        began: Callable[[str], int] = self._witness.began
        return (self._witness.labour + sum(max(0, clock - began(step)) for step in state.flying)) / 1_000

    def _fraction(self, found: float) -> float:
        before = self._last.fraction if self._last is not None else 0.0
        return before if found < before < found + SLACK else found

    def _forecast(self, state: State) -> Forecast:
        """The plan as it is now, made ready."""
        assert state.root is not None  # noqa: S101  it has begun
        if self._layout is None or self._layout[0] != state.revision:
            layout = Layout(state.root.scope.outline, self._history, self._means, self._inputs(state))
            self._layout = state.revision, Forecast(layout, runs=0)
        return self._layout[1]

    def _inputs(self, state: State) -> Mapping[str, Any]:
        found = state.started.inputs.load(state.read) if state.started else None
        return found if is_mapping(found) else {}

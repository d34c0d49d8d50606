"""A world in memory: a run is driven through the pure core, with a scripted performer and a clock that jumps.

    plan = {"steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y"}]}
    world = World(plan, {"a": 1, "b": Failure("logic", "no")}).run()
    assert world.status == "failed"

No time passes, nothing is stored, nothing is mocked: the turns, the fold and the encoding are those of the product. A
script says by step what its attempts give: a value, a `Failure`, an `Outcome`, a list of these for one attempt after
the other (the last one stays), or a function of the call. What undoes a step is scripted as `<step>!`, what a probe
finds as `<step>?`: `{"happened": True, "output": …}`, `{"happened": False}`, or anything else; what a tool says that
judges it as `<step>~`. A script can also be a function that is asked about every attempt.
"""

import json
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from perdure.core import events as e
from perdure.core.accepting import Look, Mended, Message
from perdure.core.calls import Call, Failure, Outcome, Repeat
from perdure.core.deciding import Moment
from perdure.core.judging import judging_call
from perdure.core.outline import Outline
from perdure.core.policy import Layer
from perdure.core.seeing import call_of, output_of
from perdure.core.state import Rules, State
from perdure.core.turn import Command, StopAttempt, pending, replay, status_of, turn
from perdure.core.undoing import undo_call
from perdure.core.values import keep
from perdure.plan import Plan

__all__ = ["HANGS", "LOST", "World"]

NOON: Final = 1_800_000_000_000
"""When every world begins, in milliseconds."""
PATIENCE: Final = 100_000
"""The most that a run may do before it counts as one that does not end."""
Script = Mapping[str, Any] | Callable[[Command], Any]


@dataclass(frozen=True, slots=True)
class Takes:
    """An answer that is there only after some seconds."""

    seconds: float
    answer: Any = None


class _Word:
    """An answer that is none."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


LOST: Final = _Word("LOST")
"""The process of the attempt is gone."""
HANGS: Final = _Word("HANGS")
"""The attempt gives no answer until it is stopped."""


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made."""

    step: str
    visit: int
    attempt: int
    deed: str
    call: Call
    at: int


class World:
    """One run and everything around it."""

    def __init__(  # noqa: PLR0913  each is a dial of the world, given by name
        self,
        plan: Plan | Mapping[str, Any],
        script: Script | None = None,
        *,
        repeat: Repeat | Callable[[Call], Repeat] = "safe",
        seconds: Callable[[Call], float | None] = lambda _: None,
        estimate: Callable[[Call], Mapping[str, float]] = lambda _: {},
        strategies: Mapping[str, Any] | None = None,
        plans: Mapping[str, Plan | Mapping[str, Any]] | None = None,
        probes: Collection[str] = (),
        undo: Mapping[str, tuple[str, ...]] | None = None,
        lasts: Collection[str] = (),
        skilled: Callable[[Call, Sequence[str], tuple[Layer, ...]], Sequence[str]] = lambda _call, _skills, _layers: (),
        slots: int = 1_000_000,
        limits: Mapping[str, int] | None = None,
        order: int | None = None,
        forgetful: bool = False,
        planning: bool = False,
        adjust: Callable[[Any], Any] | None = None,
    ) -> None:
        self.plan = _as_plan(plan)
        self.script = script or {}
        self.slots = slots
        """How many attempts may be under way at once."""
        self.limits = limits or {}
        """How many of them with a tool."""
        self.locked: frozenset[str] = frozenset()
        """Locks that other runs hold."""
        self.forgetful = forgetful
        """Whether the run is folded anew before every message."""
        self.now = NOON
        self.facts: list[tuple[str, bytes, int]] = []
        """The journal: type, body and time of every fact."""
        self.made: list[Made] = []
        self.store: dict[str, bytes] = {}
        self._outlines: dict[str, Outline] = {}
        self._chance = None if order is None else random.Random(order)  # noqa: S311  a shuffled schedule, no secret
        self._ready: dict[Command, int] = {}
        self._tries: dict[tuple[str, str], list[tuple[int, int]]] = {}
        named = {name: self.put(_as_plan(each)) for name, each in (plans or {}).items()}
        ask: Callable[[Call], Repeat] = repeat if callable(repeat) else lambda _: repeat
        looks = probes.__contains__, (undo or {}).get, lasts.__contains__

        def expected(call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
            return {**estimate(call), **said}

        self.rules = Rules(self.read, self.outline, ask, seconds, strategies or {}, named, *looks, expected)
        self.rules.skilled = skilled
        self.rules.planning, self.rules.adjust = planning, adjust
        self.state = State("r_1", self.rules)

    # ---------------------------------------------------------------- what is kept

    def put(self, plan: Plan) -> str:
        """Keep a plan; the digest it has."""
        digest = plan.hash.rpartition(":")[2]
        self.store[digest] = plan.canonical_json()
        return digest

    def read(self, digest: str) -> Any:
        """A kept value."""
        return json.loads(self.store[digest])

    def outline(self, digest: str) -> Outline:
        """A kept plan, ready for running."""
        if digest not in self._outlines:
            self._outlines[digest] = Outline(Plan.model_validate(self.read(digest)))
        return self._outlines[digest]

    # ---------------------------------------------------------------- messages

    def start(self, inputs: Mapping[str, Any] | None = None, *, seed: int = 0, due: float | None = None) -> "World":
        """Start the run; `due` is how many seconds it may take."""
        given = {name: each["default"] for name, each in self.plan.inputs.items() if "default" in each}
        value = keep({**given, **(inputs or {})}, self.state.kept)
        late = None if due is None else self.now + round(due * 1000)
        self.send(e.RunStarted(plan=self.put(self.plan), goal=self.plan.goal, inputs=value, seed=seed, due=late))
        return self

    def send(self, message: Message | Mended) -> list[e.Event]:
        """Take one turn, and believe what follows from it."""
        if self.forgetful:
            self.fold()
        events = turn(self.state, message, self._moment(message))
        self.facts.extend((event.type, e.encode(event), self.now) for event in events)
        self.store.update(self.state.kept)
        self.state.kept.clear()
        return events

    def _moment(self, message: Message | Mended) -> Moment:
        """What is free, with the place that the message itself gives back."""
        freed = message.step if isinstance(message, (e.AttemptEnded, e.AttemptLost)) and message.deed == "do" else None
        used = self.state.tools_at_work
        at_work = [tool for step, tool in used.items() if step != freed]
        tools = {name: most - at_work.count(name) for name, most in self.limits.items()}
        return Moment(self.now, self.slots - len(at_work), tools, self.locked)

    def answer(self, value: Any, step: str = "", by: str = "") -> list[e.Event]:
        """Answer the open question of a step, or the one that was asked first."""
        asked = self.state.questions.values()
        question = next((each.question for each in asked if step in ("", each.step)), step)
        return self.send(e.QuestionAnswered(question=question, value=keep(value, self.state.kept), by=by))

    def signal(self, name: str, value: Any = None) -> list[e.Event]:
        """Something happens outside."""
        return self.send(e.SignalReceived(name=name, value=keep(value, self.state.kept)))

    def cancel(self, step: str = "", exit: str = "cancelled") -> list[e.Event]:  # noqa: A002  the word of the event
        """Stop a step, or the whole run."""
        return self.send(e.StepStopping(step=step) if step else e.RunStopping(exit=exit))

    def pause(self) -> list[e.Event]:
        """Hold the run."""
        return self.send(e.RunPaused())

    def resume(self) -> list[e.Event]:
        """Let the run go on."""
        return self.send(e.RunResumed())

    def retry(self, step: str = "", *edits: dict[str, Any]) -> list[e.Event]:
        """Open the run again, with other steps in its plan if there are edits."""
        reopened = e.RunReopened(step=step)
        if not edits:
            return self.send(reopened)
        return self.send(Mended(reopened, e.RunRevised(base=self.state.revision, edits=edits)))

    def pass_time(self, seconds: float) -> list[e.Event]:
        """Let time go by, and look."""
        self.now += round(seconds * 1000)
        return self.send(Look())

    # ---------------------------------------------------------------- crashes

    def fold(self) -> State:
        """Forget the state, and fold the journal anew."""
        kept = self.state.kept
        facts = ((e.decode(type_, body), at) for type_, body, at in self.facts)
        self.state = replay(self.state.run, self.rules, facts)
        self.state.kept.update(kept)
        return self.state

    def crash(self) -> None:
        """The process dies and another takes over: whatever was under way is lost."""
        self.fold()
        for each in pending(self.state):
            self.send(e.AttemptLost(step=each.step, visit=each.visit, attempt=each.attempt, deed=each.deed))

    # ---------------------------------------------------------------- driving

    def run(self, most: int = PATIENCE) -> "World":
        """Start the run if it was not, and go on until it is over or waits for somebody."""
        if self.state.started is None:
            self.start()
        for _ in range(most):
            if not self.step():
                return self
        raise AssertionError(
            f"the run did not come to rest: {self.status}, {[kind for kind, _, _ in self.facts[-20:]]}"
        )

    def step(self) -> bool:
        """Do the next thing that can be done without somebody outside; whether there was one."""
        if self.state.ended is not None:
            return False
        able = [each for each in self.commands() if self._is_ready(each)]
        if able:
            self.perform(able[0] if self._chance is None else self._chance.choice(able))
            return True
        return self._sleep()

    def commands(self) -> list[Command]:
        """What is to be at work, or to be stopped."""
        return pending(self.state)

    def _is_ready(self, command: Command) -> bool:
        if isinstance(command, StopAttempt):
            return True
        given = self._scripted(command)
        if given is HANGS:
            return False
        if isinstance(given, Takes):
            return self._ready.setdefault(command, self.now + round(given.seconds * 1000)) <= self.now
        return True

    def _sleep(self) -> bool:
        """Jump to the next moment at which something happens."""
        under_way = self.commands()
        times = [at for command, at in self._ready.items() if at > self.now and command in under_way]
        if self.state.wake_at is not None:
            times.append(self.state.wake_at)
        if not times:
            return False
        self.now = max(self.now, min(times))
        self.send(Look())
        return True

    def perform(self, command: Command) -> list[e.Event]:
        """Do, or stop, what a command says, and report it."""
        about: dict[str, Any] = {
            "step": command.step,
            "visit": command.visit,
            "attempt": command.attempt,
            "deed": command.deed,
        }
        if isinstance(command, StopAttempt):
            return self.send(e.AttemptEnded(**about, exit="failure", failure=Failure("cancelled", "it was stopped")))
        call, given = self._call(command), self._scripted(command)
        self.made.append(Made(**about, call=call, at=self.now))
        if isinstance(given, Takes):
            given = given.answer
        if given is LOST:
            return self.send(e.AttemptLost(**about))
        outcome = _as_outcome(given(call) if callable(given) else given)
        told: dict[str, Any] = {"exit": outcome.exit, "failure": outcome.failure, "judged": outcome.judged}
        told |= {"usage": outcome.usage, "sandboxed": outcome.sandboxed}
        if command.deed != "probe":
            told["approval"] = outcome.approval
        return self.send(e.AttemptEnded(**about, output=keep(outcome.output, self.state.kept), **told))

    def _call(self, command: Command) -> Call:
        if command.deed == "undo":
            return undo_call(self.state.undoing[command.step, command.visit])
        cell = self.state.cells[command.step]
        return judging_call(self.state, cell) if command.deed == "judge" else call_of(self.state, cell)

    def _scripted(self, command: Command) -> Any:
        """What the script says about an attempt: by the step's key, or by its id."""
        if callable(self.script):
            return self.script(command)
        mark = {"do": "", "undo": "!", "probe": "?", "judge": "~"}[command.deed]
        id_ = self.state.cells[command.step].node.id
        given = self.script.get(f"{command.step}{mark}", self.script.get(f"{id_}{mark}", _echo))
        if not isinstance(given, list):
            return given
        answers = cast("list[Any]", given)
        tries = self._tries.setdefault((command.step, command.deed), [])
        this = (command.visit, command.attempt)
        if this not in tries:
            tries.append(this)
        return answers[min(tries.index(this), len(answers) - 1)]

    # ---------------------------------------------------------------- what came of it

    @property
    def status(self) -> str:
        """The run in a word."""
        return status_of(self.state)

    @property
    def output(self) -> Any:
        """What the run gave."""
        return output_of(self.state, self.state.cells[""])

    @property
    def failure(self) -> Failure | None:
        """Why the run failed."""
        return self.state.ended.failure if self.state.ended else None

    @property
    def events(self) -> list[e.Event]:
        """Everything that happened."""
        return [e.decode(type_, body) for type_, body, _ in self.facts]

    def done(self, deed: str = "do") -> list[str]:
        """The keys of the steps whose calls were made, in order."""
        return [each.step for each in self.made if each.deed == deed]

    def exits(self) -> list[tuple[str, str]]:
        """Every end of a step, in order: its key and its exit."""
        return [(each.step, each.exit) for each in self.events if e.ends_step(each)]

    def exit_of(self, step: str) -> str:
        """How a step ended last."""
        return dict(self.exits()).get(step, "")

    def find(self, *types: type[e.Event]) -> list[Any]:
        """The facts of some types."""
        return [event for event in self.events if isinstance(event, types)]


def _as_plan(plan: Plan | Mapping[str, Any]) -> Plan:
    return plan if isinstance(plan, Plan) else Plan.model_validate(plan)


def _as_outcome(given: Any) -> Outcome:
    if isinstance(given, Outcome):
        return given
    return Outcome(exit="failure", failure=given) if isinstance(given, Failure) else Outcome(given)


def _echo(call: Call) -> Any:
    """What a step gives that the script does not know."""
    return call.arguments.get("value")

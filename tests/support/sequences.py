"""Runs to which anything may happen, one thing after another; what must always be so is looked at each time.

What may happen is an action: the next attempt ends well or badly, somebody answers, edits, pauses, cancels, forks the
run or opens it again, time passes, the process dies. `ACTIONS` has them all, for whoever chooses: a seed, or Hypothesis.
"""

import random
from functools import partial
from hashlib import sha256

from laws import check_journal, check_rest, check_state, snapshot
from promises import Promises, check_decisions, check_fork
from random_edits import some_revision
from random_plans import COMMON, a_plan
from recoveries import recovering
from spenders import Auditor, budgeted

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Approval, Failure, Outcome, Usage
from perdure.core.growth import Finish, Move
from perdure.core.refusing import Refused
from perdure.core.turn import pending, replay
from perdure.core.values import Value
from perdure.testing.worlds import LOST, World

GOOD = (1, 2, 3, 5, 9, "left", "right", Outcome(5, "odd"), Outcome(7, usage=Usage(tokens=900, usd=0.3, calls=2)))
BAD = (
    *(Failure(kind, "no") for kind in ("logic", "transient", "unavailable", "timeout", "in_doubt", "denied", "stalled", "unknown")),
    Failure("rate_limited", "slow", retry_after=7.0), LOST, Outcome("a diff", approval=Approval("d1", "may it?")),
)  # fmt: skip
LOOKS = (
    {"happened": True, "output": 3},
    {"happened": False},
    {"happened": None},
    7,
    LOST,
    Failure("transient", "later"),
)
JUDGEMENTS = (True, True, {"met": True}, {"met": False, "why": "no"}, "what?", LOST, Failure("logic", "no"))
WORDS = (
    True, "approved", "rejected", "red", "blue", "a text", {}, "happened", "not_happened", "again", "undo", "give_up", "finish",
    "fail", "continue", 500, 1, {"choice": "happened", "output": 4}, {"choice": "done", "output": 3},
)  # fmt: skip
MOST_RUNS = 3
PATIENCE = 600
"""A run without faults comes to rest within so many steps; the plans are small."""


def drawn(*parts):
    return int.from_bytes(sha256("|".join(map(str, parts)).encode()).digest()[:4])


def grower(view):
    """Adds three steps, each of which needs the one before, drops the first with the last, and then is content."""
    if view.born >= 3:
        return None if view.live else Finish("success", {"n": view.born})
    needs = [f"s{view.born}"] if view.born else []
    step = {"tool": "x.y", "with": {"value": view.born}, "needs": needs, "undo": {"tool": "un.do"}}
    return Move(add=[step], drop=["s1"] if view.born == 2 else [])


class Life(World):
    """One run. After each turn its state and its new facts are held against the laws and the promises."""

    def __init__(self, plan, seed, **dials):
        repeats = ("safe", "keyed", "never")
        super().__init__(
            plan, self._give, repeat=lambda call: repeats[drawn(seed, call.name) % 3], strategies={"agent:grower": grower},
            plans={"common": COMMON}, probes=("x.y",) if seed % 3 else (), undo={"x.z": ("value",)} if seed % 2 else {}, **dials,
        )  # fmt: skip
        self.seed, self.dials, self.given = seed, dials, 1
        self.promises, self.auditor = Promises(), Auditor()
        self.points, self.forked_at, self.loosened = [], 0, False

    def _give(self, command):
        looks = {"probe": LOOKS, "judge": JUDGEMENTS}.get(command.deed)
        if looks is None:
            return self.given
        return looks[drawn(self.seed, command.step, command.visit, command.attempt) % len(looks)]

    def send(self, message):
        events = super().send(message)
        self.points.append(len(self.facts))
        self.loosened |= isinstance(message, (e.RunReopened, e.RunRevised, e.RunForked))
        check_state(self.state, self.slots, self.limits, reopened=self.loosened)
        self.promises.hold(self.state, events)
        if not self.forked_at:  # who keeps books has to see everything
            clock = self.state.clock(self.now)
            self.auditor.see(self.state, events, clock)
            self.auditor.compare(self.state, clock)
        return events

    def offer(self, message):
        """Send it, if it is taken; a message that is refused changes nothing."""
        before, count = snapshot(self.state, self.now), len(self.facts)
        try:
            return self.send(message)
        except Refused:
            assert snapshot(self.state, self.now) == before, f"refused, but changed: {message}"
            assert len(self.facts) == count
            return None

    def forget(self):
        """The process dies: what the journal tells is what there was. I1, I12."""
        before = snapshot(self.state, self.now)
        self.fold()
        assert snapshot(self.state, self.now) == before, "the journal tells another story"


# ------------------------------------------------------------------------------- what may happen


def advance(life, rng, answers=GOOD):
    """The next attempt ends, or time goes on to what is next."""
    life.given = rng.choice(answers)
    if life.state.ended is None and not life.step():
        check_rest(life)


def answer(life, rng):
    asked = sorted(life.state.questions)
    for value in rng.sample(WORDS, 6) if asked else ():
        if life.offer(e.QuestionAnswered(question=rng.choice(asked), value=Value(data=value))) is not None:
            return


def revise(life, rng):
    life.offer(some_revision(life.state, rng))


def crash(life, rng):
    life.forget()
    for each in pending(life.state):
        life.send(e.AttemptLost(step=each.step, visit=each.visit, attempt=each.attempt, deed=each.deed))


def pause(life, rng):
    life.offer(e.RunPaused() if life.state.paused_at is None else e.RunResumed())


def signal(life, rng):
    life.offer(e.SignalReceived(name=rng.choice(("ping", "pong")), value=Value(data=1)))


def wait(life, rng):
    life.now += rng.choice((0, 500, 30_000, 10_000_000))
    life.locked = rng.choice((frozenset(), frozenset(), frozenset({"y"})))
    life.offer(Look())


def cancel(life, rng):
    stop = e.StepStopping(step=rng.choice(sorted(life.state.cells)))
    life.offer(rng.choice((stop, stop, e.RunStopping(exit="cancelled"), e.RunStopping(exit="rolled_back"))))


def reopen(life, rng):
    if life.state.ended is not None and len(life.find(e.RunReopened, e.RunStopping)) < 3:
        to = rng.choice(["", *life.state.marks])
        life.offer(rng.choice((e.RunReopened(step=""), e.RunStopping(exit="rolled_back", to=to))))


ACTIONS = {
    "advance": advance, "fail": partial(advance, answers=BAD), "answer": answer, "revise": revise, "crash": crash,
    "pause": pause, "signal": signal, "wait": wait, "cancel": cancel, "reopen": reopen,
}  # fmt: skip
USUAL = {
    "advance": 12,
    "fail": 4,
    "answer": 4,
    "revise": 3,
    "crash": 2,
    "pause": 1,
    "signal": 1,
    "wait": 1,
    "reopen": 2,
}
"""How often each of them happens among the others, where a seed chooses; a run is cancelled once in a while."""


class Sequence:
    """A run of a random plan, and those that were forked from it."""

    def __init__(self, seed):
        rng = random.Random(seed)
        change = partial(budgeted, rng) if seed % 4 == 0 else partial(recovering, rng)
        dials = {"slots": rng.choice((1, 2, 5, 10**6)), "limits": rng.choice(({}, {}, {"x.y": 1})), "order": seed}
        self.runs = [Life(a_plan(rng, 25, change), seed, **dials)]
        self.runs[0].start()
        self.seen = {"fork": 0, **dict.fromkeys(ACTIONS, 0)}

    def happen(self, what, rng):
        """One action, to one of the runs."""
        life = rng.choice(self.runs)
        if what == "fork":
            self.fork(life, rng)
        elif life.state.ended is None or what in ("reopen", "crash"):
            ACTIONS[what](life, rng)
            self.seen[what] += 1

    def fork(self, life, rng):
        """Another run begins where this one stood after one of its turns, and both go on."""
        point = rng.choice(life.points)
        if len(self.runs) < MOST_RUNS and not over_after(life, point):
            self.runs.append(forked(life, point, f"r_{len(self.runs) + 1}", rng.choice((0, 5_000))))
            self.seen["fork"] += 1

    def check(self):
        """A process that took over now would know the same."""
        for life in self.runs:
            folded = replay(life.state.run, life.rules, decoded(life.facts))
            assert snapshot(folded, life.now) == snapshot(life.state, life.now), "the journal tells another story"

    def end(self, rng):
        """Faults stop: every run comes to rest, and to an end when somebody wants it to. Then the journals are read."""
        for life in self.runs:
            come_to_rest(life)
            come_to_an_end(life, rng)
            life.forget()
            check_journal(life.events)
            check_decisions(life)
            if life.forked_at:
                check_fork(life.events, life.forked_at, life.state)


def over_after(life, point):
    return replay("r", life.rules, decoded(life.facts[:point])).ended is not None


def decoded(facts):
    return ((e.decode(kind, body), at) for kind, body, at in facts)


def forked(life, point, run, gap):
    other = Life(life.plan, life.seed, **life.dials)
    other.store.update(life.store)
    other.facts, other.points, other.forked_at = (
        life.facts[:point],
        [each for each in life.points if each <= point],
        point,
    )
    other.now, other.state = life.now + gap, replay(run, other.rules, decoded(other.facts))
    other.promises.hold(other.state, other.events)
    other.slots, room = 0, other.slots
    other.send(e.RunForked(of=life.state.run, seq=point, at=other.facts[-1][2]))
    other.slots = room
    other.offer(Look())
    return other


# ------------------------------------------------------------------------------- when faults stop


def come_to_rest(life):
    """I10: without faults a run is over, or waits for a person or a signal, within bounded steps."""
    life.locked, life.given = frozenset(), 1
    if life.state.paused_at is not None and life.state.ended is None:
        life.resume()
    life.offer(Look())
    for _ in range(PATIENCE):
        if not life.step():
            check_rest(life)
            return
    raise AssertionError("it does not come to rest")


def come_to_an_end(life, rng):
    """I10, I11: somebody cancels it; whoever is asked answers; it ends, and begins nothing that is not taken back."""
    life.offer(e.RunStopping(exit="cancelled"))
    for _ in range(PATIENCE):
        if life.state.ended is not None:
            return
        if not life.step():
            answer(life, rng)
    raise AssertionError(f"it does not end: {life.status}")


def lived(seed):
    """A sequence that a seed stands for, to its end."""
    sequence, rng = Sequence(seed), random.Random(seed)
    usual = [*USUAL, "fork", "cancel"]
    weights = [*USUAL.values(), 1, 0.2]
    for what in rng.choices(usual, weights, k=rng.randint(5, 45)):
        sequence.happen(what, rng)
    sequence.end(rng)
    return sequence

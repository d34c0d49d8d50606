"""E4 E9 E10 E17: random plans, outcomes, orders, crashes and messages at wrong times. The laws of the core hold."""

import json
import random
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import pytest
from laws import cells_in, check_journal, check_rest, check_state, snapshot
from promises import check_fork
from random_edits import some_revision
from random_plans import COMMON, a_plan
from recoveries import persisting, recovering, straying
from self_changing import WANTED, adjuster, growing, reviser
from sequences import drawn
from spenders import REPORTS, Auditor, budgeted, crowded

from perdure.core import events as e
from perdure.core.accepting import Look, Mended
from perdure.core.calls import Approval, Failure, Outcome
from perdure.core.cells import Graph
from perdure.core.deciding import Deciding, Moment
from perdure.core.growth import Finish, Move
from perdure.core.refusing import Refused
from perdure.core.turn import replay, settle, turn
from perdure.core.values import Value
from perdure.engine.redeciding import redecide
from perdure.testing.worlds import HANGS, LOST, Takes, World

SHARDS = 8
EACH = 40
COMMON_ANSWERS = (
    1, 2, 3, 4, "left", "right", Outcome(5, "odd"), Failure("logic", "no"), Failure("transient", "later"), Failure("in_doubt", "who knows"),
    Failure("rate_limited", "slow", retry_after=7.0), Failure("timeout", "late"), LOST, HANGS, Takes(4, 6), Takes(30, 7), *(1, 2, 4, 5, 6, 7, 8, 9, "left", "right") * 3,
)  # fmt: skip
COMMON_WORDS = (
    True, "approved", "rejected", "red", "blue", "a text", {}, "happened", "not_happened", "give_up",
    {"choice": "happened", "output": 4}, 1,
)  # fmt: skip
LOOKS = (
    {"happened": True, "output": 3}, {"happened": True, "output": "left"}, {"happened": False}, {"happened": None}, 7, LOST, HANGS, Takes(9, {"happened": True}),
    Failure("transient", "later"), Failure("unavailable", "no", retry_after=3.0), Failure("timeout", "late"),
)  # fmt: skip
"""What a look into the world may give."""
JUDGEMENTS = (
    *(True, {"met": True}) * 3, False, {"met": False, "why": "no"}, "what?", LOST, HANGS, Takes(9, True),
    Failure("transient", "later"), Failure("logic", "no"),
)  # fmt: skip
"""What a tool may say that judges."""


@dataclass(frozen=True)
class Era:
    """What can happen in a life. A seed stands for the same life only as long as nothing is added to its era."""

    answers: tuple = COMMON_ANSWERS
    words: tuple = COMMON_WORDS
    deeds: tuple = ("do", "undo")
    probes: tuple = ()
    undo: tuple = ()
    takes_back: bool = False
    """Whether a run that is over may be rolled back."""
    revises: bool = False
    """Whether the plan is edited while it is carried out."""
    adjusts: bool = False
    """Whether it changes by itself."""
    replans: bool = False
    """Whether results are wishes for another plan."""
    judgements: tuple = JUDGEMENTS
    lasts: tuple = ()
    skilled: tuple = ()
    """Tools that are found by skill."""


FIRST = Era()
SECOND = Era(
    (*COMMON_ANSWERS, Outcome("a diff", approval=Approval("d1", "may it?")), Outcome(approval=Approval("d2", "may it?"))),
    (*COMMON_WORDS, "again", "undo"), ("do", "undo", "probe"), ("x.y",), ("x.z",), True,
)  # fmt: skip


THIRD = replace(SECOND, words=(*SECOND.words, "finish", "fail", 500))
FOURTH = replace(
    THIRD, deeds=(*THIRD.deeds, "judge"), words=(*THIRD.words, "continue", {"choice": "done", "output": 3}, {"choice": "done", "output": 8}),
    answers=SECOND.answers + 5 * (Failure("unavailable", "gone"), Failure("denied", "no"), Failure("stalled", "again"), Failure("unknown", "what"), Failure("logic", "no")),
)  # fmt: skip
FIFTH = replace(FOURTH, revises=True)
SIXTH = replace(
    FIFTH,
    judgements=(*JUDGEMENTS, Outcome(approval=Approval("d3", "may it look?"))),
    lasts=("x.w",),
    skilled=("x.w", "x.v", "x.u"),
)
SEVENTH = replace(
    FOURTH, adjusts=True, answers=FOURTH.answers + 15 * tuple(Outcome({"next_steps": each}) for each in WANTED)
)

EIGHTH = replace(SEVENTH, replans=True, answers=SEVENTH.answers + 250 * (Outcome({"replan": {"by": "lot"}}),))


def grower(view):
    """Grows by what it was told: one, two or three steps, sometimes needing each other, sometimes stopping some."""
    if view.born >= 5:
        return Finish("success", {"n": view.born, "last": "${steps.?s2.output}"}, keep=["s1", "s2"])
    draw = drawn(view.born, view.live, len(view.fresh)) % 5
    if draw == 0 and view.live:
        return None
    first = {"tool": "x.y", "with": {"value": view.born}, "undo": {"tool": "un.do"}}
    more = {"tool": "x.z", "needs": [f"s{view.born + 1}"]}
    group = {"parallel": [{"id": "in_a", "tool": "x.y"}, {"id": "in_b", "tool": "x.z"}], "join": "any"}
    add = [[first], [first, more], [first, group], [first, more, group]][draw % 4]
    return Move(add=add, stop=["s2"] if draw == 3 else [], tags={f"s{view.born + 1}": draw}, memo=[view.born])


def reporting(answer, place):
    """The same answer, with a word on what it took."""
    usage = REPORTS[place // 64 % len(REPORTS)]
    if isinstance(answer, Takes):
        return Takes(answer.seconds, reporting(answer.answer, place))
    if isinstance(answer, Failure):
        return Outcome(exit="failure", failure=answer, usage=usage)
    if isinstance(answer, Outcome):
        return msgspec.structs.replace(answer, usage=usage)
    return answer if answer in (LOST, HANGS) else Outcome(answer, usage=usage)


class Watched(World):
    """A world in which the laws are looked at after every turn."""

    def __init__(self, plan, seed, era=SECOND, **dials):
        def script(command):
            place = drawn(seed, command.step, command.visit, command.attempt, command.deed)
            answers = {"probe": LOOKS, "judge": era.judgements}.get(command.deed, era.answers)
            answer = answers[place % len(answers)]
            return reporting(answer, place) if self.spends and command.deed in {"do", "undo"} else answer

        self.spends = any(word.startswith("budget") for word in json.dumps(plan.canonical()).split('"'))
        self.auditor = Auditor()

        repeats = ("safe", "keyed", "never")
        super().__init__(
            plan, script, repeat=lambda call: repeats[drawn(seed, call.name) % 3], strategies={"agent:grower": grower},
            plans={"common": COMMON}, probes=era.probes if seed % 3 else (),
            undo=dict.fromkeys(era.undo, ("value",)) if seed % 2 else {}, lasts=era.lasts,
            skilled=lambda _, skills, __: era.skilled[: 3 - len(skills)], planning=era.adjusts,
            adjust=adjuster(seed) if era.adjusts and seed % 4 else None, **dials,
        )  # fmt: skip
        if era.replans:
            self.rules.revisers = dict.fromkeys(("x.y", "x.z"), reviser(seed))
        self.era = era
        self.schedule, self.reopened, self.run_id = [], False, "r_1"

    def send(self, message):
        self.schedule.append((self.now, self.locked, message))
        events = super().send(message)
        is_other = any(isinstance(each, e.RunRevised) for each in events)
        self.reopened |= is_other or isinstance(message, (e.RunReopened, Mended))
        check_state(self.state, self.slots, self.limits, reopened=self.reopened)
        clock = self.state.clock(self.now)
        self.auditor.see(self.state, events, clock)
        self.auditor.compare(self.state, clock)
        return events

    def refold(self):
        facts = ((e.decode(kind, body), at) for kind, body, at in self.facts)
        return replay(self.run_id, self.rules, facts)


def dials(rng):
    return {
        "slots": rng.choice([1, 2, 5, 10**6]),
        "limits": rng.choice([{}, {}, {"x.y": 1}]),
        "order": rng.randint(0, 10**6),
    }


def wrong_messages(world, rng):
    """Messages that somebody might send at any time, fitting or not."""
    keys = sorted(world.state.cells)
    step = rng.choice(keys)
    questions = sorted(world.state.asked) or ["q_none"]
    commands = world.commands()
    yield e.AttemptEnded(
        step=step, visit=rng.randint(1, 2), attempt=rng.randint(1, 3), deed=rng.choice(world.era.deeds)
    )
    yield e.AttemptLost(step=step, visit=1, attempt=9)
    yield e.QuestionAnswered(question=rng.choice(questions), value=Value(data=rng.choice(world.era.words)))
    yield e.SignalReceived(name=rng.choice(["ping", "pong"]), value=Value(data=1))
    yield rng.choice([e.RunPaused(), e.RunResumed()])
    yield e.RunStarted(plan="x")
    yield Look()
    if commands:
        one = rng.choice(commands)
        yield e.AttemptProgressed(step=one.step, visit=one.visit, attempt=one.attempt, deed=one.deed, fraction=0.5)
        yield e.AttemptLost(step=one.step, visit=one.visit, attempt=one.attempt, deed=one.deed)
    if rng.random() < 0.5:
        yield e.StepStopping(step=step)
    if rng.random() < 0.15:
        yield e.RunStopping(exit=rng.choice(["cancelled", "rolled_back"]))


def disturb(world, rng):
    if world.era.revises and rng.random() < 0.6:
        return revise(world, rng)
    return interrupt(world, rng.choice(list(wrong_messages(world, rng))))


def revise(world, rng):
    """Edits that fit and edits that do not. Whatever is over stays over, and nothing is done a second time for it."""
    before = {cell.key: (cell, cell.result) for cell in cells_in(world.state) if cell.status == "over"}
    visits = dict(world.state.visits)
    interrupt(world, some_revision(world.state, rng))
    for key, (cell, result) in before.items():
        if world.state.find(key) is cell and cell.status == "over" and cell.visit == visits.get(key, 0):
            assert cell.result is result, f"{key} has another result"
    for cell in cells_in(world.state):
        if isinstance(cell.body, Graph) and cell.is_live and not world.reopened:  # who is ready again may be over still
            assert sorted(p for _, p in cell.body.ready if p in cell.body.children) == sorted(
                p for _, p in cell.body.ready if p in cell.body.children and cell.body.children[p].status != "over"
            )


def interrupt(world, message):
    before, count = snapshot(world.state, world.now), len(world.facts)
    try:
        world.send(message)
    except Refused:
        world.schedule.pop()
        assert snapshot(world.state, world.now) == before, f"refused, but changed: {message}"
        assert len(world.facts) == count


def drive(world, rng, most=400):
    world.start()
    for _ in range(most):
        if rng.random() < (0.6 if world.era.revises else 0.25) and world.state.ended is None:
            disturb(world, rng)
        if rng.random() < 0.05:
            world.locked = frozenset() if world.locked else frozenset({"y"})
            if world.state.ended is None:
                world.send(Look())
        assert snapshot(world.refold(), world.now) == snapshot(world.state, world.now)
        check_idle(world)
        if world.state.ended is None and not world.step() and not nudge(world, rng):
            break
        if world.state.ended is not None and not (rng.random() < 0.7 and reopen(world, rng)):
            break
    check_journal(world.events)


def check_idle(world):
    """Nobody owes anything after a turn: to look at any step again changes nothing. Who waits for a lock owes nothing."""
    state = world.refold()
    if state.wake_at is None or state.wake_at > world.now:
        making = Deciding(state, Moment(world.now, slots=0, locked=world.locked))
        for cell in list(cells_in(state)):
            if all(group.open for group in cell.around):
                settle(making, cell)
        assert making.events == []


def nudge(world, rng):
    """Do what the run waits for; whether there was something."""
    check_rest(world)
    if world.state.paused_at is not None:
        return world.resume()
    world.locked = frozenset()
    if world.state.questions:
        for value in rng.sample(world.era.words, len(world.era.words)):
            try:
                return world.answer(value)
            except Refused:
                world.schedule.pop()
    if any(world.state.waiting.values()):
        return world.signal("ping")
    hanging = world.commands()
    if hanging:
        one = rng.choice(hanging)
        return world.send(e.AttemptEnded(step=one.step, visit=one.visit, attempt=one.attempt, deed=one.deed))
    world.send(Look())
    return world.commands() or world.state.questions or world.state.wake_at is not None


def reopen(world, rng):
    if (
        len(world.find(e.RunReopened, e.RunStopping)) >= 3
        if world.era.takes_back
        else len(world.find(e.RunReopened)) >= 2
    ):
        return False
    if world.era.revises and mend(world, rng):
        return True
    try:
        return take_back(world, rng) if world.era.takes_back and rng.random() < 0.5 else world.retry()
    except Refused:
        world.schedule.pop()
        return False


def mend(world, rng):
    """Open a run again with edits; whether some were taken. Who is refused would be refused by the run that goes on, too."""
    for _ in range(rng.randrange(6)):
        over = [cell.key for cell in cells_in(world.state) if cell.status == "over"]
        step = rng.choice(["", "", *over])
        mended = Mended(e.RunReopened(step=step), some_revision(world.state, rng))
        before = len(world.facts)
        interrupt(world, mended)
        if len(world.facts) > before:
            return True
        refused_after(world, mended)
    return False


def refused_after(world, mended):
    """The same in two steps, in a state that nobody keeps."""
    state = world.refold()
    try:
        for message in (msgspec.structs.replace(mended.reopened, revised=True), mended.revised):
            turn(state, message, Moment(world.now, slots=0, held=True))
    except Refused:
        return
    pytest.fail(f"it would be taken by a run that goes on: {mended}")


def take_back(world, rng):
    """Roll a run back that is over: all of it, or back to a checkpoint."""
    return world.send(e.RunStopping(exit="rolled_back", to=rng.choice(["", *world.state.marks])))


def same_schedule(world, plan, seed, **given):
    """The same messages at the same times to a world that folds its journal anew before each of them."""
    other = Watched(plan, seed, **given, forgetful=True)
    for now, locked, message in world.schedule:
        other.now, other.locked = now, locked
        other.store.update(world.store)
        World.send(other, message)
    return other


def one_life(seed, era=SECOND, change=lambda raw: raw):
    rng = random.Random(seed)
    plan = a_plan(rng, change=change)
    given = {"era": era, **dials(rng)}
    world = Watched(plan, seed, **given)
    drive(world, rng)
    assert same_schedule(world, plan, seed, **given).facts == world.facts
    return world


@pytest.mark.parametrize("seed", [900_000_301, 950_000_876, 900_000_968, 950_004_596, 910_005_638, 920_003_408])
def test_lives_that_once_broke_a_law(seed):
    one_life(seed, FIRST)


@pytest.mark.parametrize("seed", [3_000_000_604, 3_100_002_806])
def test_lives_with_looks_and_approvals_that_once_broke_a_law(seed):
    one_life(seed)


@pytest.mark.parametrize("seed", [6_479_683_328])
def test_revised_lives_that_once_broke_a_law(seed):
    revised_life(seed)


def revised_life(seed):
    one_life(seed, FIFTH, laddered(seed) if seed % 3 else spending(seed))


def many_lives(trials, first, era, change=lambda _: lambda raw: raw):
    """Lives of their own for each shard of a campaign."""
    for seed in trials(EACH, first):
        one_life(seed, era, change(seed))


@pytest.mark.campaign(
    "lives by lot: failures, losses, answers, signals, in any order", "I2 I3 I4 I10 I11 I12", of="lives"
)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_laws_hold_whatever_happens(shard, trials):
    many_lives(trials, shard * 1_000_000, SECOND)


def spending(seed):
    rng = random.Random(seed)
    return (lambda raw: budgeted(rng, crowded(rng, raw))) if seed % 2 else partial(budgeted, rng)


def laddered(seed):
    return partial(recovering, random.Random(seed))


def astray(seed):
    return partial(straying, random.Random(seed))


def again(seed):
    return partial(persisting, random.Random(seed))


@pytest.mark.campaign("the same, while plans are revised", "I2 I4 I10 I12", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_e12_the_laws_hold_while_plans_are_revised(shard, trials):
    """Steps are inserted, replaced, removed and amended at any time, for the right revision and for a wrong one."""
    many_lives(
        trials, 900_000_000 + shard * 1_000_000, FIFTH, lambda seed: laddered(seed) if seed % 3 else spending(seed)
    )


def changing(seed):
    rng = random.Random(seed)
    return lambda raw: growing(rng, recovering(rng, raw))


@pytest.mark.campaign("the same, while plans change by themselves", "I2 I4 I10 I12", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a3_the_laws_hold_while_plans_change_by_themselves(shard, trials):
    """Results add steps, rules and an adjuster edit the rest, failures are planned around; some of it is refused."""
    many_lives(trials, 1_300_000_000 + shard * 1_000_000, SEVENTH, changing)


@pytest.mark.campaign("the same, while whoever is at work changes the plan", "I2 I4 I10 I12", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_x2_the_laws_hold_while_whoever_is_at_work_changes_the_plan(shard, trials):
    """Results of steps, of grown ones too, are wishes for another plan, which fit or do not, in all that may happen."""
    many_lives(trials, 1_500_000_000 + shard * 1_000_000, EIGHTH, changing)


@pytest.mark.parametrize(("era", "seed"), [(SEVENTH, 4_690_583_577), (EIGHTH, 3_278_559_025)])
def test_lives_with_plans_that_change_that_once_broke_a_law(era, seed):
    one_life(seed, era, changing(seed))


def test_x2_wishes_by_lot_are_taken_and_refused_and_never_more_often_than_they_may():
    taken = refused = 0
    for seed in range(60):
        world, _ = a_life(seed, EIGHTH, changing(seed))
        all_of_them = [each for each in world.find(e.RunRevised, e.RevisionRefused) if each.after]
        counted = [each for each in all_of_them if each.by != e.NEXT_STEPS]
        places = [place for place, each in enumerate(counted) if each.by == e.REPLANNER]
        assert max(places, default=0) < (world.plan.adjust.most if world.plan.adjust else 20)
        taken += sum(isinstance(counted[place], e.RunRevised) for place in places)
        refused += sum(isinstance(counted[place], e.RevisionRefused) for place in places)
    assert taken > 3
    assert refused > 10


@pytest.mark.campaign("lives with budgets, and reports of less and of more than was promised", "I8", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_r10_nothing_begins_that_a_budget_does_not_cover(shard, trials):
    """Budgets of every kind at the run, at groups and at steps; reports of less and of more than was promised."""
    many_lives(trials, 500_000_000 + shard * 1_000_000, THIRD, spending)


@pytest.mark.campaign("lives on every ladder of recovery", "I2 I4 I10 I12", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a6_the_laws_hold_on_every_ladder(shard, trials):
    """Other ways, looser criteria, tables at steps, groups and plans; people who say how to go on."""
    many_lives(trials, 700_000_000 + shard * 1_000_000, FOURTH, laddered)


@pytest.mark.campaign("groups and agents that go another way", "I2 I4 I10 I12", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a6_the_laws_hold_where_groups_and_agents_go_another_way(shard, trials):
    """Other ways of groups and agents, tools that are found by skill, judges that want to be allowed; and revisions."""
    many_lives(trials, 1_100_000_000 + shard * 1_000_000, SIXTH if shard % 2 else replace(SIXTH, revises=False), astray)


@pytest.mark.campaign("groups and agents that are done again", "I2 I4 I10 I12", of="lives")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a6_the_laws_hold_where_groups_and_agents_are_done_again(shard, trials):
    """As before, and whatever holds steps may be done again as a whole, after a pause."""
    many_lives(trials, 1_500_000_000 + shard * 1_000_000, SIXTH if shard % 2 else replace(SIXTH, revises=False), again)


# ------------------------------------------------------------------------------- forks

LEADING_UP = (e.SignalTaken, e.QuestionClosed, e.EffectFound, e.RungTaken)
"""Facts that were decided as one with the next; nobody forks behind them."""


def a_life(seed, era, change=lambda raw: raw):
    """A life, and how to make another world like it."""
    rng = random.Random(seed)
    plan = a_plan(rng, change=change)
    given = {"era": era, **dials(rng)}
    world = Watched(plan, seed, **given)
    drive(world, rng)
    return world, lambda: Watched(plan, seed, **given)


def is_point(world, at):
    event = world.events[at - 1]
    if isinstance(event, e.QuestionAnswered):
        asked = (each for each in world.find(e.QuestionAsked) if each.question == event.question)
        return not any(each.about == "budget" for each in asked)
    return not isinstance(event, LEADING_UP)


class Silent:
    """The auditor of the laws counts from the start of a life."""

    def see(self, *_): ...
    def compare(self, *_): ...


def fork(other, at, after):
    """Let it go its own way after so many facts, some seconds later."""
    other.facts = other.facts[:at]
    other.state = other.refold()
    other.now += after * 1000
    slots, other.slots = other.slots, 0
    World.send(other, e.RunForked(of="r_1", seq=at, at=other.facts[-1][2]))
    other.slots = slots


def another_way(world, other, at, rng):
    """Fork a life after so many facts, and go on to an end, or until nothing is left to do."""
    other.store.update(world.store)
    other.facts, other.now = list(world.facts), world.now
    other.auditor, other.reopened, other.run_id = Silent(), True, "r_2"
    fork(other, at, rng.choice([0, 5, 10_000]))
    for _ in range(300):
        check_state(other.state, None, None, reopened=True)
        assert snapshot(other.refold(), other.now) == snapshot(other.state, other.now)
        if other.state.ended is not None:
            break
        other.send(Look())
        check_idle(other)
        if other.state.ended is None and not other.step() and not nudge(other, rng):
            break
    check_fork(other.events, at, other.state)


@pytest.mark.campaign("forks of a life behind each of its facts", "I2 I12", of="lives")
def test_every_life_can_be_forked_everywhere(trials):
    for seed in trials(12):
        for era, change in ((SECOND, lambda raw: raw), (THIRD, spending(seed))):
            world, make = a_life(seed, era, change)
            for at in range(1, len(world.facts) + 1):
                if is_point(world, at) and not over_at(world, at):
                    try:
                        another_way(world, make(), at, random.Random(seed))
                    except BaseException as error:
                        error.add_note(f"{'with' if era is THIRD else 'no'} budgets, after fact {at}")
                        raise


@pytest.mark.campaign("forks where groups go another way", "I2 I12", of="lives")
def test_lives_in_which_groups_go_another_way_can_be_forked_everywhere(trials):
    for seed in trials(4):
        world, make = a_life(seed, replace(SIXTH, revises=False), astray(seed))
        assert redecide("r_1", world.rules, facts_of(world)).difference is None, f"seed {seed}"
        for at in range(1, len(world.facts) + 1):
            if is_point(world, at) and not over_at(world, at):
                another_way(world, make(), at, random.Random(seed))


def facts_of(world):
    return list(zip(world.events, (at for _, _, at in world.facts), strict=True))


def over_at(world, at):
    """Whether the run was over after so many facts."""
    ends = [n for n, each in enumerate(world.events[:at]) if isinstance(each, e.RunEnded)]
    opened = [n for n, each in enumerate(world.events[:at]) if isinstance(each, (e.RunReopened, e.RunStopping))]
    return bool(ends) and max(ends) > max(opened, default=-1)


@pytest.mark.campaign("decisions, made again from the facts alone", "I12", of="lives")
def test_every_life_would_be_decided_the_same(trials):
    """What was decided in little room, among locks of others, is found again from the facts alone."""
    for seed in trials(60):
        decided_the_same(seed)


@pytest.mark.parametrize("seed", [5_256_543_971])
def test_lives_that_were_once_decided_otherwise(seed):
    decided_the_same(seed)


def decided_the_same(seed):
    plain = (SECOND, lambda raw: raw)
    for era, change in (plain, (THIRD, spending(seed)), (SEVENTH, changing(seed)), (EIGHTH, changing(seed))):
        world, _ = a_life(seed, era, change)
        found = redecide("r_1", world.rules, facts_of(world))
        assert found.difference is None, f"seed {seed}"
        assert found.facts == len(world.facts)

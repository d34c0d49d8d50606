"""I1 to I12: what must be so whatever happens, one property for each invariant, in one place.

Each is looked at in histories that are drawn by lot, from the journal or from the world alone. Campaigns elsewhere look
at more of them, with real processes and disks: `ALSO` says where. An invariant without a test here is a failure.
"""

import ast
import os
import random
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest
from changes_world import Folder, context_of, hands_at
from power_cuts import found, limit, lost, worked
from promises import check_decisions, is_in_doubt
from random_plans import a_plan
from sequences import ACTIONS, Life, Sequence, come_to_an_end, come_to_rest, lived
from simulated_disk import image
from simulated_world import History
from spenders import budgeted, crowded

import perdure.engine.engine as front
from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.turn import pending, replay
from perdure.engine import forking
from perdure.journal import SqliteJournal
from perdure.ports import Fenced, OutOfOrder
from perdure.testing.clock import run
from perdure.testing.contracts import a_turn
from perdure.testing.replays import folded
from perdure.testing.worlds import HANGS, LOST, Takes, World
from perdure.tools.builtin.files import patch
from perdure.tools.changes import kernel

INVARIANTS = {
    "I1": "no acknowledged event is lost",
    "I2": "a step that is done never runs again",
    "I3": "at most one effect of what must not be repeated",
    "I4": "what was begun and is not settled is seen, and whoever needs it waits",
    "I5": "after a crash there is what was acknowledged, and at most the batch that was not",
    "I6": "the numbers of a run have no gap, and the chain is valid",
    "I7": "tokens of owners never decrease, and each has one owner",
    "I8": "no more is spent and promised than a budget has",
    "I9": "each file of a change set is as it was, or as it was to be",
    "I10": "when faults stop, a run ends or waits for a person, within bounded steps",
    "I11": "nothing begins after a run was told to stop",
    "I12": "the facts lead to the same decisions, and nothing is done for that",
}
ALSO = {
    "I1": ("journal/test_processes.py", "test_a_kill_loses_nothing_that_was_acknowledged"),
    "I2": ("core/test_sequences.py", "test_no_invariant_is_broken_by_any_sequence"),
    "I3": ("engine/test_simulation.py", "test_no_promise_is_broken_in_any_history"),
    "I4": ("core/test_sequences.py", "test_no_invariant_is_broken_by_any_sequence"),
    "I5": ("journal/test_power_cut.py", "test_no_acknowledged_turn_is_lost"),
    "I6": ("journal/test_chain.py", "test_every_change_of_a_stored_value_is_found"),
    "I7": ("journal/test_processes.py", "test_processes_that_contend_never_write_at_once"),
    "I8": ("core/test_laws.py", "test_r10_nothing_begins_that_a_budget_does_not_cover"),
    "I9": ("tools/changes/test_kills.py", "test_killed_at_any_system_call_it_comes_to_the_same_end"),
    "I10": ("core/test_sequences.py", "test_no_invariant_is_broken_by_any_sequence"),
    "I11": ("engine/test_simulation.py", "test_no_promise_is_broken_in_any_history"),
    "I12": ("core/test_laws.py", "test_every_life_would_be_decided_the_same"),
}
"""Where a campaign looks at the same."""
SEEDS = 5_000_000
"""Those of no other campaign."""
BAD = frozenset({"failure", "cancelled", "left", "expired", "exhausted", "skipped"})
"""Exits of steps that may be visited again when a run is opened again."""
ENDS = (
    1,
    1,
    HANGS,
    LOST,
    Takes(60, LOST),
    Failure("in_doubt", "the line broke"),
    Failure("logic", "no"),
    Failure("transient", "no"),
)
"""How attempts end, and how they do not."""
UNTOLD = frozenset({"lost", "timeout", "cancelled", "in_doubt"})
"""How it comes that nobody knows what an attempt did."""
AHEAD = frozenset({"next", "done", "fail", "recover", ""})
"""Where an exit leads if not to a step."""


@pytest.fixture
def engines(monkeypatch):
    """Others want ids of their own."""
    for place in (front, forking):
        monkeypatch.setattr(place, "new_id", place.new_id)


def histories(count):
    """Whole engines that die, on disks that fail, in a world where the end of a deed is often not told; and the facts."""
    for seed in range(SEEDS, SEEDS + count):
        history = History(seed, changes=bool(seed % 2), frail=True)
        run(history.pass_by())
        yield history, {name: run(facts_of(history, name)) for name in history.runs}


async def facts_of(history, name):
    return [e.decode(each.type, each.body) for each in await history.disk.read(name, limit=1_000_000)]


def journals(count):
    """Runs to which anything has happened: what is told of each."""
    for seed in range(SEEDS, SEEDS + count):
        yield from ((seed, life) for life in lived(seed).runs)


# ------------------------------------------------------------------------------- the table


def test_every_invariant_has_a_property_here_and_a_campaign_elsewhere():
    named = {name.split("_")[1].upper(): test for name, test in globals().items() if name.startswith("test_i")}
    told = {each: named[each].__doc__.split(":")[0] for each in INVARIANTS}
    assert told == {each: each for each in INVARIANTS}
    for file, test in (ALSO[each] for each in INVARIANTS):
        tree = ast.parse((Path(__file__).parent / file).read_bytes())
        assert test in {getattr(each, "name", "") for each in tree.body}, file


# ------------------------------------------------------------------------------- the journal


async def power_cuts(tmp_path, monkeypatch, count):
    """Journals at work: what was begun and acknowledged before the power went, and the heads that were found then."""
    limit(monkeypatch)
    for seed in range(count):
        draw = random.Random(SEEDS + seed)
        with monkeypatch.context() as recorded:
            log, begun, acknowledged = await worked(tmp_path / f"{seed}", draw, recorded, rounds=12)
        ends = [at for at, *_ in acknowledged]
        for _ in range(25):
            cut = draw.choice((draw.randrange(len(log) + 1), draw.choice(ends)))
            yield cut, begun, acknowledged, found(image(log, cut, draw, draw.choice([0, 0.5, 0.9])), tmp_path / "image")


async def test_i1_no_acknowledged_event_is_lost(tmp_path, monkeypatch):
    """I1: whenever the power goes, every turn that was acknowledged by then is there, and what is there is whole."""
    looked = 0
    async for cut, _, acknowledged, heads in power_cuts(tmp_path, monkeypatch, 3):
        assert lost(heads, acknowledged, cut) == []
        looked += any(at <= cut for at, *_ in acknowledged)
    assert looked > 20


async def test_i5_a_crash_leaves_the_acknowledged_and_at_most_one_batch(tmp_path, monkeypatch):
    """I5: the head of a run is that of a turn which was begun by then, and no turn is passed over or in part."""
    beyond = 0
    async for cut, begun, acknowledged, heads in power_cuts(tmp_path, monkeypatch, 3):
        for name, head in heads.items():
            assert (name, head) in {(each, seq) for at, each, seq in begun if at <= cut}
            kept = max((seq for at, each, seq in acknowledged if at < cut and each == name), default=0)
            waiting = [seq for _, each, seq in begun if each == name and seq > kept]
            assert head in (kept, *waiting[:1]), "the next turn of a run, of which nobody has heard yet"
            beyond += head > kept
    assert beyond


async def test_i6_numbers_have_no_gap_and_a_changed_entry_is_found(tmp_path):
    """I6: whatever is asked of a journal, runs are 1 to n; and once an entry was changed the chain says so."""
    for seed in range(SEEDS, SEEDS + 8):
        draw, heads, path = random.Random(seed), Counter(), tmp_path / f"{seed}.db"
        async with await SqliteJournal.open(path) as journal:
            for _ in range(30):
                name, size, at = draw.choice("abc"), draw.randint(1, 3), draw.choice((0, 0, 0, -1, 1))
                with suppress(OutOfOrder):
                    await journal.append(
                        a_turn(name, heads[name] + 1 + at, size, body=draw.randbytes(9).hex().encode())
                    )
                    heads[name] += size
            for name, head in heads.items():
                assert [each.seq for each in await journal.read(name)] == list(range(1, head + 1))
                assert (await journal.verify(name)).bad_seq is None
        victim = draw.choice(sorted(name for name in heads if heads[name]))
        assert await is_found(path, victim, draw.randrange(1, heads[victim] + 1))


async def is_found(path, name, seq):
    """Whether it is told where a run was changed."""
    with closing(sqlite3.connect(path)) as db:
        at = "FROM turns WHERE run = (SELECT number FROM runs WHERE id = ?) AND seq >= ? ORDER BY seq LIMIT 1"
        place, last, body = db.execute(f"SELECT place, seq, body {at}", (name, seq)).fetchone()
        db.execute("UPDATE turns SET body = ? WHERE place = ?", (body[:-4] + bytes([body[-4] ^ 1]) + body[-3:], place))
        db.commit()
    async with await SqliteJournal.open(path) as journal:
        bad = (await journal.verify(name)).bad_seq
        return bad is not None and bad <= last


async def test_i7_tokens_never_decrease_and_each_has_one_owner(tmp_path):
    """I7: owners that were thought dead try to write among those that came after them; only the last one can."""
    fenced = 0
    for seed in range(SEEDS, SEEDS + 6):
        draw, owners, head = random.Random(seed), [], 0
        for number in range(25):
            if not owners or draw.random() < 0.2:
                if owners:
                    owners[-1]._closing.close()  # its lock is gone, and it does not know
                owners.append(await SqliteJournal.open(tmp_path / f"{seed}.db"))
            at = draw.randrange(len(owners))
            try:
                await owners[at].append(a_turn("r", head + 1, body=b'{"owner":%d}' % at))
                assert at == len(owners) - 1, f"owner {at} of {len(owners)} has written turn {number}"
                head += 1
            except (Fenced, OutOfOrder):
                assert at < len(owners) - 1
                fenced += 1
        told = [int(each.body.split(b":")[1][:-1]) for each in await owners[-1].read("r")]
        assert told == sorted(told)
        assert len(told) == head
        tokens = [each._store._token for each in owners]
        assert tokens == sorted(set(tokens))
        for each in owners:
            await each.close()
    assert fenced > 10


# ------------------------------------------------------------------------------- runs


@pytest.mark.usefixtures("engines")
def test_i2_what_is_done_never_runs_again():
    """I2: no attempt of a visit begins once it went well or is over; nor a new visit, but where somebody wants one."""
    again, revisited = 0, 0
    for history, told in histories(120):
        for name, facts in told.items():
            over = set()
            for each in facts:
                if isinstance(each, e.AttemptStarted) and each.deed == "do":
                    assert (each.step, each.visit) not in over
                    again += each.attempt > 1
                if (e.ends_step(each) and not is_in_doubt(each)) or went_well(each):
                    over.add((each.step, each.visit))
            if not history.changes:
                assert unwanted(facts, run(folded(history.disk, name)).cells) == []
                revisited += any(isinstance(each, e.AttemptStarted) and each.visit > 1 for each in facts)
    assert again, "some were tried more than once"
    assert revisited, "some were visited more than once"


def went_well(fact):
    """Whether it is the good end of a try."""
    is_end = isinstance(fact, e.AttemptEnded) and fact.deed == "do"
    return is_end and fact.failure is None and fact.approval is None


def unwanted(facts, cells):
    """Steps that went well and are visited again, though no jump leads back, and nobody asked for it."""
    good, found = {}, []
    for each in facts:
        if isinstance(each, e.RunReopened):
            good = {step: visit for step, visit in good.items() if not is_within(cells[step], each.step)}
        elif isinstance(each, e.StepEntered | e.AttemptStarted) and getattr(each, "deed", "do") == "do":
            found += [each.step] * (each.visit > good.get(each.step, each.visit))
        elif e.ends_step(each):
            if each.exit not in BAD:
                good[each.step] = getattr(each, "visit", 0)
            if each.to not in AHEAD:
                good = {}  # the jump of a loop: all in it comes again
    return found


def is_within(cell, step):
    return step in {cell.key, *(each.key for each in cell.around if each.parent)}


@pytest.mark.usefixtures("engines")
def test_i3_what_must_not_be_repeated_has_one_effect():
    """I3: seen from the world, however nobody came to know of it; and a doubt outlives the end of the run."""
    untold = Counter()
    for history, told in histories(240):
        done = [each for each in history.world.effects if each.kind == "never"]
        assert max(Counter((each.run, each.step, each.visit) for each in done).values(), default=1) == 1
        for name, facts in told.items():
            happened = {(each.step, each.visit, each.attempt) for each in done if each.run == name}
            untold.update(each for each in map(how_untold, facts) if each is not None and each[1:] in happened)
            assert blindly_again(facts, happened) == []
        untold.update(("agreed",) for each in done if history.policy is not None)
    seen = Counter(how for how, *_ in untold.elements())
    assert all(seen[how] >= 3 for how in ("lost", "timeout", "in_doubt", "agreed")), seen


def how_untold(fact):
    """How it came that nobody knows what became of an attempt, and of which."""
    if not isinstance(fact, e.AttemptLost | e.AttemptEnded) or fact.deed != "do":
        return None
    failure = getattr(fact, "failure", None)
    how = "lost" if isinstance(fact, e.AttemptLost) else failure.kind if failure is not None else ""
    return (how, fact.step, fact.visit, fact.attempt) if how in UNTOLD else None


def blindly_again(facts, happened):
    """Steps that had done what nobody was told, and were tried again, in whatever visit, before somebody said so."""
    doubts, asked, found = set(), {}, []
    for each in facts:
        if (untold := how_untold(each)) is not None and untold[1:] in happened:
            doubts.add(each.step)
        elif isinstance(each, e.QuestionAsked):
            asked[each.question] = each.step
        elif isinstance(each, e.QuestionAnswered):
            doubts.discard(asked[each.question])
        elif isinstance(each, e.AttemptStarted) and each.deed == "do":
            found += [each.step] * (each.step in doubts)
        elif e.ends_step(each) and each.to not in AHEAD:
            doubts.clear()  # a jump wants it to be done again
    return found


def test_doubts_are_asked_about_and_outlive_the_end_of_a_run():
    """I3: groups that are too late, cancelled or fail, around deeds of which nobody is told; each run is opened again."""
    reopened, doubts = 0, 0
    for seed in range(SEEDS, SEEDS + 200):
        draw = random.Random(seed)
        steps = some_deeds(draw, 2, iter(range(99)))
        ends = {f"t{number}": draw.choices(ENDS, k=8) for number in range(99)}
        world = World({"steps": steps}, ends, repeat="never", forgetful=True).run()
        for _ in range(4):
            while world.state.questions and draw.random() < 0.5:
                world.answer("happened")
                world.run()
            if world.state.ended is None:
                world.cancel()
                world.run()
            if world.status in {"failed", "cancelled"}:
                world.retry()
                world.run()
        untold = {each[1:] for each in map(how_untold, world.events) if each is not None}
        assert blindly_again(world.events, untold) == [], seed
        assert unasked(world.events) == [], seed
        reopened, doubts = reopened + len(world.find(e.RunReopened)), doubts + len(untold)
    assert reopened > 100
    assert doubts > 100


def unasked(facts):
    """Steps that were over in spite of a doubt, though nobody had stopped them and nobody was asked."""
    doubts, stopping, found = set(), set(), []
    for each in facts:
        if (untold := how_untold(each)) is not None and not stopping:
            doubts.add(untold[1])
        elif isinstance(each, e.QuestionAsked):
            doubts.discard(each.step)
        elif isinstance(each, e.StepStopping | e.RunStopping):
            doubts.clear()
            stopping.add(getattr(each, "step", "the run"))
        elif isinstance(each, e.RunReopened):
            stopping.clear()
        if e.ends_step(each):
            stopping.discard(each.step)
            found += [each.step] * (each.step in doubts)
    return found


def some_deeds(draw, depth, numbers):
    """Steps that call tools, and groups of them; some have little time."""
    steps = []
    for _ in range(draw.randint(1, 3)):
        late = {"timeout": "10s"} if draw.random() < 0.4 else {}
        number = next(numbers)
        if depth and draw.random() < 0.5:
            within = {"steps": some_deeds(draw, depth - 1, numbers), "mode": draw.choice(("serial", "graph"))}
            steps.append({"id": f"g{number}", **within, **late})
        else:
            steps.append({"id": f"t{number}", "tool": "x.y", **late, "retry": {"attempts": draw.randint(1, 3)}})
    return steps


def test_i4_what_was_begun_is_seen_and_whoever_needs_it_waits():
    """I4: at every moment the open attempts of the facts are those that are shown; nobody begins before what they need."""
    waited = 0
    for seed in range(SEEDS, SEEDS + 60):
        for life in lived(seed).runs[:1]:
            for point in life.points:
                state = replay("r", life.rules, [(e.decode(kind, body), at) for kind, body, at in life.facts[:point]])
                under_way = open_in(life.events[:point])
                if state.ended is None:
                    assert {(each.step, each.visit, each.deed) for each in pending(state)} == under_way
                for step, _, deed in under_way:
                    needs = getattr(state.cells[step].step, "needs", None) or ()
                    waited += len(needs) > 0
                    assert deed != "do" or not {each for each, *_ in under_way} & set(needs)
    assert waited


def open_in(facts):
    """The attempts that have begun and were not settled."""
    found = set()
    for each in facts:
        if isinstance(each, e.AttemptStarted):
            found.add((each.step, each.visit, each.deed))
        elif isinstance(each, e.AttemptEnded | e.AttemptLost):
            found.discard((each.step, each.visit, each.deed))
    return found


def test_i8_no_more_is_spent_and_promised_than_a_budget_has():
    """I8: somebody who keeps books by the facts alone objects to no start, and finds the books of the core the same."""
    promised = 0
    for seed in range(SEEDS, SEEDS + 60):
        draw = random.Random(seed)
        life = Life(a_plan(draw, 25, lambda raw, draw=draw: budgeted(draw, crowded(draw, raw))), seed)
        life.start()
        for what in draw.choices(("advance", "fail", "answer", "crash", "wait"), (8, 2, 3, 1, 1), k=40):
            if life.state.ended is None:
                ACTIONS[what](life, draw)
        promised += sum(each.reserved is not None and each.reserved.tokens > 0 for each in life.find(e.AttemptStarted))
        for ledger in life.state.books.ledgers.values():
            assert all(ledger.used(word, life.now) >= 0 for word in ledger.limits)
    assert promised > 20


def test_i10_when_faults_stop_a_run_comes_to_rest_and_to_an_end():
    """I10: within bounded steps it is over, or waits for a person or a signal; and it ends once it is cancelled."""
    ended = 0
    for seed in range(SEEDS, SEEDS + 60):
        sequence, draw = Sequence(seed), random.Random(seed)
        for what in draw.choices(("advance", "fail", "pause", "crash", "wait", "revise"), (4, 4, 1, 2, 1, 1), k=30):
            sequence.happen(what, draw)
        for life in sequence.runs:
            ended += life.state.ended is None
            come_to_rest(life)
            come_to_an_end(life, draw)
            assert life.state.ended is not None
    assert ended > 10, "some were in the middle of it"


def test_i11_nothing_begins_after_a_run_was_told_to_stop():
    """I11: but what takes something back; until somebody opens the run again, or it is another run's beginning."""
    stopped = 0
    for _, life in journals(60):
        stopping = False
        for each in life.events:
            stopped += isinstance(each, e.RunStopping)
            stopping = (stopping or isinstance(each, e.RunStopping)) and not isinstance(
                each, e.RunReopened | e.RunForked
            )
            assert not (stopping and isinstance(each, e.AttemptStarted) and each.deed == "do")
    assert stopped > 20


def test_i12_the_facts_lead_to_the_same_decisions_and_nothing_is_done_for_that():
    """I12: of each run, and of those that were forked from it."""
    decided = 0
    for _, life in journals(40):
        check_decisions(life)
        decided += len(life.events)
    assert decided > 1_000


# ------------------------------------------------------------------------------- files


def test_i9_each_file_is_as_it_was_or_as_it_was_to_be(tmp_path):
    """I9: a process dies at any call that changes files; each file is one of the two, and the next one ends the work."""
    died = 0
    for seed in range(SEEDS, SEEDS + 40):
        draw, place = random.Random(seed), tmp_path / str(seed)
        text, start, wanted = some_patch(draw)
        folder = Folder(hands_at(place).workspace)
        for name, data in start.items():
            folder[name] = data
        died += dies_in(place, text, draw.randrange(1, 60))
        now = files_in(folder)
        assert set(now) <= start.keys() | wanted.keys()
        for name in start.keys() | wanted.keys():
            assert now.get(name) in (start.get(name), wanted.get(name)), (seed, name)
        patch.function(text, context_of(hands_at(place)))
        assert files_in(folder) == wanted
    assert died > 10


def some_patch(draw):
    """A change of some files, as a patch; what is there before and after it."""
    words, start, wanted, lines = ("one", "two", "three", "four"), {}, {}, ["*** Begin Patch"]
    for number in range(draw.randint(2, 5)):
        name, old, new = f"d{number % 2}/{number}.txt", draw.choice(words), f"{draw.choice(words)}!"
        what = draw.choice(("add", "delete", "change", "stay"))
        if what != "add":
            start[name] = f"{old}\n".encode()
        if what != "delete":
            wanted[name] = f"{old if what == 'stay' else new}\n".encode()
        lines += {
            "add": [f"*** Add File: {name}", f"+{new}"],
            "delete": [f"*** Delete File: {name}"],
            "change": [f"*** Update File: {name}", "@@", f"-{old}", f"+{new}"],
            "stay": [],
        }[what]
    name = "last.txt"
    return "\n".join([*lines, f"*** Add File: {name}", "+last", "*** End Patch", ""]), start, wanted | {name: b"last\n"}


def files_in(folder):
    """What is in each file, but for those that were being prepared."""
    looked = {name: seen for name, seen in folder.look().items() if seen[0] == "file"}
    return {name: seen[-1] for name, seen in looked.items() if not Path(name).name.startswith(".perdure-")}


def dies_in(place, text, after):
    """Whether a process has died at this call of the kernel, of those that change files, while it applied a patch."""
    if (child := os.fork()) != 0:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    calls = iter(range(after - 1))

    def counted(call):
        def made(*arguments, **named):
            if next(calls, None) is None:
                os._exit(9)
            return call(*arguments, **named)

        return made

    for name in ("write", "fsync", "unlink", "link", "rename", "mkdir", "rmdir", "fchmod", "open"):
        setattr(os, name, counted(getattr(os, name)))
    kernel._LIBC = type("Libc", (), {"syscall": counted(kernel._LIBC.syscall), "syncfs": kernel._LIBC.syncfs})
    try:
        patch.function(text, context_of(hands_at(place)))
    finally:
        os._exit(0)

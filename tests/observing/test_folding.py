"""E11 X9: facts become happenings, the same ones in whatever pieces they come."""

import random

import pytest
from told import NAMES, golden

from perdure.core import events as e
from perdure.observing.counts import Counts
from perdure.observing.folding import Fold
from perdure.observing.metrics import RUNS, STEPS, count
from perdure.ports import Entry


def in_pieces(entries, draw):
    while entries:
        many = draw.randint(1, max(1, len(entries)))
        yield entries[:many]
        entries = entries[many:]


@pytest.mark.parametrize("name", NAMES)
async def test_x9_the_whole_is_the_sum_of_its_parts(name):
    journal, entries = await golden(name)
    whole = Fold(journal.fetch).take("r", entries)
    expected = Counts()
    count(expected, whole)
    for seed in range(20):
        fold, found, summed = Fold(journal.fetch), [], Counts()
        for piece in in_pieces(entries, random.Random(seed)):
            again = fold.take("r", piece)
            assert fold.take("r", piece) == [], "what was taken before counts once"
            found += again
            count(summed, again)
        assert found == whole
        assert summed.data() == expected.data()


@pytest.mark.parametrize("name", NAMES)
async def test_x9_what_is_counted_is_what_the_state_knows(name):
    from perdure.engine import View

    journal, entries = await golden(name)
    view, counts = View(journal, entries[0].run), Counts()
    found = Fold(journal.fetch).take(view.run, entries)
    facts = [view.take(entry) for entry in entries]
    count(counts, found)
    visits = [each for each in found if each.what == "visit"]
    assert len(visits) == view.state.steps_over == counts.total(STEPS)
    tried = [each for each in found if each.what == "attempt" and each.deed == "do"]
    assert len(tried) == sum(isinstance(each, e.AttemptEnded | e.AttemptLost) and each.deed == "do" for each in facts)
    assert counts.total(RUNS) == sum(isinstance(each, e.RunEnded) for each in facts)
    assert sum(each.tokens for each in found) == view.state.books.used.get("tokens", 0)


def entry(seq, event, at=0):
    return Entry("r", seq, event.type, at, e.encode(event))


def test_durations_begin_with_the_first_try_and_the_run():
    fold = Fold(lambda _: b'{"name": "x", "steps": [{"id": "a", "tool": "t.a"}]}')
    facts = [
        (1_000, e.RunStarted(plan="p")),
        (1_000, e.AttemptStarted(step="a", call="c")),
        (3_000, e.AttemptEnded(step="a", exit="failure", failure=e.Failure("transient", "busy"))),
        (3_000, e.RetryPlanned(step="a", due=5_000)),
        (5_000, e.AttemptStarted(step="a", call="c", attempt=2)),
        (5_500, e.AttemptEnded(step="a", attempt=2, to="next")),
        (6_000, e.RunEnded(status="succeeded")),
    ]
    found = fold.take("r", [entry(seq, event, at) for seq, (at, event) in enumerate(facts, 1)])
    told = {(each.what, each.attempt): each for each in found}
    assert told["attempt", 1].seconds == 2
    assert told["attempt", 2].seconds == 0.5
    assert told["visit", 0].seconds == 4.5
    assert told["run", 0].seconds == 5
    assert {each.name for each in found if each.step} == {"t.a"}


def test_a_clock_that_was_set_back_makes_nothing_last_less_than_no_time():
    fold = Fold(lambda _: b"{}")
    facts = [(9_000, e.RunStarted(plan="p")), (4_000, e.RunEnded(status="failed", failure=e.Failure("logic", "no")))]
    found = fold.take("r", [entry(seq, event, at) for seq, (at, event) in enumerate(facts, 1)])
    assert [each.seconds for each in found] == [0, 0]


def test_facts_that_do_not_fit_or_are_unknown_stand_in_nobodys_way():
    fold = Fold(lambda _: b"{}")
    strange = [
        Entry("r", 1, "attempt_ended", 0, b"{}"),
        Entry("r", 2, "step_ended", 0, b"[]"),
        Entry("r", 3, "came_later", 0, b'{"step": 3}'),
        Entry("r", 4, "run_revised", 0, b'{"edits": 7}'),
        Entry("r", 5, "attempt_ended", 0, b'{"step": "a", "failure": {"kind": ["odd"]}}'),
        Entry("r", 6, "run_ended", 0, b"not JSON"),
        Entry("r", 7, "run_ended", 0, b'{"status": "failed"}'),
    ]
    counts = Counts()
    count(counts, fold.take("r", strange))
    assert counts.total(RUNS, status="failed") == 1


async def test_a_run_rests_when_nothing_is_at_work():
    journal, entries = await golden("people")
    fold, found = Fold(journal.fetch), []
    for each in entries:
        found += fold.take("r", [each])
        found += fold.pause("r")
    rests = [each for each in found if each.what == "activation"]
    assert rests
    assert [each.number for each in rests] == [0, *(each.first for each in rests[:-1])], "each knows the one before"
    assert [each.first for each in rests] == sorted({each.first for each in rests})


def test_an_attempt_that_was_lost_ends_one_activation_and_begins_another():
    fold = Fold(lambda _: b"{}")
    facts = [
        e.RunStarted(plan="p"),
        e.AttemptStarted(step="a", call="c"),
        e.AttemptStarted(step="b", call="c"),
        e.AttemptLost(step="a"),
        e.AttemptLost(step="b"),
        e.AttemptStarted(step="a", call="c", attempt=2),
    ]
    found = fold.take("r", [entry(seq, event, seq) for seq, event in enumerate(facts, 1)])
    assert [(each.first, each.exit) for each in found if each.what == "activation"] == [(1, "lost")]
    assert fold.story("r").active.seq == 4

"""E4 E9 E12 E14 A6: anything may happen to a run, in any order, and the invariants hold.

A sequence is a random plan with random failures, answers, revisions, forks, pauses and crashes: `support/sequences.py`.
The invariants that a run is held to, and where that is looked at, for sequences here and for whole engines elsewhere:

- I1 no fact is lost: `Life.forget`, at each crash; with disks that fail: `tests/engine/test_simulation.py`.
- I2 what is done is not done again: `promises.Promises`, after each turn; across forks: `promises.check_fork`.
- I3 at most one effect of what must not be repeated: `promises.Promises`; with real processes: `tests/engine/test_kills.py`.
- I4 what was begun is seen until it is settled, and whoever needs it waits: `promises.Promises`, `laws.check_state`.
- I5, I6, I7 the journal after a crash, its numbers and its owners: `tests/journal`, `tests/engine/test_simulation.py`.
- I8 no more is spent and promised than a budget has: `spenders.Auditor`, after each turn.
- I9 each file is as it was or as it was to be: `tests/engine/test_hands_trees.py`.
- I10 when faults stop a run comes to rest, and to an end when it is cancelled: `Sequence.end`.
- I11 nothing begins in a run that stops: `promises.Promises`.
- I12 the facts lead to the same state and to the same decisions: `Life.forget`, `promises.check_decisions`.
"""

import random
from collections import Counter

import hypothesis
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sequences import Sequence, lived

SHARDS = 20
FIRST = 1_000_000
"""Seeds of the campaign begin here; those that once failed are below."""
FLOOR = 2_200


@pytest.mark.campaign(
    "failures, answers, revisions, forks, pauses, crashes in any order", "I1 I2 I3 I4 I8 I10 I11 I12", of="sequences"
)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_invariant_is_broken_by_any_sequence(shard, trials):
    seen, each = Counter(), FLOOR // SHARDS
    for seed in trials(each, FIRST + shard * each):
        seen.update(lived(seed).seen)
    assert min(seen.values()) > 0 or not trials.suffice, seen  # everything that may happen did


@pytest.mark.parametrize(
    "seed",
    [
        27,
        105,
        351,
        1078,
        1157,
        10117,
        10483,
        11871,
        20221,
        1_001_557,
        1_001_913,
        1_003_119,
        4_696_666_568,
        5_077_821_055,
        1_548_667_006,
        4_692_383_608,
    ],
)
def test_sequences_that_once_broke_an_invariant(seed):
    lived(seed)


# ------------------------------------------------------------------------------- by Hypothesis


def happening(what):
    """A rule by which something happens to one of the runs."""

    @rule(draw=st.integers(0, 2**32 - 1))
    def happen(self, draw):
        self.sequence.happen(what, random.Random(draw))

    return happen


class Runs(RuleBasedStateMachine):
    """A run and its forks. Hypothesis chooses what happens, and finds the shortest sequence that breaks something."""

    @initialize(seed=st.integers(0, 10**6))
    def start(self, seed):
        self.sequence = Sequence(seed)

    advance, fail, answer, revise = map(happening, ("advance", "fail", "answer", "revise"))
    fork, pause, crash, reopen = map(happening, ("fork", "pause", "crash", "reopen"))
    signal, wait, cancel = map(happening, ("signal", "wait", "cancel"))

    @invariant()
    def the_journal_tells_the_state(self):
        if hasattr(self, "sequence"):
            self.sequence.check()

    def teardown(self):
        if hasattr(self, "sequence"):
            self.sequence.end(random.Random(0))


RARELY = settings(
    max_examples=120, stateful_step_count=25, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.campaign(
    "the same, in sequences that Hypothesis makes and shortens", "I1 I2 I4 I8 I10 I12", of="sequences", times=120
)
def test_no_sequence_by_hypothesis_breaks_an_invariant(trials):
    for number in trials(1):
        run_state_machine_as_test(hypothesis.seed(number)(Runs), settings=RARELY)

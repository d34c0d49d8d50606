"""Real processes, a real file, SIGKILL at any moment: nothing that was finished is lost or done again (R1)."""

import multiprocessing
import random
import sys
import time
from collections import Counter, defaultdict
from multiprocessing import forkserver
from pathlib import Path
from types import ModuleType

import engine_victim
import pytest
from engine_victim import effects

from perdure.core import events as e
from perdure.journal.driver import connect
from perdure.journal.reader import Reader
from perdure.ports import Filter, NoJournal

SHARDS = 5
FLOOR = 500
EARLY = 0.25
"""How many are killed before they have opened the file."""
RUNS_A_FILE = 40
"""Kills before a new file is begun, so that the making of one is killed too."""


@pytest.fixture(scope="module")
def processes():
    """Processes that have imported everything already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["engine_victim"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(engine_victim.__file__).parent))
        patch.setenv("PERDURE_TEST_WARM", "1")
        forkserver.ensure_running()
    return context


class Scene:
    """One journal, its world, and what was seen of both so far."""

    def __init__(self, place, plan, processes):
        place.mkdir()
        self.path, self.world, self.plan, self.processes = place / "runs.db", place / "effects", plan, processes
        self.over, self.settled, self.read, self.kills = set(), set(), 0, 0
        self.opening = 0.05
        """About how long it takes to open the file, on this machine and with all else it has to do."""
        self.pace = 0.1 if plan == "mixed" else 1.0

    def live(self, draw=None):
        """A process that is killed: while it opens the file, or while it works. Without a lot it goes on to the end."""
        ours, theirs = self.processes.Pipe(duplex=False)
        args = (self.path, self.world, self.plan, draw is None, theirs)
        process = self.processes.Process(target=engine_victim.work, args=args, daemon=True)
        began = time.monotonic()
        process.start()
        theirs.close()
        if draw is None:
            process.join(120)
            assert process.exitcode == 0, "it went on to the end by itself"
        elif draw.random() < EARLY:
            time.sleep(draw.uniform(0, self.opening))
        else:
            ours.poll(60)
            self.opening += (time.monotonic() - began - self.opening) / 4
            time.sleep(draw.uniform(0, self.pace))
        self.kills += process.exitcode is None
        process.kill()
        process.join()
        process.close()
        ours.close()

    def look(self):
        """Hold what is in the file against what is in the world."""
        done = effects(self.world)
        fresh, self.read = done[self.read :], len(done)
        known, over, statuses = self.journal()
        for kind, run, step, visit, attempt, _ in fresh:
            assert (run, step, visit) not in self.over, f"{step} of {run} was over and ran again"
            assert (run, step, visit, attempt) in known, f"{kind} {step} of {run} was not known before it began"
        _assert_keys(done)
        assert self.over <= over, "what was over is not lost"
        self.over = over
        return Counter(statuses)

    def journal(self):
        reader = Reader(self.path, connect)
        try:
            runs = reader.runs(Filter(), None, 10_000)
        except NoJournal:
            return set(), set(), []
        known, over = set(), set(self.over)
        for run in runs:
            if run.id in self.settled:
                continue
            if run.summary.over:
                self.settled.add(run.id)
            _, entries = reader.load(run.id)  # verified as it is loaded
            for entry in entries:
                event = e.decode(entry.type, entry.body)
                if entry.type == "attempt_started":
                    known.add((run.id, event.step, event.visit, event.attempt))
                elif e.ends_step(event) and entry.type != "step_passed":
                    over.add((run.id, event.step, event.visit))
        return known, over, [run.summary.status for run in runs]


def _assert_keys(done):
    keys, times = defaultdict(set), Counter()
    for kind, run, step, visit, _, key in done:
        keys[run, step, visit].add(key)
        times[kind, key] += 1
    assert all(len(each) == 1 for each in keys.values()), "a repetition has the same key"
    assert [key for (kind, key), count in times.items() if kind == "never" and count > 1] == [], "never means never"


@pytest.fixture
def scene(tmp_path, processes, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    made = []

    def make(plan):
        made.append(Scene(tmp_path / str(len(made)), plan, processes))
        return made[-1]

    return make


@pytest.mark.campaign
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_kill_loses_nothing_and_repeats_nothing(shard, scene, volume):
    kills = volume(FLOOR, 10_000) // SHARDS
    assert kills * SHARDS >= FLOOR
    draw, ended, left = random.Random(shard), Counter(), kills
    while left:
        place = scene("mixed")
        for _ in range(min(left, RUNS_A_FILE)):
            place.live(draw)
            place.look()
            left -= 1
        place.live()
        ended += place.look()
    assert set(ended) == {"succeeded"}
    assert ended["succeeded"] > kills // 20, "the processes came to work before they were killed"


@pytest.mark.campaign
def test_tools_in_processes_of_their_own_die_with_their_engine(scene, volume):
    draw, place = random.Random(99), scene("isolated")
    for _ in range(volume(12, 300)):
        place.live(draw)
        place.look()
    place.live()
    assert set(place.look()) == {"succeeded"}

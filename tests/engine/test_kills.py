"""E10: real processes, a real file, SIGKILL at any moment: nothing that was finished is lost or done again (R1)."""

import random
import sys
import time
from collections import Counter
from types import ModuleType

import engine_victim
import pytest
from seen import Seen

SHARDS = 5
FLOOR = 500
EARLY = 0.25
"""How many are killed before they have opened the file."""
A_FILE = 50
"""Kills before a new file is begun, so that the making of one is killed too."""


class Scene(Seen):
    """One journal and its world, and those who are killed while they work there."""

    def __init__(self, place, plan, processes):
        place.mkdir()
        super().__init__(place / "runs.db", place / "effects")
        self.plan, self.processes, self.kills = plan, processes, 0
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


@pytest.fixture
def scene(processes, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    return lambda plan, place: Scene(place, plan, processes)


@pytest.mark.campaign(
    "kills of a process at any moment, also while it goes on after one", "I1 I2 I3 I4 I6", of="kills", times=50
)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_kill_loses_nothing_and_repeats_nothing(shard, scene, tmp_path, trials):
    files = FLOOR // SHARDS // A_FILE
    assert files * A_FILE * SHARDS >= FLOOR
    ended = Counter()
    for seed, path in trials.places(tmp_path, files, shard * files):
        ended += killed_often(scene("mixed", path), random.Random(seed), A_FILE)
    assert set(ended) == {"succeeded"}
    assert ended["succeeded"] > trials.tried * A_FILE // 20, "the processes came to work before they were killed"


def killed_often(place, draw, kills):
    """How runs have ended, in the end."""
    for _ in range(kills):
        place.live(draw)
        place.look()
    place.live()
    return place.look()


@pytest.mark.campaign("kills of an engine whose tools are processes", "I1 I2 I3", of="kills", times=12)
def test_tools_in_processes_of_their_own_die_with_their_engine(scene, tmp_path, trials):
    for seed, path in trials.places(tmp_path, 1, 99):
        assert set(killed_often(scene("isolated", path), random.Random(seed), 12)) == {"succeeded"}

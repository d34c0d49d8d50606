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
RUNS_A_FILE = 40
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

"""E18: random steps, killed at random and taken back: bytes, modes and links are as they were (R6)."""

import os
import random
import signal
import subprocess
import time

import pytest
from changes_steps import furnish, step, work
from changes_world import Folder, begin, context_of, do, hands_at, victim

from perdure.tools.changes import take_back

LONGEST = 0.15
"""Seconds after which a victim is killed at the latest."""


@pytest.mark.campaign("changes by lot, killed and taken back", "R6 I9", of="kills", times=2)
def test_what_is_rolled_back_is_as_it_was(processes, memory, trials):
    kills, span = 0, LONGEST
    for seed, place in trials.places(memory, 12):
        draw = random.Random(seed)
        steps = draw.randint(1, 8)
        back_to = draw.randint(0, steps - 1)
        folder = Folder(hands_at(place / "one").workspace)
        twin = Folder(hands_at(place / "twin").workspace)
        for each in (folder, twin):
            furnish(each, random.Random(seed))
        for n in range(back_to):
            step(hands_at(place / "twin"), seed, n)
        for _ in range(2):
            found = killed(processes, draw.uniform(0, span), place / "one", seed, steps, back_to)
            kills, span = kills + found, min(LONGEST, span * 1.3) if found else span / 2  # as fast as the machine is
        work(place / "one", seed, steps, back_to)
        assert folder.look() == twin.look(), seed
    assert kills > trials.tried * 0.4 or not trials.suffice


def killed(processes, after, *arguments):
    ours, theirs = processes.Pipe()
    process = processes.Process(target=victim, args=(theirs, work, *arguments))
    process.start()
    theirs.close()
    ours.recv()
    ours.send("go")
    time.sleep(after)
    process.kill()
    process.join()
    found = process.exitcode == -signal.SIGKILL
    process.close()
    ours.close()
    return found


@pytest.mark.parametrize("told", [None, {"by": "a person"}, "it was done"])
def test_what_nobody_saw_the_end_of_is_taken_back_by_its_key(tmp_path, told):
    folder = begin(tmp_path)
    start = folder.look()
    assert take_back(context_of(hands_at(tmp_path)), told) == {"changes": []}, "nothing was begun"
    do(tmp_path)
    assert folder.look() != start
    take_back(context_of(hands_at(tmp_path)), told)
    assert folder.look() == start


def test_drafts_of_the_dead_are_swept(tmp_path):
    begin(tmp_path)
    do(tmp_path)
    changes = hands_at(tmp_path).state / "changes"
    with subprocess.Popen(["/bin/true"]) as dead:
        dead.wait()
    left = [changes / "objects" / f"new-{dead.pid}-1", changes / "intents" / "abc.json.new"]
    ours = changes / "objects" / f"new-{os.getpid()}-99999"
    for each in (*left, ours):
        each.touch()
    do(tmp_path)
    assert [each.exists() for each in (*left, ours)] == [False, False, True]

"""Random steps, killed at random and taken back: bytes, modes and links are as they were (R6)."""

import json
import random
import signal
import time

import pytest
from changes_world import Folder, context_of, hands_at, victim

from perdure.tools.builtin.files import delete, move, write
from perdure.tools.changes import Change, ChangeSet, Desk, Image, take_back
from perdure.tools.failure import ToolFailure

NAMES = [f"{folder}{name}" for folder in ("", "d/", "d/e/", "x/") for name in ("a", "b", "c.txt")]


def furnish(folder, draw):
    """Some files, links and modes."""
    for name in NAMES:
        if draw.random() < 0.6:
            folder[name] = draw.randbytes(draw.choice([0, 10, 3_000]))
            (folder.path / name).chmod(draw.choice([0o644, 0o600, 0o755]))
    (folder.path / "link").symlink_to("d/a")


def step(hands, seed, n):
    """One change of any kind, always the same for the same seed; None if it does not apply."""
    draw = random.Random(f"{seed} {n}")
    context = context_of(hands, f"{seed} {n}")
    kinds = {
        "write": lambda: write.function(draw.choice(NAMES), context, text=f"{draw.random()}\n", executable=draw.choice([None, True, False])),
        "delete": lambda: delete.function([draw.choice([*NAMES, "d", "x", "d/e"])], context),
        "move": lambda: move.function([type("M", (), {"path": draw.choice([*NAMES, "d/e"]), "to": f"to{n}/f"})], context),
        "link": lambda: relinked(context, f"d/{n}"),
    }  # fmt: skip
    try:
        return kinds[draw.choice(list(kinds))]()
    except ToolFailure as failure:
        assert failure.failure.kind in ("invalid", "logic"), failure.failure
        return None


def relinked(context, target):
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        link = Image("link", desk.images.put(target.encode()), 0o777, len(target))
        return desk.carry_out(ChangeSet((Change("link", desk.tree.fitting("link", desk.images), link),)))


def work(place, seed, steps, back_to):
    """All steps, then back to one of them. Called again, it goes on."""
    hands = hands_at(place)
    outputs = [remembered(hands, place / f"{n}.json", seed, n) for n in range(steps)]
    for n in reversed(range(back_to, steps)):
        if outputs[n] is not None:
            take_back(context_of(hands, f"undo {seed} {n}"), outputs[n])


def remembered(hands, path, seed, n):
    """As an engine does: what a step gave is written down, and it is not asked again."""
    if not path.exists():
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(step(hands, seed, n)))
        draft.rename(path)
    return json.loads(path.read_text())


@pytest.mark.campaign
def test_what_is_rolled_back_is_as_it_was(processes, memory, volume):
    kills = 0
    for seed in range(volume(12, 600)):
        draw = random.Random(seed)
        steps = draw.randint(1, 8)
        back_to = draw.randint(0, steps - 1)
        folder = Folder(hands_at(memory / f"{seed}").workspace)
        twin = Folder(hands_at(memory / f"twin-{seed}").workspace)
        for each in (folder, twin):
            furnish(each, random.Random(seed))
        for n in range(back_to):
            step(hands_at(memory / f"twin-{seed}"), seed, n)
        for _ in range(2):
            kills += killed(processes, draw, memory / f"{seed}", seed, steps, back_to)
        work(memory / f"{seed}", seed, steps, back_to)
        assert folder.look() == twin.look(), seed
    assert kills > volume(5, 300)


def killed(processes, draw, *arguments):
    ours, theirs = processes.Pipe()
    process = processes.Process(target=victim, args=(theirs, work, *arguments))
    process.start()
    ours.recv()
    ours.send("go")
    time.sleep(draw.uniform(0, 0.15))
    process.kill()
    process.join()
    found = process.exitcode == -signal.SIGKILL
    process.close()
    ours.close()
    theirs.close()
    return found

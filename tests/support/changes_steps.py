"""Random steps that change files, and are taken back."""

import json
import random

from changes_world import context_of, hands_at

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

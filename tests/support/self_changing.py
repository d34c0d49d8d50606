"""Plans that change by themselves: steps that grow by lot, an adjuster that edits by lot, and wishes that mean anything."""

import random
from types import SimpleNamespace

from random_edits import some_edit

from perdure.core.calls import Failure
from perdure.core.occasion import Adjustment
from perdure.plan.index import Index

WANTED = (
    [{"tool": "x.y"}], [{"tool": "x.y", "undo": {"tool": "un.do"}}, {"tool": "x.y", "with": {"value": 1}}],
    [{"parallel": [{"id": "w_a", "tool": "x.y"}, {"id": "w_b", "tool": "x.y"}], "join": "any"}], "rubbish", [{"tool": "no.such"}],
)  # fmt: skip
"""What results ask for; some of it can be had."""
RULES = (
    {"when": "output == 3", "edits": [{"insert": {"id": "ruled", "tool": "x.y"}, "into": ""}], "why": "three"},
    {"on": ["replan"], "edits": [{"insert": {"id": "instead", "tool": "x.y"}, "into": ""}], "times": 3},
    {"on": ["failure"], "kinds": ["logic"], "edits": [{"amend": "", "fields": {"name": "failed"}}], "times": 2},
    {"when": "output.what > 3", "edits": [{"amend": "", "fields": {"name": "odd"}}]},
)


def growing(rng, raw):
    """A plan, as it is written, that may change by itself."""
    if rng.random() < 0.7:
        raw["adjust"] = {"rules": rng.sample(RULES, rng.randint(1, 3)), "most": rng.choice([2, 5, 20])}
    groups = [each["id"] for each in _groups(raw)]
    for step in _steps(raw):
        if groups and "tool" in step and rng.random() < 0.5:
            step["grows"] = {"into": rng.choice(groups), "most": rng.randint(1, 4)}
    return raw


def _groups(raw):
    for step in [*raw.get("steps", []), *raw.get("parallel", [])]:
        if not step.keys() & {"map", "plan"} and ("steps" in step or "parallel" in step):
            yield step
            yield from _groups(step)


def _steps(raw):
    for step in [*raw.get("steps", []), *raw.get("parallel", [])]:
        yield step
        if not step.keys() & {"map", "plan"}:
            yield from _steps(step)


def adjuster(seed):
    """Edits by lot; the lot is drawn from what there is to be seen, so it is the same whenever it is asked."""

    def adjust(occasion):
        rng = random.Random(f"{seed} {occasion.step} {occasion.visit} {occasion.revision} {occasion.replans}")
        if rng.random() < 0.6:
            return None
        if rng.random() < 0.05:
            raise RuntimeError("by lot")
        index = Index(occasion.plan)
        at = SimpleNamespace(revision=occasion.revision)
        edits = [some_edit(at, index, sorted(index.by_id), n, rng) for n in range(rng.choice((1, 1, 2)))]
        return Adjustment(edits, "by lot")

    return adjust


def reviser(seed):
    """What a wish means, by lot: edits, whoever may call what, or a failure."""

    def revise(occasion, wish):
        rng = random.Random(f"{seed} {occasion.step} {occasion.place} {occasion.revision} {occasion.lines}")
        draw = rng.random()
        if draw < 0.1:
            return Failure("unavailable", "nobody knows a way")
        if draw < 0.15:
            raise RuntimeError("by lot")
        index = Index(occasion.plan)
        at = SimpleNamespace(revision=occasion.revision)
        edits = [some_edit(at, index, sorted(index.by_id), n, rng) for n in range(rng.choice((1, 1, 2)))]
        return Adjustment(edits, "by lot", rng.choice((None, ["x.*", "un.do"], ["x.y"])))

    return revise

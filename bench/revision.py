"""What a revision of a live run costs: 5,000 steps, most of them at work or done, and one edit.

Run with `python bench/revision.py`. Only CPU time of this process is counted.
"""

import argparse
from time import process_time
from typing import Any

from figures import Figure, tell

from perdure.core import events as e
from perdure.plan import Plan
from perdure.testing.worlds import World

STEPS, ROUNDS = 5_000, 3


def graph() -> Plan:
    """Ten steps after each other, five hundred times side by side."""
    steps = [
        {"id": f"s{n}", "tool": "x.y", "with": {"n": n}, "needs": [f"s{n - 1}"] if n % 10 else []} for n in range(STEPS)
    ]
    return Plan.model_validate({"mode": "graph", "steps": steps})


def serial() -> Plan:
    """One step after another."""
    return Plan.model_validate({"steps": [{"id": f"s{n}", "tool": "x.y", "with": {"n": n}} for n in range(STEPS)]})


def nested() -> Plan:
    """Fifty groups side by side, each with a hundred steps after each other."""
    steps = [{"id": f"s{n}", "tool": "x.y", "with": {"n": n}} for n in range(STEPS)]
    groups = [{"id": f"g{n}", "steps": steps[100 * n : 100 * (n + 1)]} for n in range(STEPS // 100)]
    return Plan.model_validate({"mode": "graph", "steps": groups})


def under_way(plan: Plan, done: int) -> World:
    """A run of which some steps are over."""
    world = World(plan).start()
    for _ in range(done):
        world.step()
    return world


EDITS = {
    "insert": lambda n: {"insert": {"id": f"n{n}", "tool": "x.y"}, "after": "s4505"},
    "replace": lambda n: {"replace": f"s{4509 + 10 * n}", "step": {"id": f"r{n}", "tool": "x.y"}},
    "remove": lambda n: {"remove": f"s{4709 + 10 * n}"},
    "amend": lambda n: {"amend": f"s{4809 + 10 * n}", "fields": {"title": "another"}},
}


def cost(world: World, edit: dict[str, Any]) -> float:
    """Milliseconds of CPU for one revision."""
    before = process_time()
    world.send(e.RunRevised(base=-1, edits=(edit,)))
    return (process_time() - before) * 1000


def warm_up() -> None:
    """A process loads what it needs for revisions once."""
    cost(
        under_way(Plan.model_validate({"steps": [{"id": "a", "tool": "x.y"}]}), 0),
        {"insert": {"id": "b", "tool": "x.y"}, "into": ""},
    )


def main() -> None:
    """For each kind of plan and edit: the first revision of a run, and those after it, as medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    told: list[Figure] = []
    warm_up()
    for shape, done in ((graph, 2_000), (serial, 1_000), (nested, 200)):
        for name, edit in EDITS.items():
            worlds = [under_way(shape(), done) for _ in range(rounds)]
            first = [cost(world, edit(0)) for world in worlds]
            rest = [cost(world, edit(n)) for world in worlds for n in range(1, 8)]
            who = f"{name} in a {shape.__name__} plan of {STEPS:,} steps"
            told += [Figure.of(f"{who}, first", first, "ms", most=50), Figure.of(f"{who}, then", rest, "ms", most=50)]
    tell(told)


if __name__ == "__main__":
    main()

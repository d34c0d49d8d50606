"""How the cost of a plan grows with its size: a graph of N steps with 4.25 needs each, and one long chain in it.

Told is the ratio of 20,000 to 2,000 steps; linear is 10. Each round runs in a process of its own, with cold caches,
so that memory is told apart and a small plan gains nothing from a cache that a large one overflows. CPU time, best of
three rounds.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import yaml
from figures import Figure, tell

SIZES = (2_000, 20_000)
STAGES = {
    "yaml": "read from YAML",
    "json": "read from JSON",
    "check": "checked",
    "hash": "hashed",
    "measure": "counted",
    "draw": "drawn",
}
ROUNDS = 3
AIM = 12.0
MEMORY_AIM = 500


def document(size: int) -> dict[str, object]:
    """A layered graph: two thirds of the steps form one chain, all have needs among the fifty before them."""
    draw = random.Random(7)
    steps: list[dict[str, object]] = []
    for n in range(size):
        before = range(max(0, n - 50), n)
        needs = set(draw.sample(before, min(len(before), 4)))
        if n % 3 and n:
            needs.add(n - 1 if (n - 1) % 3 else n - 2 if n > 1 else 0)
        with_: dict[str, object] = {"text": f"${{steps.s{n - 1}.output}}" if n - 1 in needs else "plain", "n": n}
        steps.append(
            {"id": f"s{n}", "tool": "text.join", "with": with_, "needs": [f"s{each}" for each in sorted(needs)]}
        )
    return {"perdure": 1, "goal": "Measure", "mode": "graph", "steps": steps}


def spent(work: Callable[[], object]) -> float:
    """The CPU time of some work, in milliseconds."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def measure(size: int) -> dict[str, float]:
    """Everything about one size."""
    from perdure.plan.checks import check
    from perdure.plan.drawing.svg import svg
    from perdure.plan.measures import measure as measure_plan
    from perdure.plan.model.document import Plan
    from perdure.plan.reading import read_text

    raw = document(size)
    as_json, as_yaml = json.dumps(raw), yaml.dump(raw, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), width=200)
    plan = Plan.model_validate(raw)
    check(Plan.model_validate(document(10)))  # loads what is loaded once
    found = {
        "check": spent(lambda: check(plan)),
        "yaml": spent(lambda: read_text(as_yaml, kind="yaml").usable()),
        "json": spent(lambda: read_text(as_json, kind="json").usable()),
        "hash": spent(lambda: Plan.model_validate(raw).hash),
        "measure": spent(lambda: measure_plan(plan)),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,  # before drawing
        "draw": spent(lambda: svg(plan)),
    }
    needs = sum(len(step["needs"]) for step in raw["steps"])  # type: ignore[arg-type, attr-defined, misc]
    return {**found, "needs": needs}


def _in_a_process(size: int) -> str:
    return subprocess.check_output([sys.executable, __file__, "--only", str(size)], text=True)


def figures(rows: dict[int, dict[str, float]]) -> list[Figure]:
    """What each stage takes, how it grows, and the memory."""
    small, large = (rows[size] for size in SIZES)
    who = f"a graph of {SIZES[1]:,} steps and {large['needs']:,.0f} needs"
    told = [Figure(f"{who}: memory", large["megabytes"], "MB", most=MEMORY_AIM)]
    for stage, name in STAGES.items():
        told.append(Figure(f"{who}: {name}", large[stage], "ms"))
        told.append(Figure(f"{who}: {name}, of {SIZES[0]:,} steps", large[stage] / small[stage], "x", most=AIM))
    return told


def main() -> None:
    """Measure each size in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", type=int, help="only this size, and as JSON")
    given = parser.parse_args()
    if given.only:
        print(json.dumps(measure(given.only)))
        return
    rows: dict[int, dict[str, float]] = {}
    for size in SIZES:
        rounds = [json.loads(_in_a_process(size)) for _ in range(given.rounds)]
        rows[size] = {name: min(each[name] for each in rounds) for name in rounds[0]}
    tell(figures(rows))


if __name__ == "__main__":
    main()

"""How long commands take to begin, against a Python that does nothing, and what importing the peers takes.

All take turns. Told are the times of whole processes, and how often that is what `python -c pass` takes.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from figures import Figure, tell
from venvs import PEERS, is_there, python_of

ROUNDS = 15
PLAN = """\
perdure: 1
goal: Say something
steps:
  - {id: one, tool: flow.echo, with: {value: 1}}
  - {id: two, tool: flow.echo, with: {value: "${steps.one.output}"}}
"""
BARE = "python -c pass"
PERDURE = (sys.executable, "-m", "perdure")


@dataclass
class Taken:
    """What the processes of one kind took, in milliseconds."""

    time: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])


def ours(place: Path) -> dict[str, tuple[str, ...]]:
    """What people type."""
    (place / "plan.yaml").write_text(PLAN, encoding="utf-8")
    db = ("--db", str(place / "runs.db"))
    return {
        BARE: (sys.executable, "-c", "pass"),
        "perdure --help": (*PERDURE, "--help"),
        "perdure ls": (*PERDURE, "ls", *db),
        "perdure check plan.yaml": (*PERDURE, "check", str(place / "plan.yaml")),
        "perdure run plan.yaml": (*PERDURE, "run", str(place / "plan.yaml"), *db),
        "importing perdure.engine": (sys.executable, "-c", "import perdure.engine"),
    }


def theirs() -> dict[str, tuple[str, ...]]:
    """What their programs have to import, in their own environments."""
    return {
        f"importing {peer}": (str(python_of(peer)), "-c", f"import {PEERS[peer]['import']}")
        for peer in PEERS
        if PEERS[peer]["packages"] and is_there(peer)
    }


def start(command: tuple[str, ...], place: Path, taken: Taken) -> None:
    """One process, from its start to its end."""
    began, worked = time.perf_counter(), _processor()
    subprocess.run(command, check=True, capture_output=True, cwd=place)
    taken.time.append((time.perf_counter() - began) * 1000)
    taken.processor.append((_processor() - worked) * 1000)


def _processor() -> float:
    """Seconds of the processor that processes have had which this one has started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(rounds: int) -> dict[str, Taken]:
    """All of them by turns, after a round that counts for nothing."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        commands = ours(place) | theirs()
        start(commands["perdure run plan.yaml"], place, Taken())
        taken = {name: Taken() for name in commands}
        draw = random.Random(0)
        for turn in range(rounds + 1):
            for name in draw.sample(list(commands), len(commands)):
                start(commands[name], place, taken[name] if turn else Taken())
    return taken


def figures(taken: Mapping[str, Taken]) -> list[Figure]:
    """Medians, and ratios to a bare Python within each round."""
    told: list[Figure] = []
    for name, each in taken.items():
        told.append(Figure.of(f"{name}: time", each.time, "ms"))
        told.append(Figure.of(f"{name}: processor time", each.processor, "ms"))
        if name != BARE:
            ratios = [mine / bare for mine, bare in zip(each.time, taken[BARE].time, strict=True)]
            told.append(Figure.of(f"{name}: time, of a bare Python", ratios, "x"))
    return told


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    tell(figures(measure(parser.parse_args().rounds)))


if __name__ == "__main__":
    main()

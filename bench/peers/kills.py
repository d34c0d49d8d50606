#!/usr/bin/env python3
"""SIGKILL at any moment, the same for Perdure, LangGraph and DBOS: what is done twice, what is lost, how soon it goes on.

    python bench/peers/kills.py --kills 100 --record docs/measured/kills.json

Each peer has a virtualenv of its own, made when it is missing (bench/venvs.py).

The engines take turns, so that each meets the same machine. A process is killed while it starts and goes on (one time in
four), or some time after its first deed. Whoever comes next goes on. What was done to the world are lines in a file, so
that nothing has to be believed that an engine says of itself. In the end one process of each brings all runs to their end.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "victims"), str(HERE.parent)]
from deeds import STEPS, notes  # noqa: E402
from venvs import python_of, why_not  # noqa: E402

EARLY = 0.25
"""How many are killed before their first deed."""
AWHILE = 0.15
"""Seconds after their first deed in which the others are killed."""
LONGEST = 600
"""Seconds in which everything has to come to its end after the last kill."""
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "LANGSMITH_TRACING": "false", "DO_NOT_TRACK": "1"}
ENGINES = {
    "perdure": ("Perdure", "perdure", "one file, `synchronous=FULL`; deeds declared `never`, half of them with a probe"),
    "langgraph": ("LangGraph", "langgraph", 'AsyncSqliteSaver, `durability="sync"`, `synchronous=FULL`'),
    "dbos": ("DBOS", "dbos", "SQLite as shipped (`synchronous=FULL`), recovery when launched"),
}


class Engine:
    """One engine, its files, and those of its processes that are killed."""

    def __init__(self, name: str, root: Path):
        self.name, self.python = name, python_of(name)
        self.data, self.world = root / name / "data", root / name / "effects"
        self.data.mkdir(parents=True)
        self.opening, self.kills, self.recovered = 2.0, 0, []

    def begin(self, until: int) -> subprocess.Popen:
        script = HERE / "victims" / f"{self.name}_sqlite.py"
        words = [str(self.python), str(script), str(self.data), str(self.first()), str(until)]
        with (self.data.parent / "said").open("ab") as said:
            return subprocess.Popen(words, env=ENVIRONMENT, stdout=said, stderr=said)

    def first(self) -> int:
        """The last run that was begun; those before it are over, because there is one at a time."""
        return max((run for _, run, *_ in notes(self.world)), default=0)

    def live_and_die(self, draw: random.Random) -> None:
        before, began = notes(self.world), time.time()
        process = self.begin(10**6)
        if draw.random() < EARLY:
            time.sleep(draw.uniform(0, self.opening))
        else:
            self.wait_for_a_deed(process, len(before))
            self.opening += (time.time() - began - self.opening) / 4
            time.sleep(draw.uniform(0, AWHILE))
        assert process.poll() is None, f"{self.name} ended by itself: {(self.data.parent / 'said').read_text()[-2000:]}"
        process.kill()
        process.wait()
        self.kills += 1
        self.see_recovery(process.pid, before, began)

    def wait_for_a_deed(self, process: subprocess.Popen, before: int) -> None:
        while len(notes(self.world)) == before and process.poll() is None:
            time.sleep(0.005)

    def see_recovery(self, pid: int, before: list, began: float) -> None:
        """From the start of a process until a step that nobody has done yet, where a run had been left half done."""
        done = {(run, step) for kind, run, step, *_ in before if kind == "effect"}
        if not done or len(done) % len(STEPS) == 0:
            return
        for kind, run, step, who, at in notes(self.world)[len(before) :]:
            if kind == "effect" and who == pid and (run, step) not in done:
                self.recovered.append(at - began)
                return

    def end(self) -> bool:
        """Whether one process more brings everything to its end."""
        process = self.begin(self.first() + 1)
        try:
            return process.wait(LONGEST) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False

    def found(self, ended: bool) -> dict:
        lines = notes(self.world)
        done = Counter((run, step) for kind, run, step, *_ in lines if kind == "effect")
        runs = self.first() + 1
        title, package, setting = ENGINES[self.name]
        return {
            "engine": f"{title} {self.version(package)}",
            "setting": setting,
            "kills": self.kills,
            "runs": runs,
            "effects": len(done),
            "twice": sum(done.values()) - len(done),
            "over": done_after_their_end(lines),
            "runs_with_twice": len({run for (run, _), times in done.items() if times > 1}),
            "lost": runs * len(STEPS) - len(done),
            "ended": ended,
            "asked": sum(kind == "asked" for kind, *_ in lines),
            "recovery": round(statistics.median(self.recovered), 2) if self.recovered else 0,
            "slowest": round(max(self.recovered, default=0), 2),
            "recoveries": len(self.recovered),
        }

    def version(self, package: str) -> str:
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        return subprocess.run([str(self.python), "-c", code], capture_output=True, text=True).stdout.strip()


def done_after_their_end(lines: list) -> int:
    """Deeds done again although a later step of the run had begun: the engine knew that they were over."""
    stage = {step: n for n, step in enumerate(STEPS)} | {f"f{n}": 1 for n in range(4)}
    seen, reached, found = set(), Counter(), 0
    for kind, run, step, *_ in lines:
        if kind == "effect":
            found += (run, step) in seen and stage[step] < reached[run]
            seen.add((run, step))
            reached[run] = max(reached[run], stage[step])
    return found


def measured(kills: int, minutes: float, seed: int, names: list[str]) -> dict:
    began, draws = datetime.now(timezone.utc), {name: random.Random(f"{name} {seed}") for name in names}
    with tempfile.TemporaryDirectory(prefix="perdure-kills-") as root:
        engines = [Engine(name, Path(root)) for name in names]
        for n in range(kills):
            if time.time() > began.timestamp() + 60 * minutes:
                break
            for engine in engines:
                engine.live_and_die(draws[engine.name])
            if n % 10 == 9:
                print(f"{n + 1} kills of each", flush=True)
        rows = [engine.found(engine.end()) for engine in engines]
    return {
        "began": began.strftime("%Y-%m-%d %H:%M UTC"),
        "seed": seed,
        "machine": f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, Python {platform.python_version()}",
        "engines": rows,
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--kills", type=int, default=100)
    asked.add_argument("--minutes", type=float, default=60, help="no kill after so long")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--engines", default=",".join(ENGINES))
    asked.add_argument("--record", type=Path)
    given = asked.parse_args()
    names = given.engines.split(",")
    missing = [f"{name} is not there: {why}" for name in names if (why := why_not(name))]
    if missing:
        sys.exit("\n".join([*missing, "--engines names those that shall be killed"]))
    found = measured(given.kills, given.minutes, given.seed, names)
    print(json.dumps(found, indent=1, ensure_ascii=False))
    if given.record:
        given.record.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Breaks the code in small ways, one at a time, and looks whether a test notices.

    python scripts/mutants.py core --minutes 30 --seed 7

All tests of a room run once, to learn which of them come to which line. Then a sample of all changes that
`mutations.py` knows is tried, each in a process forked from this one, so that nothing is loaded or collected twice: the
tests that come to the line of the change run, quick ones first, until one fails. No file is changed. Tests that start
other programs do not see a change there; they are not counted on here.
"""

import gc
import json
import math
import os
import random
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import _lru_cache_wrapper  # pyright: ignore[reportPrivateUsage]  there is no other name for it
from itertools import accumulate
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import click
import coverage
import pytest
from mutations import Mutant, mutants_of

import perdure

ROOT: Final = Path(__file__).parent.parent
BAR: Final = 85
"""So many of a hundred have to be noticed."""
ROOMS: Final = {
    "core": (("src/perdure/core",), ("tests/core", "tests/golden")),
    "policy": (
        (
            *(f"src/perdure/core/{name}.py" for name in ("policy", "allowing", "layers", "deeds", "patterns")),
            *(f"src/perdure/config/{name}.py" for name in ("policy", "rules", "owned")),
            "src/perdure/tools/guard.py",
        ),
        (
            *(f"tests/core/test_{name}.py" for name in ("policy", "allowing", "layers", "laws")),
            *(f"tests/tools/test_{name}.py" for name in ("guard", "performing", "shell")),
            "tests/test_policy.py", "tests/test_secrets.py", "tests/plan/checks/test_policy.py",
        ),
    ),
}  # fmt: skip
"""What is changed, and the tests that are to notice."""
PATIENCE: Final = 30
"""Seconds of work for one change; twice as many, and it does not come to an end."""
LONGEST: Final = 600
"""Seconds for one change, whatever else the machine does."""
NOTICED, MISSED, ENDLESS, UNPLACED = range(4)
"""How a process with a change ends: a test failed, none did, it was ended, the change could not be made."""


@dataclass
class Lookout:
    """What the first round has found: which tests come to a line, and how long each takes."""

    visits: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    seconds: dict[str, float] = field(default_factory=dict)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Those that come to the line of a change, quick ones first, and not more than there is patience for."""
        tests = sorted(self.visits[str(mutant.path), mutant.told()[0]], key=self.seconds.__getitem__)
        return [
            each
            for each, spent in zip(tests, accumulate(map(self.seconds.__getitem__, tests)), strict=True)
            if spent < PATIENCE
        ]


class Mutating:
    """A plugin of pytest that runs the tests in its own way."""

    def __init__(self, paths: list[Path], minutes: float, most: int, seed: int) -> None:
        self.paths, self.end, self.most, self.seed = paths, minutes * 60, most, seed
        self.failed = False
        self.results: list[tuple[Mutant, int]] = []
        self.total = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Once with everything as it is, and then once for each change."""
        items = {each.nodeid: each for each in session.items}
        lookout = self.look(list(items.values()))
        mutants = [each for path in self.paths for each in mutants_of(path)]
        random.Random(self.seed).shuffle(mutants)  # noqa: S311  a sample, not a secret
        self.total, self.end = len(mutants), time.monotonic() + self.end
        gc.collect()
        for each, found in self.tried(mutants[: self.most], lookout, items):
            self.results.append((each, found))
            if found == MISSED:
                line, before, after = each.told()
                say(f"{each.path.relative_to(ROOT)}:{line}\n  - {before}\n  + {after}\n")
        return True

    def look(self, items: list[pytest.Item]) -> Lookout:
        """Run each test once, and note where it comes to."""
        found, watch = (
            Lookout(),
            coverage.Coverage(data_file=None, config_file=False, include=[str(each) for each in self.paths]),
        )
        watch.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            watch.switch_context(item.nodeid)
            begun = time.process_time()
            perform(item, following)
            found.seconds[item.nodeid] = time.process_time() - begun
            if self.failed:
                say(f"{item.nodeid} fails with nothing changed\n")
                pytest.exit("nothing can be judged")
        watch.stop()
        data = watch.get_data()
        for path in data.measured_files():
            for line, contexts in data.contexts_by_lineno(path).items():
                found.visits[path, line] = set(contexts) - {""}
        say(f"{len(items)} tests in {sum(found.seconds.values()):.0f} s\n")
        return found

    def tried(
        self, mutants: list[Mutant], lookout: Lookout, items: dict[str, pytest.Item]
    ) -> Iterator[tuple[Mutant, int]]:
        """Each change and what became of it, as many at once as there are processors, until the time is over."""
        waiting, working = mutants[::-1], dict[int, tuple[Mutant, float]]()
        while working or (waiting and time.monotonic() < self.end):
            while waiting and len(working) < (os.cpu_count() or 1) and time.monotonic() < self.end:
                mutant = waiting.pop()
                working[self.fork(mutant, [items[each] for each in lookout.tests_of(mutant)])] = (
                    mutant,
                    time.monotonic(),
                )
            yield from ended(working)

    def fork(self, mutant: Mutant, items: list[pytest.Item]) -> int:
        """A process of its own in which the change is made and the tests run."""
        if (child := os.fork()) != 0:
            return child
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (2 * PATIENCE, 2 * PATIENCE))
        quiet = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(quiet, stream)
        try:
            os._exit(self.noticed(mutant, items))
        except BaseException:  # noqa: BLE001  whatever comes out of a test has noticed
            os._exit(NOTICED)

    def noticed(self, mutant: Mutant, items: list[pytest.Item]) -> int:
        """What comes of a change in this process."""
        if not place(mutant):
            return UNPLACED
        for item in items:
            perform(item, None)
            if self.failed:
                return NOTICED
        return MISSED


def perform(item: pytest.Item, following: pytest.Item | None) -> None:
    """Run a test as pytest would."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def place(mutant: Mutant) -> bool:
    """Give every function that there is of this code the changed one."""
    gc.unfreeze()
    code, placed = mutant.code(), False
    for each in gc.get_objects():
        if isinstance(each, _lru_cache_wrapper):
            each.cache_clear()  # what was worked out before the change
        elif isinstance(each, FunctionType) and mutant.is_of(each.__code__):
            placed |= code.co_freevars == each.__code__.co_freevars
            each.__code__ = code if placed else each.__code__
    return placed


def ended(working: dict[int, tuple[Mutant, float]]) -> Iterator[tuple[Mutant, int]]:
    """Those of the processes that are over, or have to be."""
    time.sleep(0.01)
    for child, (mutant, begun) in list(working.items()):
        if late := time.monotonic() > begun + LONGEST:
            os.killpg(child, signal.SIGKILL)
        found, status = os.waitpid(child, 0 if late else os.WNOHANG)
        if found:
            del working[child]
            code = os.waitstatus_to_exitcode(status)
            yield mutant, code if code >= 0 else ENDLESS


def say(text: str, end: str = "") -> None:
    """To the person who started it, whatever pytest does with the usual stream."""
    os.write(SCREEN, f"{text}{end}".encode())


SCREEN: Final = os.dup(1)


def report(found: Mutating, began: datetime) -> dict[str, Any] | None:
    """Tell the score, and between what it lies for all; a row of both for the record. None where nothing was judged."""
    became = Counter(each for _, each in found.results)
    if not (judged := became.total() - became[UNPLACED]):
        say(f"\nnothing was judged: of {found.total}, {became[UNPLACED]} were tried and could not be made\n")
        return None
    good = judged - became[MISSED]
    low, high = (round(100 * each, 1) for each in interval(good, judged))
    score = {"score": round(100 * good / judged, 1), "between": [low, high]}
    say(
        f"\n{good} of {judged} noticed, {became[ENDLESS]} of them by their not coming to an end: {score['score']} % "
        f"({low} % to {high} % with 95 % confidence); {judged} of {found.total} tried, seed {found.seed}, "
        f"and {became[UNPLACED]} that could not be made\n"
    )
    counted = {"noticed": good, "endless": became[ENDLESS], "missed": became[MISSED], "unplaced": became[UNPLACED]}
    return {"there_are": found.total, "tried": judged} | counted | score | about(found, began)


def about(found: Mutating, began: datetime) -> dict[str, Any]:
    """Which sample it was, when, and of what."""
    return {
        "seed": found.seed,
        "minutes": round((datetime.now(UTC) - began).total_seconds() / 60),
        "began": began.strftime("%Y-%m-%d %H:%M UTC"),
        "version": perdure.__version__,
    }


def keep(record: Path, room: str, row: dict[str, Any]) -> None:
    """The row of a room, beside those of others."""
    rows: dict[str, Any] = json.loads(record.read_bytes()) if record.exists() else {}
    record.write_text(json.dumps(dict(sorted((rows | {room: row}).items())), indent=1) + "\n", encoding="utf-8")


def interval(good: int, tried: int) -> tuple[float, float]:
    """Between what the share of all lies, with 95 % confidence, by a sample (Wilson)."""
    z, share = 1.96, good / tried
    middle, spread = share + z * z / (2 * tried), z * math.sqrt(share * (1 - share) / tried + (z / (2 * tried)) ** 2)
    return (middle - spread) / (1 + z * z / tried), (middle + spread) / (1 + z * z / tried)


@click.command(help=__doc__)
@click.argument("room", type=click.Choice(list(ROOMS)))
@click.option("--minutes", default=30.0, envvar="MUTANTS_MINUTES", help="When to stop.")
@click.option("--most", default=100_000, help="How many changes to try.")
@click.option("--seed", default=0, help="Which sample.")
@click.option("--only", default="", help="Files whose paths have this in them.")
@click.option("--tests", multiple=True, help="Other tests than those of the room.")
@click.option("--record", type=click.Path(path_type=Path), help="Where to keep what came out.")
def main(  # noqa: PLR0913, PLR0917
    room: str, minutes: float, most: int, seed: int, only: str, tests: tuple[str, ...], record: Path | None
) -> None:
    """Try changes in a room."""
    if record and (only or tests):
        raise click.UsageError("what is recorded is about a whole room and its tests")
    began, (sources, usual) = datetime.now(UTC), ROOMS[room]
    paths = [each for source in sources for each in files_in(ROOT / source) if only in str(each)]
    plugin = Mutating(paths, minutes, most, seed)
    words = [
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=once",
        "-m",
        "not campaign",
        *(tests or usual),
    ]
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  what pytest says is not of interest
    pytest.main(words, plugins=[plugin])
    row = report(plugin, began)
    if row and record:
        keep(record, room, row)
    sys.exit(row is None or row["noticed"] * 100 < BAR * row["tried"])


def files_in(path: Path) -> list[Path]:
    """A file, or all of a directory."""
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


if __name__ == "__main__":
    main()

"""Campaigns: tests that try the same thing again and again, each time with another seed.

In CI a campaign tries so often; in a soak it tries as often, and goes on for as long as it is given.
`SOAK_MINUTES=60 pytest -m campaign` shares an hour among all campaigns, goes on when one fails, and tells in the end what
each has done. What was found is told with the command that does it again: `PERDURE_SEED=<seed> pytest "<the test>"`.

    @pytest.mark.campaign("what it attacks", "I1 I2", of="kills", times=50)
    def test_…(trials):
        for seed in trials(4):                            four of them in CI
            …

`I1 I2` are promises of docs/reference/reliability.md; what is counted is `times` of `of` for each seed. With `lot=False`
nothing is drawn: each trial is the same, what differs is who comes first, and no seed is told.
"""

import json
import os
import platform
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count, islice, takewhile
from pathlib import Path

import pytest

PATIENCE = 900
"""Seconds that a campaign may need beyond its share: to get ready, and for a last trial that takes long."""
_PLACE = re.compile(r"(?<!\S)/[^\s:]*/")
"""Where a file lies on this machine, which is of no use to others."""
SHARE = pytest.StashKey[float]()
TRIALS = pytest.StashKey["Trials"]()
SHARES = pytest.StashKey["Shares"]()


class Trials:
    """The seeds of one campaign, and how many of them were tried."""

    def __init__(self, name, until=None, start=0, only=None):
        self.name, self.until, self.start, self.only = name, until, start, only
        self.tried, self.wanted, self.seed, self.are_all = 0, 0, None, False

    def __call__(self, quick, first=0):
        """As many seeds as CI tries, from the first one; in a soak, others, and on until the time is over."""
        self.wanted = quick
        for seed in self._seeds(quick, first):
            self.seed, self.tried = seed, self.tried + 1
            yield seed

    def among(self, points, quick):
        """In CI some of them; in a soak as many, in any order, and more while there is time, up to all."""
        points = random.Random(self.name).sample(points, len(points))
        for seed in islice(self(min(quick, len(points))), len(points)):
            yield points[seed % len(points)]
        self.are_all = self.tried == len(points)

    def places(self, root, quick, first=0):
        """Each seed with a place that is gone when the next one begins; it is not made yet."""
        for seed in self(quick, first):
            yield seed, root / str(seed)
            shutil.rmtree(root / str(seed), ignore_errors=True)

    @property
    def is_quick(self):
        """Whether this is CI; else it is a soak, or one seed that somebody wants to see again."""
        return self.until is None and self.only is None

    @property
    def suffice(self):
        """Whether enough was tried to ask how often something happens."""
        return self.tried >= self.wanted

    def _seeds(self, quick, first):
        if self.only is not None:
            return iter([self.only])
        if self.until is None:
            return iter(range(first, first + quick))
        least = self.start + quick
        return takewhile(lambda seed: seed < least or time.monotonic() < self.until, count(self.start))


class Shares:
    """How the time of a soak is divided: each campaign gets as much as any other of what is left when it begins.

    Those who come later get what one leaves, and lack what one takes beyond its share to try what CI does.
    """

    def __init__(self, names):
        whole = Counter(map(campaign_of, names))
        self.weights = {name: 1 / whole[campaign_of(name)] for name in names}
        self.over = Path(os.environ["SOAK_OVER"])
        self.hands = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

    def of(self, name):
        """Seconds for one test, of those that are left."""
        over = set(self.over.read_text(encoding="utf-8").splitlines())
        left = sum(weight for each, weight in self.weights.items() if each not in over)
        seconds = max(0.0, float(os.environ["SOAK_UNTIL"]) - time.time())
        return min(seconds, seconds * self.hands * self.weights[name] / left)

    def close(self, name):
        with self.over.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")


def campaign_of(name):
    """The name of a campaign, whatever it is tried with."""
    return name.partition("[")[0]


def again(name, seed):
    """The command that does it again; a seed that decides nothing is not named."""
    return f'{f"PERDURE_SEED={seed} " if seed is not None else ""}.venv/bin/pytest "{name}"'


# ------------------------------------------------------------------------------- what pytest asks


@pytest.fixture
def trials(request):
    """The seeds of a campaign."""
    item = request.node
    share = item.stash.get(SHARE, None)
    until = None if share is None else time.monotonic() + share
    start = random.Random(f"{os.environ.get('SOAK_SEED')} {item.nodeid}").randrange(10**9, 10**10)
    seed = os.environ.get("PERDURE_SEED")
    made = item.stash[TRIALS] = Trials(item.nodeid, until, start, None if seed is None else int(seed))
    return made


def pytest_configure(config):
    """Whoever begins a soak says when it is over; those who do the work hear of it."""
    if "SOAK_MINUTES" in os.environ and not hasattr(config, "workerinput"):
        os.environ["SOAK_UNTIL"] = str(time.time() + 60 * float(os.environ["SOAK_MINUTES"]))
        os.environ.setdefault("SOAK_SEED", str(random.SystemRandom().randrange(10**6)))
        handle, os.environ["SOAK_OVER"] = tempfile.mkstemp(prefix="perdure-soak-")
        os.close(handle)
        config.pluginmanager.register(Record(config), "soak")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """In a soak, campaigns of many tests begin: they take the most beyond their share, which all others bear then."""
    if "SOAK_UNTIL" in os.environ:
        tests = Counter(campaign_of(item.nodeid) for item in items)
        items.sort(key=lambda item: -tests[campaign_of(item.nodeid)])


def pytest_collection_finish(session):
    if "SOAK_UNTIL" in os.environ:
        session.config.stash[SHARES] = Shares([item.nodeid for item in session.items])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    shares = item.config.stash.get(SHARES, None)
    if shares is None or item.get_closest_marker("campaign") is None:
        return (yield)
    item.stash[SHARE] = shares.of(item.nodeid)
    item.add_marker(pytest.mark.timeout(item.stash[SHARE] + PATIENCE))
    try:
        return (yield)
    finally:
        shares.close(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What was tried goes with the report; of a failure, also how to see it again."""
    report = yield
    mark, tried = item.get_closest_marker("campaign"), item.stash.get(TRIALS, None)
    if mark is not None and (call.when == "call" or report.outcome != "passed"):
        row = told(mark, tried, report)
        report.user_properties.append(("campaign", row))
        if tried is not None and report.failed:
            report.sections.append(("campaign", f"trial {tried.tried}; again: {again(item.nodeid, row['seed'])}"))
    return report


def told(mark, tried, report):
    attacks, holds = mark.args
    by_lot = tried is not None and mark.kwargs.get("lot", True)
    return {
        "attacks": attacks,
        "holds": holds,
        "of": mark.kwargs.get("of", "seeds"),
        "tried": tried.tried * mark.kwargs.get("times", 1) if tried else 1,
        "first": tried.start if by_lot else None,
        "seed": tried.seed if by_lot else None,
        "all": tried.are_all if tried else False,
        "outcome": report.outcome,
        "seconds": round(report.duration, 1),
        "what": last_line(report.longreprtext) if report.failed else [],
    }


def last_line(text):
    """The last line of what broke, if there is one."""
    return [_PLACE.sub("", line) for line in text.strip().splitlines()[-1:]]


class Record:
    """What a soak has done: told while it goes on, and kept in the end."""

    def __init__(self, config):
        self.config, self.began, self.rows = config, time.time(), {}

    def pytest_runtest_logreport(self, report):
        for row in (value for name, value in report.user_properties if name == "campaign"):
            if report.nodeid not in self.rows or report.failed:
                self.rows[report.nodeid] = row
            if report.failed:
                self._terminal().write_line(f"\n{failure(report.nodeid, row)}")

    def _terminal(self):
        return self.config.pluginmanager.get_plugin("terminalreporter")

    def pytest_terminal_summary(self, terminalreporter):
        self._tell(terminalreporter)
        if "SOAK_RECORD" in os.environ:
            self._keep(Path(os.environ["SOAK_RECORD"]))
        Path(os.environ["SOAK_OVER"]).unlink()

    def _tell(self, terminal):
        terminal.section(f"soak, seed {os.environ['SOAK_SEED']}")
        for name, row in sorted(self.rows.items()):
            seeds = "" if row["first"] is None else f" from seed {row['first']}"
            terminal.write_line(f"{row['outcome']:8}{row['tried']:>10} {row['of']}{seeds}  {name}")
        for name, row in self.rows.items():
            if row["outcome"] == "failed":
                terminal.write_line(failure(name, row))

    def _keep(self, path):
        """A row for each campaign, whatever it was tried with. One that was not tried now keeps the row that it had."""
        campaigns, about = {}, self._about()
        for name, row in sorted(self.rows.items()):
            campaigns.setdefault(campaign_of(name), []).append((name, row))
        before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        kept = {name: row for name, row in before.items() if is_there(name)}
        now = {name: together(rows) | about for name, rows in campaigns.items()}
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            json.dumps(dict(sorted((kept | now).items())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )

    def _about(self):
        return {
            "began": datetime.fromtimestamp(self.began, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "minutes": round((time.time() - self.began) / 60),
            "seed": int(os.environ["SOAK_SEED"]),
            "version": version("perdure"),
            "machine": machine(),
        }


def failure(name, row):
    """What went wrong first, and how to see it again."""
    return f"FAILED  {''.join(row['what'])}\n        again: {again(name, row['seed'])}"


def together(rows):
    """One row of those of a campaign."""
    first = rows[0][1]
    failed = [(name, row) for name, row in rows if row["outcome"] == "failed"]
    return {
        **{key: first[key] for key in ("attacks", "holds", "of")},
        "tried": sum(row["tried"] for _, row in rows if row["outcome"] != "skipped"),
        "all": all(row["all"] for _, row in rows),
        "seconds": round(sum(row["seconds"] for _, row in rows)),
        "skipped": sum(row["outcome"] == "skipped" for _, row in rows),
        "failures": [{"again": again(name, row["seed"]), "what": "".join(row["what"])} for name, row in failed],
    }


def is_there(name):
    """Whether a campaign is one still."""
    path, _, test = name.partition("::")
    return Path(path).exists() and f"def {test}(" in Path(path).read_text(encoding="utf-8")


def machine():
    """What it ran on, as far as that says something about its numbers."""
    kernel, *_ = re.split(r"[^\d.]", platform.release())  # what comes behind is the name of a build
    system, python = f"{platform.system()} {kernel}", platform.python_version()
    return f"{os.cpu_count()} cores ({platform.machine()}), {system}, Python {python}"

"""Campaigns follow the time they are given, and say what they do."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import measured
from campaigns import Shares, Trials, last_line, pytest_collection_modifyitems

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"pytest\.mark\.campaign\b(?!\()|pytest\.mark\.campaign\(\s*\"([^\"]+)\",\s*\"([^\"]+)\"")
DRAWN = re.compile(r"\brandom\.(?!Random\b)\w+\(|\bRandom\(\)")
SEEDLESS = re.compile(r"for _(, \w+)? in trials")
FILES = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
SOME = """
import pytest

@pytest.mark.campaign("one thing", "I1", of="tries", times=3)
@pytest.mark.parametrize("n", [1, 2])
def test_that_breaks(n, trials):
    for seed in trials(40):
        assert n == 1, "here it is"

@pytest.mark.campaign("another", "I2")
def test_that_looks_at_all_points(trials):
    assert {*trials.among([1, 2, 3], 1)} <= {1, 2, 3}

@pytest.mark.campaign("nothing by lot", "I3", lot=False)
def test_that_draws_nothing(trials):
    for _ in trials(1):
        raise AssertionError
"""


def test_ci_tries_so_often_and_a_soak_until_the_time_is_over():
    quick = Trials("t")
    assert (list(quick(3, first=5)), quick.tried, quick.suffice, quick.is_quick) == ([5, 6, 7], 3, True, True)
    late = Trials("t", until=0.0, start=1_000)
    assert (list(late(3)), late.suffice) == ([1_000, 1_001, 1_002], True), "what CI tries in any case"
    again = Trials("t", only=77)
    assert (list(again(3)), again.is_quick) == ([77], False)


def test_a_point_is_the_same_for_the_same_seed_and_none_is_tried_twice():
    points = list("abcdefgh")
    some = Trials("t")
    tried = [(point, some.seed) for point in some.among(points, 3)]
    assert len(set(tried)) == 3
    assert not some.are_all
    assert all([*Trials("t", only=seed).among(points, 3)] == [point] for point, seed in tried)
    late = Trials("t", until=0.0, start=12_345)
    assert (len({*late.among(points, 3)}), late.are_all) == (3, False), "what CI tries in any case"
    every = Trials("t", until=10.0**10, start=12_345)
    assert sorted(every.among(points, 3)) == points
    assert every.are_all


def test_a_place_is_gone_when_the_next_one_begins(tmp_path):
    for seed, place in Trials("t").places(tmp_path, 3):
        place.mkdir()
        assert [each.name for each in tmp_path.iterdir()] == [str(seed)]
    assert list(tmp_path.iterdir()) == []


def test_each_campaign_gets_the_same_and_what_is_left_goes_to_the_others(tmp_path, monkeypatch):
    over = tmp_path / "over"
    over.touch()
    for name, value in {"SOAK_OVER": str(over), "SOAK_UNTIL": "1300", "PYTEST_XDIST_WORKER_COUNT": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("time.time", lambda: 1000.0)
    shares = Shares(["a[1]", "a[2]", "b", "c"])
    assert [round(shares.of(name)) for name in ("a[1]", "a[2]", "b")] == [100, 100, 200]
    shares.close("b")
    shares.close("a[1]")
    assert [round(shares.of(name)) for name in ("a[2]", "c")] == [200, 300], "nobody gets more than there is"


def test_a_soak_begins_with_campaigns_of_many_tests(monkeypatch):
    items = [SimpleNamespace(nodeid=name) for name in ("a", "b[1]", "b[2]", "c", "d[1]", "d[2]", "d[3]")]
    monkeypatch.delenv("SOAK_UNTIL", raising=False)
    pytest_collection_modifyitems(items)
    assert "".join(each.nodeid[0] for each in items) == "abbcddd"
    monkeypatch.setenv("SOAK_UNTIL", "0")
    pytest_collection_modifyitems(items)
    assert "".join(each.nodeid[0] for each in items) == "dddbbac"


def test_a_soak_goes_on_after_a_failure_and_keeps_what_it_found(tmp_path, monkeypatch):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["campaigns"]\n')
    (tmp_path / "test_some.py").write_text(SOME)
    kept = tmp_path / "soak.json"
    env = {**os.environ, "SOAK_MINUTES": "0.03", "SOAK_RECORD": str(kept), "PYTHONPATH": str(ROOT / "tests/support")}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--rootdir", tmp_path, "."]
    env.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(kept.read_text())
    broken, whole = found["test_some.py::test_that_breaks"], found["test_some.py::test_that_looks_at_all_points"]
    [failure], [plain] = broken["failures"], found["test_some.py::test_that_draws_nothing"]["failures"]
    assert plain["again"] == '.venv/bin/pytest "test_some.py::test_that_draws_nothing"', "no seed makes a difference"
    again = re.search(r'PERDURE_SEED=(\d+) \.venv/bin/pytest "test_some.py::test_that_breaks\[2\]"', done.stdout)
    assert failure["again"] == again.group()
    assert broken["tried"] >= (40 + 1) * 3, "the other one went on, and did not try less than CI"
    assert (whole["tried"] > 0, whole["failures"]) == (True, [])
    assert (whole["attacks"], whole["holds"]) == ("another", "I2")
    monkeypatch.setattr("measured.KEPT", tmp_path)
    [told] = [line for line in measured.campaigns() if "that breaks" in line]
    assert f"| {broken['tried']:,} tries | {broken['seconds']} | 1 | 0 minutes, " in told
    assert told.endswith(f"UTC, Perdure {version('perdure')} |\n"), "commits may be gone when the page is read"
    assert re.fullmatch(r"\d+ cores \(\w+\), Linux [\d.]+, Python 3[\d.]+", broken["machine"]), "no name of a build"


def test_every_campaign_says_what_it_attacks_and_which_promise_it_holds():
    page = (ROOT / "docs/reference/reliability.md").read_text(encoding="utf-8")
    promises = set(re.findall(r"^\| ([A-Z]\d+) \|", page, re.MULTILINE))
    marks = [(path, *found) for path in FILES for found in MARK.findall(path.read_text(encoding="utf-8"))]
    assert len(marks) > 50
    assert [path.name for path, attacks, _ in marks if not attacks] == []
    assert [(path.name, holds) for path, _, holds in marks if not set(holds.split()) <= promises] == []


def test_what_broke_is_told_without_where_it_lies_on_this_machine():
    assert last_line("E  no\n\ntests/tools/test_x.py:226: AssertionError\n") == [
        "tests/tools/test_x.py:226: AssertionError"
    ]
    assert last_line("/usr/lib/python3/asyncio/tasks.py:502: TimeoutError") == ["tasks.py:502: TimeoutError"]
    assert last_line("") == []


def test_a_campaign_draws_from_its_seed_or_says_that_it_draws_nothing():
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    for path, text in texts.items():
        campaigns = [each.partition("\n\n\n")[0] for each in text.split("@pytest.mark.campaign(")[1:]]
        assert not (campaigns and DRAWN.search(text)), f"{path}: chance that no seed decides"
        for each in campaigns:
            assert bool(SEEDLESS.search(each)) is ("lot=False" in each), f"{path}: {each}"

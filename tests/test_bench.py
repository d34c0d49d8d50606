"""The benches: they run, and the page says what was measured and nothing else."""

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

BENCH = Path(__file__).parents[1] / "bench"
sys.path.append(str(BENCH))

from figures import Figure, number  # noqa: E402  as above
from machine import machine  # noqa: E402  as above
from page import Report, page, write  # noqa: E402  as above
from ratios import bars  # noqa: E402  the path is set above
from rounds import Found, jobs, order  # noqa: E402  as above
from trial import Job, run, tried  # noqa: E402  as above

PERDURE, FLOOR, LANGGRAPH = (
    Job("w1", 1_000, *each) for each in (("perdure", "sqlite"), ("floor", "sqlite-full"), ("langgraph", "sync"))
)


def row(speed, **more):
    return {
        "steps_per_s": speed,
        "steps": 1_000,
        "us_per_step": 1e6 / speed,
        "cpu_us_per_step": 100,
        "bytes": 600_000,
    } | more


def found_of(rounds):
    found = Found()
    for turn, speeds in enumerate(rounds):
        for job, speed in speeds.items():
            found.note(job, turn, speed if isinstance(speed, dict) else row(speed))
    return found


def report_of(found, **more):
    meter = SimpleNamespace(minutes=1.0, others=0.5, loads=[3.0])
    return Report({"date": "today"}, meter, found, ["perdure", "floor", "langgraph"], **more)


def test_a_ratio_is_made_of_two_trials_of_the_same_round():
    found = found_of([{PERDURE: 100, FLOOR: 50}, {PERDURE: 10}, {PERDURE: 30, FLOOR: 30}])
    assert found.ratios(PERDURE, FLOOR, "steps_per_s") == [2.0, 1.0], "the second round has only one of both"
    late = found_of([{PERDURE: 100}, {PERDURE: 10, FLOOR: 40}])
    assert late.ratios(PERDURE, FLOOR, "steps_per_s") == [0.25]


def test_a_bar_holds_or_does_not():
    assert Figure("x", 0.5, least=0.6).holds is False
    assert Figure("x", 0.6, least=0.6).holds is True
    assert Figure("x", 2.1, most=2).holds is False
    assert Figure("x", 0, most=0).holds is True
    assert Figure("x", 1).holds is None
    assert [number(value) for value in (0, 0.5432, 12.34, 1234.5)] == ["0", "0.543", "12.3", "1,234"]


def test_the_page_tells_bars_by_what_was_measured():
    found = found_of([{PERDURE: 100, FLOOR: 200, LANGGRAPH: 20}, {PERDURE: 140, FLOOR: 200, LANGGRAPH: 20}])
    told = {figure.name: figure for figure in bars(found)}
    assert told["a chain of 1,000 steps: speed, of the bare loop"].value == pytest.approx(0.6)
    text = page(report_of(found, own={"waiting": [Figure("memory", 21.0, "KB", most=20)]}))
    assert "**3 of 4 bars hold.** Not:\n\n- memory: 21.0 KB (≤ 20.0)\n" in text
    assert "| a chain of 1,000 steps: speed, of LangGraph (sync) | 6 x | 5..7 | ≥ 4 | yes |" in text
    assert "**Not whole**" in text
    assert "The machine was busy" in text


def test_a_kernel_is_told_by_its_number_alone(monkeypatch):
    monkeypatch.setattr("platform.release", lambda: "6.18.44-the-name-of-a-build")
    assert machine()["system"].endswith(", Linux 6.18.44")


def test_what_failed_is_said_and_left_out(tmp_path):
    found = found_of([{PERDURE: 100, FLOOR: 200, LANGGRAPH: {"error": "it broke"}}])
    write(report_of(found, left_out={"dbos": "no wheel"}, is_whole=True), tmp_path)
    text = (tmp_path / "RESULTS.md").read_text()
    assert "## Left out\n\n- dbos: no wheel\n- w1 n=1,000 langgraph/sync: it broke\n" in text
    assert "LangGraph (sync)" not in text.partition("### ")[0]
    picture = ET.fromstring((tmp_path / "results.svg").read_text())  # noqa: S314  we wrote it ourselves
    titles = {each.text for each in picture.iter("{http://www.w3.org/2000/svg}title")}
    assert {"Perdure: 100 steps/s", "bare loop: 200 steps/s"} <= titles
    assert not any("LangGraph:" in title for title in titles)


def test_those_of_the_same_workload_are_side_by_side_and_take_turns():
    every = jobs(["perdure", "floor", "langgraph"])
    first, second = order(every, 0), order(every, 1)
    assert first != second
    assert sorted(first) == sorted(second) == sorted(every)
    kinds = [(job.workload, job.n) for job in first]
    assert [kinds[0], *(b for a, b in pairwise(kinds) if a != b)] == list(dict.fromkeys(kinds))


def test_a_process_that_does_not_end_is_ended_with_all_that_it_has_started(tmp_path):
    began = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid))"
    ended = run([sys.executable, "-c", f"import subprocess, time; {began}; time.sleep(60)"], 3)
    assert ended.row == {"error": "not over after 3 s"}
    gone = Path("/proc", (tmp_path / "pid").read_text(), "stat")
    for _ in range(100):
        if not gone.exists() or gone.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("what it had started goes on")


@pytest.mark.parametrize("engine", [("perdure", "sqlite"), ("floor", "sqlite-full")])
def test_a_trial_tells_what_it_took(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("trial.HOME", tmp_path)
    assert tried(Job("w1", 20, *engine), 60)["steps"] == 20
    killed = tried(Job("w5", 20, *engine), 60)
    assert (killed["twice"], killed["never"]) == (1, 0)
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        "schedule --graphs 1",
        "estimates --worlds 1 --learnt 3",
        "waiting --runs 5 --quiet 0.1",
        "resumption --runs 5 --rounds 1",
        "replay --size 1001 --rounds 1",
        "startup --rounds 1",
    ],
)
def test_benches_tell_their_figures(command, tmp_path):
    name, *given = command.split()
    told = tmp_path / "figures.json"
    where = {"BENCH_FIGURES": str(told), "BENCH_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    subprocess.run(
        [sys.executable, BENCH / f"{name}.py", *given], check=True, capture_output=True, env={**os.environ, **where}
    )
    figures = [Figure(**each) for each in json.loads(told.read_text())]
    assert figures
    assert all(
        figure.value >= 0 for figure in figures if "more than" not in figure.name and "memory" not in figure.name
    )

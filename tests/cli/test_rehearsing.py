"""A dry run works on a copy of the workspace. However it ends, the copy does not stay."""

import signal
import subprocess
import sys
import time

import pytest
from program import clean_environment

PLAN = """
perdure: 1
steps:
  - {id: long, tool: shell.run, with: {command: "touch begun; sleep ${inputs.seconds}"}}
inputs: {seconds: {type: integer, default: 60}}
"""
PATIENCE = 60


@pytest.fixture
def rehearsal(home, tmp_path):
    """A dry run, started; its temporary files are in a place of its own."""
    temp, project = tmp_path / "temp", tmp_path / "project"
    for each in (temp, project):
        each.mkdir()
    (tmp_path / "plan.yaml").write_text(PLAN)
    (project / "secret").write_text("hush")

    def started(*more):
        words = [sys.executable, "-m", "perdure", "run", tmp_path / "plan.yaml", "--dry-run", *more]
        env = clean_environment(home, TMPDIR=str(temp))
        return subprocess.Popen(words, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    started.temp = temp
    return started


def copies(temp):
    return list(temp.glob("*/workspace/secret"))


def until(process, holds):
    ends = time.monotonic() + PATIENCE
    while not holds() and process.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    assert holds(), process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["copied", "at work"])
def test_who_is_asked_to_stop_takes_the_copy_along(rehearsal, number, moment):
    process = rehearsal()
    where = "*/workspace/secret" if moment == "copied" else "*/state/stages/*/upper/begun"
    until(process, lambda: list(rehearsal.temp.glob(where)))
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert (process.returncode, list(rehearsal.temp.iterdir())) == (130, [])


def test_what_a_killed_one_left_is_removed_by_the_next(rehearsal):
    process = rehearsal()
    until(process, lambda: copies(rehearsal.temp))
    process.kill()
    process.communicate()
    assert copies(rehearsal.temp)
    process = rehearsal("-i", "seconds=0")
    process.communicate(timeout=PATIENCE)
    assert (process.returncode, list(rehearsal.temp.iterdir())) == (0, [])

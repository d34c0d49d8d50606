"""E4 E6 E18: from the command line: hands, a dry run, and all of it taken back."""

import json
import subprocess
from pathlib import Path

import pytest

PLAN = Path(__file__).parents[2] / "examples" / "runs" / "mend.yaml"
BEFORE = "def add(a, b):\n    return a - b\n"


def git(place, *words):
    about = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    return subprocess.run(
        ["/usr/bin/git", *about, *words], cwd=place, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def project(tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    (place / "calc.py").write_text(BEFORE)
    git(place, "init", "--quiet", ".")
    git(place, "add", "calc.py")
    git(place, "commit", "--quiet", "-m", "Add a calculator")
    return place


def state_of(place):
    return (place / "calc.py").read_text(), git(place, "status", "--porcelain", "--ignored"), git(place, "show-ref")


def test_a_dry_run_tells_all_and_touches_nothing(perdure, project, tmp_path):
    before = state_of(project)
    done = perdure("run", PLAN, "--dry-run", "--json", "--db", tmp_path / "runs.db", cwd=project)
    told = json.loads(done.stdout)
    assert (done.returncode, told["status"]) == (0, "succeeded")
    assert "+    return a + b" in told["diff"]
    deeds = {(each["deed"]["kind"], each["deed"]["what"]) for each in told["deeds"]}
    assert deeds >= {("write", "calc.py"), ("run", "python3"), ("use", "git:refs/heads/mended")}
    assert state_of(project) == before
    assert not (tmp_path / "runs.db").exists()


def test_a_run_is_carried_out_and_taken_back_from_anywhere(perdure, project, tmp_path):
    before, db = state_of(project), tmp_path / "runs.db"
    done = perdure("run", PLAN, "--db", db, cwd=project)
    assert (done.returncode, done.stdout) == (0, "2 + 3 = 5\n")
    assert (project / "calc.py").read_text() != BEFORE
    assert "Mend add" in git(project, "log", "--oneline", "mended")
    done = perdure("rollback", "@last", "--db", db, cwd=tmp_path)
    assert (done.returncode, state_of(project)) == (0, before)
    again = perdure("rollback", "@last", "--db", db, cwd=tmp_path)
    assert (again.returncode, "nothing to take back" in again.stderr) == (1, True)


def test_what_somebody_changed_since_is_left_alone_and_said(perdure, project, tmp_path):
    db = tmp_path / "runs.db"
    assert perdure("run", PLAN, "--db", db, cwd=project).returncode == 0
    (project / "calc.py").write_text("mine now\n")
    done = perdure("rollback", "@last", "--db", db, cwd=project)
    assert (done.returncode, "mend" in done.stderr) == (1, True)
    assert (project / "calc.py").read_text() == "mine now\n"


def test_a_run_is_not_carried_on_in_another_directory(perdure, project, tmp_path):
    db, other = tmp_path / "runs.db", tmp_path / "other"
    other.mkdir()
    assert perdure("run", PLAN, "--db", db, cwd=project).returncode == 0
    done = perdure("rollback", "@last", "--db", db, "--workspace", other, cwd=project)
    assert (done.returncode, "PRD3203" in done.stderr) == (2, True)


WATCHED = """
perdure: 1
policy: {tools: {ask: [files.delete]}}
steps:
  - {id: note, tool: files.write, with: {path: note.txt, text: hi}, undo: {tool: files.delete, with: {paths: [note.txt]}}}
"""


@pytest.mark.parametrize(("word", "stays"), [("approve", False), ("reject", True)])
def test_s9_taking_back_waits_for_a_person(perdure, tmp_path, word, stays):
    (tmp_path / "plan.yaml").write_text(WATCHED)
    db, file = ("--db", tmp_path / "runs.db"), tmp_path / "note.txt"
    assert perdure("run", tmp_path / "plan.yaml", *db, cwd=tmp_path).returncode == 0
    asks = perdure("rollback", "@last", *db, cwd=tmp_path)
    assert (asks.returncode, file.exists(), "perdure approve" in asks.stderr) == (4, True, True), asks.stderr
    assert perdure(word, "@last", *db, cwd=tmp_path).returncode == 0
    assert file.exists(), "who only brings the answer takes nothing back"
    perdure("resume", "@last", *db, cwd=tmp_path)
    shown = json.loads(perdure("show", "@last", "--json", *db, cwd=tmp_path).stdout)
    assert (shown["status"], file.exists(), shown["failure"] is not None) == ("rolled_back", stays, stays)

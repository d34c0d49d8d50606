"""E18: `perdure gc` takes what hands have kept along with its run, and leaves what any other run needs."""

import json
import re
import shutil
import subprocess
from functools import partial

import pytest
from program import held

PLAN = """
perdure: 1
inputs: {path: {type: string}, text: {type: string}, ask: {type: boolean, default: false}}
steps:
  - {id: change, tool: files.write, with: {path: "${inputs.path}", text: "${inputs.text}"}}
  - {id: sure, when: inputs.ask, ask: Is it right?, answer: approval}
"""
DELETE = """
perdure: 1
inputs: {name: {type: string}}
steps:
  - {id: drop, tool: git.branch, with: {name: "${inputs.name}", delete: true}}
"""


@pytest.fixture
def project(tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    for name in ("a", "b"):
        (place / name).write_text("the same before\n")
    for name, text in {"plan": PLAN, "delete": DELETE}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return place


@pytest.fixture
def here(perdure, project, db):
    """A command, given in the project."""
    return lambda *words: perdure(*words, "--db", db, cwd=project)


@pytest.fixture
def change(here, tmp_path):
    """A run that writes a file, by its id."""

    def done(path, text, *more, code=0):
        words = ("-i", f"path={path}", "-i", f"text={text}", *more)
        told = here("run", tmp_path / "plan.yaml", *words)
        assert told.returncode == code, told.stderr
        return re.search(r"r_\w+", told.stderr)[0]

    return done


def kept(db):
    """All that hands keep beside a journal, as one text."""
    return b"\n".join(each.read_bytes() for each in db.with_name(f"{db.name}.hands").rglob("*") if each.is_file())


def test_a_run_goes_with_what_was_kept_for_it_and_another_can_be_taken_back(here, change, project, db):
    change("a", "of the first run alone")
    second = change("b", "of the second run")
    sweep = partial(here, "gc", "--older-than", "0s", "--keep", 1)
    told = json.loads(sweep("--dry-run", "--json").stdout)
    assert (told["runs"], told["hands_bytes"] > 0) == (1, True)
    assert f"1 run would go, with {told['hands_bytes']} bytes kept" in sweep("--dry-run").stderr
    assert b"of the first run alone" in kept(db)
    done = json.loads(sweep("--json").stdout)
    assert (done["runs"], done["hands_bytes"], done["left"]) == (1, told["hands_bytes"], [])
    assert b"of the first run alone" not in kept(db)
    assert sweep().stderr == "forgot 0 runs and 0 artifacts\n"
    assert here("rollback", second).returncode == 0
    assert (project / "b").read_text() == "the same before\n"
    assert (project / "a").read_text() == "of the first run alone"


def test_a_run_that_waits_goes_on_and_can_be_taken_back(here, change, project):
    run = change("a", "changed", "-i", "ask=true", code=4)
    assert here("gc", "--older-than", "0s", "--keep", 0).returncode == 0
    assert here("approve", run).returncode == 0
    assert here("resume", run).returncode == 0
    assert here("rollback", run).returncode == 0
    assert (project / "a").read_text() == "the same before\n"


def test_deleted_branches_are_kept_as_long_as_their_runs(here, project, tmp_path):
    git = partial(subprocess.run, cwd=project, check=True, capture_output=True, text=True)
    about = ["/usr/bin/git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    git([*about, "init", "-q", "."])
    git([*about, "commit", "-qm", "Begin", "--allow-empty"])
    runs = []
    for name in ("one", "two"):
        git([*about, "branch", name])
        runs.append(here("run", tmp_path / "delete.yaml", "-i", f"name={name}"))
    assert [each.returncode for each in runs] == [0, 0]
    refs = partial(git, ["/usr/bin/git", "for-each-ref", "refs/perdure"])
    assert len(refs().stdout.splitlines()) == 2
    done = here("gc", "--older-than", "0s", "--keep", 1)
    assert (done.returncode, len(refs().stdout.splitlines())) == (0, 1), done.stderr
    assert here("rollback", "@last").returncode == 0
    assert "two" in git(["/usr/bin/git", "branch"]).stdout
    shutil.rmtree(project / ".git")
    done = here("gc", "--older-than", "0s", "--keep", 0)
    assert (done.returncode, "left" in done.stderr) == (0, False)


def test_who_has_the_journal_keeps_others_from_sweeping(here, change, db):
    change("a", "of a run that is over")
    with held(db):
        done = here("gc", "--older-than", "0s", "--keep", 0)
        assert (done.returncode, "PRD2101" in done.stderr) == (75, True)
        assert b"of a run that is over" in kept(db)
        assert "1 run would go, with " in here("gc", "--older-than", "0s", "--keep", 0, "--dry-run").stderr
    assert b"of a run that is over" in kept(db)


def test_what_an_interrupted_gc_left_is_found_by_the_next(here, change, db):
    """The journal has forgotten the run, and then the process was killed."""
    change("a", "of a run that is over")
    aside = db.with_name("aside")
    db.with_name(f"{db.name}.hands").rename(aside)
    assert "forgot 1 run" in here("gc", "--older-than", "0s", "--keep", 0).stderr
    aside.rename(db.with_name(f"{db.name}.hands"))
    done = here("gc", "--older-than", "0s", "--keep", 0)
    assert re.search(r"forgot 0 runs and 0 artifacts, with [\d,]+ bytes kept", done.stderr)
    assert b"of a run that is over" not in kept(db)


def test_what_cannot_go_is_told_and_goes_the_next_time(here, project, tmp_path, db):
    git = partial(subprocess.run, cwd=project, check=True, capture_output=True, text=True)
    git(["/usr/bin/git", "init", "-q", "."])
    git(["/usr/bin/git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "Begin", "--allow-empty"])
    git(["/usr/bin/git", "branch", "one"])
    assert here("run", tmp_path / "delete.yaml", "-i", "name=one").returncode == 0
    git(["/usr/bin/git", "config", "filter.x.clean", "program"])
    done = here("gc", "--older-than", "0s", "--keep", 0)
    assert (done.returncode, "left for the next time: PRD5201" in done.stderr) == (0, True)
    git(["/usr/bin/git", "config", "--unset", "filter.x.clean"])
    assert json.loads(here("gc", "--json", "--older-than", "0s").stdout)["left"] == []
    assert list((db.with_name(f"{db.name}.hands") / "git/deeds").iterdir()) == []

"""E22: the demo works on a repository as a company has it, and on the same one every time."""

import subprocess
import sys
from pathlib import Path

import demo
import demo_repository
import pytest
from git_shop import git

TIP = "875a1f83963710a6cff177357aa3a349d99a456d"
"""Whoever changes the demo's files writes the new one here."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("demo") / "till"
    return place, demo_repository.make(place)


@pytest.fixture
def odd_user(tmp_path, monkeypatch):
    """Somebody whose git signs, runs hooks, names branches in another way, and is in the middle of something."""
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "post-commit", "commit-msg"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    settings = tmp_path / ".gitconfig"
    for key, value in {
        "user.name": "Somebody", "commit.gpgSign": "true", "gpg.program": "false", "init.defaultBranch": "trunk",
        "init.templateDir": hooks.parent, "core.hooksPath": hooks, "core.autocrlf": "true", "core.excludesFile": settings,
        "i18n.commitEncoding": "latin1",
    }.items():  # fmt: skip
        git(tmp_path, "config", "--file", str(settings), key, str(value))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00")
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("TZ", "Asia/Tokyo")


def test_it_is_the_same_every_time(made):
    assert made[1][-1] == TIP
    assert len(made[1]) == len(demo_repository.commits()) >= 6


def test_the_users_git_has_no_say_in_it(made, odd_user, tmp_path):
    assert demo_repository.make(tmp_path / "till") == made[1]
    assert git(tmp_path / "till", "symbolic-ref", "HEAD") == "refs/heads/main"
    assert not (tmp_path / "till/.git/hooks").exists()


def test_two_people_have_worked_on_it_for_some_time(made):
    told = git(made[0], "log", "--format=%an %cn %as").splitlines()
    assert len({line.rpartition(" ")[0] for line in told}) == 2
    days = [line.rpartition(" ")[2] for line in told]
    assert days == sorted(days, reverse=True)
    assert git(made[0], "status", "--porcelain") == ""


def test_nothing_is_left_out_of_its_history(made):
    tracked = git(made[0], "ls-files").splitlines()
    assert {name: (made[0] / name).read_text(encoding="utf-8") for name in tracked} == demo.files()


def test_its_tests_pass_at_every_commit(made, tmp_path):
    git(tmp_path, "clone", "-q", str(made[0]), "copy")
    counts = []
    for commit in made[1]:
        git(tmp_path / "copy", "checkout", "-q", commit)
        count, failed = demo.tested(tmp_path / "copy")
        assert failed == []
        counts.append(count)
    assert counts == sorted(counts)
    assert counts[-1] >= 30


def test_it_is_a_dozen_modules_that_need_each_other(made):
    modules = [path for path in (made[0] / "till").glob("*.py") if "from till." in path.read_text(encoding="utf-8")]
    assert len(modules) >= 11


def test_its_readme_tells_the_truth(made):
    lines = (made[0] / "README.md").read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("    $ python3 -m till"))
    command = [sys.executable, "-B", *lines[at].split()[2:]]
    done = subprocess.run(command, cwd=made[0], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == lines[at + 1].strip()


def test_it_takes_no_directory_with_something_in_it(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert demo_repository.main([str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_script_says_where_it_stands(tmp_path):
    script = Path(demo_repository.__file__)
    command = [sys.executable, "-I", "-S", script, tmp_path / "new"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == TIP

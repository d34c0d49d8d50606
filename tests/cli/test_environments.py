"""What tests need beside the commit: it is told before the work begins, with the lines to write, and then used."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from code_tasks import script
from git_shop import git
from repositories import project
from repositories.project import commit

from perdure.cli.environments import environment_for, hint_for, is_shown
from perdure.config.policy import UserPolicy
from perdure.config.rules import Rules

NEEDS = (
    "import unittest, installed\n\nclass A(unittest.TestCase):\n    def test_a(self): self.assertTrue(installed.YES)\n"
)


@pytest.fixture
def repo(place):
    """Its tests need a package that is installed in its own environment alone."""
    root = project(place.path / "calc")
    git(root, "rm", "-q", "test_calc.py")
    commit(root, "Need a package", {"test_a.py": NEEDS, ".gitignore": ".venv\n"})
    base = Path(sys.base_prefix) / "bin/python3"
    subprocess.run([base, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    [packages] = root.glob(".venv/lib/python3*/site-packages")
    (packages / "installed.py").write_text("YES = True\n")
    return root


@pytest.fixture
def code(place, repo):
    model = script(place.path / "answers.json")

    def code(*words, ends=0):
        about = ("--repo", repo, "--template", "linear", "--model", model)
        return place.do("code", "Multiply two numbers", *about, *words, code=ends)

    return code


def test_who_does_as_is_said_has_the_tests_run_with_what_they_need(code, place, repo):
    told = code("--dry-run").stderr
    assert (
        f"not seen:  {repo}/.venv; what may help: under [sandbox] in {place.path}/.config/perdure/policy.toml" in told
    )
    [line] = re.findall(r"write (binds = .*), and begin again", told)
    file = place.path / ".config/perdure/policy.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f"[sandbox]\n{line}\n")
    done = code("--yes", "--branch", "multiply")
    assert f"tested by: {repo}/.venv/bin/python -m unittest discover, as its files tell" in done.stderr
    assert "not seen" not in done.stderr
    assert "1. before: the one test passes" in done.stdout


def test_who_begins_without_it_is_told_at_the_end_too(code, repo):
    done = code("--yes", "--test", "python3 -m no_such_runner", ends=1)
    head, _, rest = done.stdout.partition("PRD7006: ")
    assert "It could not be done" in head
    assert rest.startswith(
        "the tests cannot be run, so nothing could be proven: the program that runs the tests is not there"
    )
    assert "    what may help: under [sandbox] in " in rest
    assert f"begin again with --test '{repo}/.venv/bin/python -m no_such_runner'" in rest
    done = code("--yes")
    assert "Nothing was proven: no test passes.\n" in done.stdout
    assert f"{repo}/.venv/bin/python -m unittest discover'.\n" in done.stdout


def test_an_environment_of_a_commit_is_not_offered(tmp_path, monkeypatch):
    """Its links would say what the sandbox shall show."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / ".venv/pyvenv.cfg").write_text("home = /nowhere/bin\n")
    assert environment_for(tmp_path, ["calc.py", ".venv/pyvenv.cfg"]) is None
    assert environment_for(tmp_path, [".venv"]) is None
    assert environment_for(tmp_path, []) is None
    found = environment_for(tmp_path, ["src/calc.py"])
    assert found.by(("pytest", "-q")) == ("env", "PYTHONPATH=src", f"{tmp_path}/.venv/bin/python", "-m", "pytest", "-q")
    assert found.by(("make", "test")) == ("make", "test")


def test_a_home_is_not_to_be_shown_because_an_interpreter_is_there(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "lib").mkdir(parents=True)
    (home / "work/.venv/bin").mkdir(parents=True)
    (home / "work/.venv/bin/python").symlink_to(home / "bin/python3")
    (home / "bin").mkdir()
    (home / "bin/python3").write_text("")
    (home / "work/.venv/pyvenv.cfg").write_text(f"home = {home}/bin\n")
    monkeypatch.setenv("HOME", str(home))
    assert environment_for(home / "work", ["calc.py"]).shown == (home / "work/.venv",)


def test_what_is_written_already_stays(tmp_path):
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text("")
    (tmp_path / ".venv/pyvenv.cfg").write_text("")
    found = environment_for(tmp_path, ["calc.py"])
    rules = {"sandbox": {"binds": ["/opt/tools"]}}
    policy = UserPolicy(Rules.model_validate(rules), tmp_path / "policy.toml")
    assert not is_shown(found, policy)
    assert f'write binds = ["/opt/tools", "{tmp_path}/.venv"], ' in hint_for(found, policy, ("python3", "test.py"))
    assert "or another --test" in hint_for(None, policy, ("make", "test"))

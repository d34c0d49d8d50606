"""What tests a repository, as its commit tells it, or a directory whose links lead anywhere."""

import asyncio

import pytest
from git_shop import git
from repositories import project
from repositories.project import commit

from perdure.cli.contents import lying
from perdure.cli.environments import environment_for
from perdure.cli.surveying import survey
from perdure.config import load
from perdure.kits.coding.detecting import PYTEST, UNITTEST

BARE = "def test_add():\n    assert 1 + 2 == 3\n"


@pytest.fixture
def seen(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    def look(root, base="HEAD"):
        settings = load({"db": str(tmp_path / "runs.db")}).settings
        return asyncio.run(survey(settings, root, base, ["work"]))

    return look


def strayed(root, outside):
    """Where links lead out of it, round in circles, and to nothing."""
    outside.mkdir()
    (outside / "test_out.py").write_text(BARE)
    (outside / "pytest.ini").write_text("[pytest]\n")
    (root / "tests").symlink_to(outside)
    (root / "pytest.ini").symlink_to(outside / "pytest.ini")
    (root / "test").symlink_to(".")
    (root / "test_round.py").symlink_to("test_round.py")
    return root


def test_a_link_tells_nothing_wherever_it_leads(seen, tmp_path):
    root = strayed(project(tmp_path / "calc"), tmp_path / "outside")
    assert lying(root) == (UNITTEST, ("test_calc.py",))
    commit(root, "Bring links")
    assert seen(root).tests == (UNITTEST, ("test_calc.py",))


def test_what_is_not_committed_tells_nothing(seen, tmp_path):
    root = project(tmp_path / "calc")
    (root / "pytest.ini").write_text("[pytest]\n")
    assert seen(root).tests.command == UNITTEST
    (root / "pytest.ini").unlink()
    commit(root, "Test it otherwise", {"tests/test_new.py": BARE})
    assert (seen(root).tests.command, seen(root, "HEAD~1").tests.command) == (PYTEST, UNITTEST)


def test_odd_bytes_and_places_break_nothing(seen, tmp_path):
    root = project(tmp_path / "calc")
    commit(
        root, "Be odd", {"pyproject.toml": b"\xff\xfe[tool.nothing]", "tests/test_a.py": b"\x00\xff", "Makefile/x": ""}
    )
    assert seen(root).tests.files == lying(root).files == ("test_calc.py",)
    assert git(root, "status", "--porcelain") == ""


def test_what_programs_have_put_there_is_no_test_of_the_project(tmp_path):
    for place in ("env/pyvenv.cfg", "env/lib/test_them.py", "node_modules/x/test_them.py", ".tox/test_them.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(BARE)
    assert lying(tmp_path) == ((), ())


def test_what_is_closed_to_the_user_tells_nothing(tmp_path, monkeypatch):
    def closed(path, *words, **more):
        raise PermissionError(path)

    (tmp_path / ".venv").mkdir()
    (tmp_path / "test_a.py").write_text(BARE)
    monkeypatch.setattr("pathlib.Path.open", closed)
    assert lying(tmp_path) == ((), ())
    monkeypatch.setattr("pathlib.Path.is_file", closed)
    assert environment_for(tmp_path, ["test_a.py"]) is None

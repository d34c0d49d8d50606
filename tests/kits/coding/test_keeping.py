"""What is kept is what the tests have seen: nothing that git would leave out, and nothing where nothing was done."""

import asyncio

import pytest
from code_tasks import BRANCH, Task, shown
from git_shop import git
from repositories import project
from repositories.project import commit
from snapshots import difference, snapshot

USES = "from build.sums import add\n\n\ndef subtract(a, b):\n    return a - b\n"
SUMS = "def add(a, b):\n    return a + b\n"
TEST = ["python3", "-c", "import calc; assert calc.add(1, 2) == 3"]


@pytest.fixture
def root(tmp_path):
    root = project(tmp_path / "project")
    commit(root, "Ignore what is built", {".gitignore": "build/\n"})
    return root


def writing(**files):
    return [
        {"id": f"write{n}", "tool": "files.write", "with": {"path": path.replace("__", "/"), "text": text}}
        for n, (path, text) in enumerate(files.items())
    ]


def done(root, tmp_path, steps, **inputs):
    return asyncio.run(Task(root, tmp_path, steps, **inputs).done())


def test_e22_what_needs_a_file_that_git_ignores_is_not_kept(root, tmp_path):
    before = snapshot(root)
    steps = writing(**{"build__sums.py": SUMS, "calc.py": USES})
    found = done(root, tmp_path, steps, test=TEST)
    assert (found.status, found.branch) == ("failed", "")
    assert "git ignores build, and without it the tests are worse" in found.failure
    assert difference(before, snapshot(root)) == {}


@pytest.mark.parametrize("test", [TEST, []])
def test_what_git_ignores_and_nobody_needs_is_told(root, tmp_path, test):
    steps = writing(**{"build__sums.py": SUMS, "new.py": SUMS})
    found = done(root, tmp_path, steps, test=test)
    assert (found.status, found.ignored) == ("succeeded", ("build",))
    assert git(root, "diff", "--name-only", "main", BRANCH).split() == ["new.py"]
    assert shown(root, BRANCH, "new.py") == SUMS
    assert [*tmp_path.glob("runs.db.hands/**/workspace")] == []


def test_where_nothing_was_changed_it_is_not_called_done(root, tmp_path):
    before = snapshot(root)
    found = done(root, tmp_path, [{"id": "say", "tool": "flow.echo", "with": {"value": "It is done."}}])
    assert (found.status, found.branch) == ("failed", "")
    assert "nothing was changed" in found.failure
    assert difference(before, snapshot(root)) == {}


def test_a_name_that_git_passes_over_is_refused_before_anything_is_kept(root, tmp_path):
    before = snapshot(root)
    found = done(root, tmp_path, writing(**{"calc.py": "kept = 1\n", "git~1__config": "x\n"}))
    assert (found.status, found.branch) == ("failed", "")
    assert "git~1/config" in found.failure
    assert difference(before, snapshot(root)) == {}

"""E22: people go on with their repository while work is done on it. What they do is never lost, and told if it matters."""

import asyncio

import pytest
from code_tasks import ADD, BRANCH, FILES, WRITE, Task, commits, shown
from git_shop import git
from repositories import project
from repositories.project import commit, write
from snapshots import difference, snapshot

COMMITS = [f"Change {path}" for path in FILES]
BEGIN = ["Calculate", "Say what it does"]
HOLD = [*WRITE, {"id": "hold", "tool": "flow.echo", "with": {"value": 1}}]
"""`shape_hold` is over when all was written, and before anything is kept."""
FIRST = "commits/1[0].commit"
"""The first of two commits."""


@pytest.fixture
def root(tmp_path):
    return project(tmp_path / "project")


@pytest.fixture
def task(root, tmp_path):
    return Task(root, tmp_path, HOLD)


def theirs(root, branch, files, start="main"):
    """Somebody else commits to a branch, in another working tree of their own."""
    other = root.with_name("theirs")
    known = git(root, "branch", "--list", branch)
    git(root, "worktree", "add", "-q", *([str(other), branch] if known else ["-b", branch, str(other), start]))
    found = commit(other, "Theirs", files)
    git(root, "worktree", "remove", "--force", str(other))
    return found


def go(task):
    return asyncio.run(task.done())


def test_nobody_is_there(task, root):
    found = go(task)
    assert (found.status, found.branch, found.joined) == ("succeeded", BRANCH, False)
    assert commits(root, BRANCH) == [*BEGIN, *COMMITS]


def test_a_branch_of_the_same_name_is_joined_with_the_work(task, root):
    task.then["shape_hold"] = lambda: theirs(root, BRANCH, {"README.md": "# theirs\n"})
    found = go(task)
    assert (found.status, found.branch, found.joined) == ("succeeded", BRANCH, True)
    assert (shown(root, BRANCH, "README.md"), shown(root, BRANCH, "calc.py")) == ("# theirs\n", ADD)
    assert "Theirs" in commits(root, BRANCH)
    assert git(root, "branch", "--list", "perdure/*").split() == [BRANCH]


def test_half_of_the_commits_stand_when_it_moves(task, root):
    task.then[FIRST] = lambda: theirs(root, BRANCH, {"README.md": "# theirs\n"})
    found = go(task)
    assert (found.status, found.branch, found.joined) == ("succeeded", BRANCH, True)
    assert {*COMMITS[:1], "Theirs"} <= set(commits(root, BRANCH))
    assert [shown(root, BRANCH, path) for path in FILES] == [*FILES.values()]
    assert shown(root, BRANCH, "README.md") == "# theirs\n"


def test_the_same_lines_are_changed_by_both_and_a_person_is_asked(task, root):
    task.then["shape_hold"] = lambda: theirs(root, BRANCH, {"calc.py": "def add(a, b):\n    return b + a\n"})
    found = go(task)
    mine = f"perdure/{found.run}"
    assert (found.status, found.branch) == ("waiting", mine)
    assert shown(root, BRANCH, "calc.py") == "def add(a, b):\n    return b + a\n"
    assert shown(root, mine, "calc.py") == ADD
    again = asyncio.run(task.answered("again"))
    assert again.status == "waiting"
    left = asyncio.run(task.answered("leave"))
    assert (left.status, left.branch, left.joined) == ("succeeded", mine, False)
    assert "calc.py" in left.diff
    assert commits(root, BRANCH) == [*BEGIN, "Theirs"]


@pytest.mark.parametrize("settled", [["update-ref", f"refs/heads/{BRANCH}", "main"], ["branch", "-q", "-D", BRANCH]])
def test_what_a_person_has_settled_meanwhile_is_gone_on_with(task, root, settled):
    task.then["shape_hold"] = lambda: theirs(root, BRANCH, {"calc.py": "def add(a, b):\n    return b + a\n"})
    go(task)
    git(root, *settled)
    found = asyncio.run(task.answered("again"))
    assert (found.status, found.branch, found.joined) == ("succeeded", BRANCH, False)
    assert shown(root, BRANCH, "calc.py") == ADD


def test_it_is_checked_out_and_the_files_there_stay_as_they_are(task, root):
    task.then["shape_hold"] = lambda: git(root, "checkout", "-q", "-b", BRANCH)
    before = snapshot(root, git_times=False)
    found = go(task)
    assert found.status == "waiting"
    changed = difference(before, snapshot(root, git_times=False))
    assert [path for path in changed if not path.startswith(".git")] == []
    git(root, "checkout", "-q", "main")
    assert asyncio.run(task.answered("again")).status == "succeeded"
    assert shown(root, BRANCH, "calc.py") == ADD


def test_it_is_deleted_between_two_commits_and_all_the_work_is_there(task, root):
    task.then[FIRST] = lambda: git(root, "branch", "-q", "-D", BRANCH)
    found = go(task)
    assert (found.status, found.branch) == ("succeeded", BRANCH)
    assert [shown(root, BRANCH, path) for path in FILES] == [*FILES.values()]
    assert [each.id for each in found.commits] == git(root, "rev-list", "--reverse", f"main..{BRANCH}").split()


def test_a_branch_with_another_history_is_not_touched(task, root):
    def unrelated():
        tree = git(root, "rev-parse", "main^{tree}")
        git(root, "update-ref", f"refs/heads/{BRANCH}", git(root, "commit-tree", "-m", "Alone", tree))

    task.then["shape_hold"] = unrelated
    assert go(task).status == "waiting"
    assert commits(root, BRANCH) == ["Alone"]


def test_a_branch_that_stands_in_the_way_of_its_name(task, root):
    task.then["shape_hold"] = lambda: git(root, "branch", f"{BRANCH}/more")
    found = go(task)
    assert (found.status, found.branch) == ("waiting", f"perdure/{found.run}")
    assert shown(root, found.branch, "calc.py") == ADD


def test_the_base_moves_and_work_goes_on_from_where_it_began(task, root):
    began = git(root, "rev-parse", "main")
    task.then["shape_hold"] = lambda: commit(root, "Go on", {"calc.py": "gone = True\n"})
    found = go(task)
    assert (found.status, found.base) == ("succeeded", began)
    assert commits(root, BRANCH) == [*BEGIN, *COMMITS]
    assert commits(root, "main") == [*BEGIN, "Go on"]


def test_the_same_files_are_edited_in_their_own_tree(task, root):
    mine = {"calc.py": "mine = 1\n", "notes/why.txt": "mine\n"}
    task.then["shape_hold"] = lambda: write(root, mine)
    assert go(task).status == "succeeded"
    assert {path: (root / path).read_text() for path in mine} == mine
    assert shown(root, BRANCH, "calc.py") == ADD


def test_what_somebody_writes_into_the_copy_is_not_lost(task, root, tmp_path):
    def meddle():
        [copy] = (tmp_path / "runs.db.hands").glob("**/branches/*/workspace")
        write(copy, {"calc.py": f"{ADD}\n# seen\n", "mine.txt": "mine\n"})

    task.then["shape_hold"] = meddle
    found = go(task)
    assert found.status == "succeeded"
    assert shown(root, BRANCH, "calc.py") == f"{ADD}\n# seen\n"
    assert shown(root, BRANCH, "mine.txt") == "mine\n"
    assert "mine.txt" in {path for each in found.commits for path in each.files}


def test_e18_a_run_that_is_taken_back_leaves_no_branch(task, root):
    before = git(root, "for-each-ref")
    go(task)
    found = asyncio.run(task.taken_back())
    assert (found.status, found.branch) == ("rolled_back", "")
    assert git(root, "for-each-ref") == before


def test_e18_what_others_have_built_upon_is_not_taken_back(task, root):
    go(task)
    upon = theirs(root, BRANCH, {"README.md": "# theirs\n"})
    asyncio.run(task.taken_back())
    assert git(root, "rev-parse", BRANCH) == upon

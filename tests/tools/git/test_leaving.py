"""What deeds keep in the user's repository goes with their run; what another run needs, and anybody's work, stays."""

import asyncio
import shutil
import time
from pathlib import Path

import pytest

from perdure.tools.remaining import Remaining
from perdure.tools.sweeping import Freed, foreseen, sweep


def swept(shop, *runs, tier="none"):
    return asyncio.run(sweep(shop.state, tier, Remaining(frozenset(runs), time.time() + 60)))


def deeds(shop):
    return sorted((shop.state / "git/deeds").iterdir())


def kept(shop):
    return shop.git("for-each-ref", "--format=%(refname)", "refs/perdure").splitlines()


@pytest.fixture
def lonely(shop):
    """A commit that only one branch holds; the branch is deleted by one run, a tag by another."""
    shop.git("checkout", "-q", "-b", "lonely")
    shop.write("only.txt", "here")
    shop.git("add", ".")
    shop.git("commit", "-qm", "only here")
    shop.git("tag", "also")
    shop.git("checkout", "-q", "main")
    shop.run = "r_1"
    shop.do("git.branch", name="lonely", delete=True)
    shop.run = "r_2"
    return shop.do("git.tag", name="also", delete=True)


@pytest.mark.parametrize("packed", [False, True])
def test_refs_go_with_their_run_and_no_other(shop, lonely, packed):
    if packed:
        shop.git("pack-refs", "--all")
    assert len(kept(shop)) == 2
    foretold = foreseen(shop.state, Remaining(frozenset({"r_2"}), time.time() + 60))
    assert swept(shop, "r_2") == Freed(foretold)
    assert kept(shop) == [lonely["kept"]]
    assert swept(shop, "r_2") == Freed(0)
    shop.git("reflog", "expire", "--expire=now", "--all")
    shop.git("gc", "-q", "--prune=now")
    assert shop.undo("git.tag", lonely, name="also", delete=True).failure is None
    assert shop.git("log", "-1", "--format=%s", "also") == "only here"
    assert swept(shop).left == ()
    assert (deeds(shop), kept(shop)) == ([], [])


def test_what_copies_have_seen_of_any_branch_goes_with_their_run(shop):
    branch = shop.open(commit="HEAD")["branch"]
    (shop.copy(branch) / "new.txt").write_text("x\n")
    shop.do("git.commit", message="One", copy=branch, branch="topic")
    seen = shop.state / "git/seen"
    assert len(list(seen.iterdir())) == 1
    assert swept(shop, "r_1").left == ()
    assert len(list(seen.iterdir())) == 1
    assert swept(shop).left == ()
    assert (deeds(shop), list(seen.iterdir())) == ([], [])
    assert [each.name for each in (shop.state / "branches").iterdir()] == ["lock"]


def test_git_is_kept_in_the_sandbox_there_too(shop, lonely):
    assert swept(shop, tier="bwrap").left == ()
    assert (lonely["kept"] in kept(shop), deeds(shop)) == (False, [])


def test_a_repository_that_is_gone_is_no_error(shop, lonely):
    assert lonely
    shutil.rmtree(shop.root)
    assert swept(shop).left == ()
    assert deeds(shop) == []


def test_settings_that_nobody_agreed_to_are_not_used_for_sweeping(shop, lonely):
    shop.git("config", "filter.x.clean", "touch pwned")
    [why] = set(swept(shop, "r_2").left)
    assert "PRD5201" in why
    assert "filter.x.clean" in why
    assert len(kept(shop)) == len(deeds(shop)) == 2, "the deed stays, because it alone knows of the ref"
    shop.git("config", "--unset", "filter.x.clean")
    assert swept(shop, "r_2").left == ()
    assert kept(shop) == [lonely["kept"]]


def test_what_was_seen_of_a_branch_goes_with_the_run_that_it_is_named_after(shop):
    for number, name in enumerate(("", "", "named"), 1):
        shop.run = f"r_{number}"
        shop.write("a.txt", name)
        shop.do("git.commit", message="Change", branch=name)
    seen = shop.state / "git/seen"
    assert len(list(seen.iterdir())) == 3
    assert swept(shop, "r_2").left == ()
    assert len(list(seen.iterdir())) == 2
    for run, name in (("r_2", ""), ("r_4", "named")):
        shop.run = run
        shop.write("a.txt", f"more of {run}")
        shop.do("git.commit", message="Go on with it", branch=name)


def test_a_deed_that_came_to_nothing_goes_when_it_is_old(shop):
    place = shop.state / "git/deeds/abc"
    (place / "objects" / "ab").mkdir(parents=True)
    (place / "objects" / "ab" / "c").write_text("content")
    young = Remaining(frozenset({"r_1"}), time.time() - 60)
    assert asyncio.run(sweep(shop.state, "none", young)) == Freed(0)
    assert swept(shop, "r_1") == Freed(len("content"))
    assert not place.exists()


def test_a_worktree_goes_if_all_of_it_is_elsewhere(shop):
    place = Path(shop.do("git.worktree", key="k")["path"])
    (place / "new.txt").write_text("new")
    shop.do("git.commit", message="New", worktree=place.name, branch="new")
    before = shop.git("rev-parse", "new")
    assert swept(shop, "r_1") == Freed(0)
    assert place.exists()
    assert swept(shop).left == ()
    assert (place.exists(), shop.git("worktree", "list").count("\n")) == (False, 0)
    assert (shop.git("rev-parse", "new"), deeds(shop)) == (before, [])


def test_a_worktree_with_somebodys_work_stays_and_is_told(shop):
    place = Path(shop.do("git.worktree", key="k")["path"])
    (place / "mine.txt").write_text("mine")
    [why] = swept(shop).left
    assert place.name in why
    assert (place / "mine.txt").read_text() == "mine"
    shop.do("git.commit", message="Mine", worktree=place.name, branch="mine")
    shop.git("branch", "-D", "mine")
    [why] = swept(shop).left
    assert "is in no branch" in why
    shop.root.rename(shop.root.with_name("moved"))
    [why] = swept(shop).left
    assert "repository is not where it was" in why
    assert (place / "mine.txt").read_text() == "mine"


def test_a_worktree_from_which_another_run_has_worked_stays(shop):
    shop.run = "r_1"
    place = Path(shop.do("git.worktree", key="k")["path"])
    shop.run = "r_2"
    (place / "two.txt").write_text("2")
    output = shop.do("git.commit", message="Two", worktree=place.name, branch="two")
    swept(shop, "r_2")
    assert place.exists()
    undone = shop.undo("git.commit", output, message="Two", worktree=place.name, branch="two")
    assert undone.failure is None

"""Disks that fail under git: nothing has moved, or the same key brings it to its end."""

import pytest

from perdure.tools.git.faltering import kind_of


def in_the_way(path):
    """A file where a directory is wanted, as after a disk was repaired badly."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_before_anything_has_moved_that_is_said(shop):
    shop.write("new.txt", "new\n")
    before = shop.theirs()
    block = in_the_way(shop.state / "git" / "deeds")
    failure = shop.fail("git.commit", message="One")
    assert failure.kind == "unavailable"
    assert failure.message.startswith("nothing was changed: ")
    assert shop.theirs() == before
    block.unlink()
    shop.do("git.commit", message="One")


def test_once_a_ref_has_moved_it_is_in_doubt_and_the_same_key_ends_it(shop):
    shop.write("new.txt", "new\n")
    block = in_the_way(shop.state / "git" / "seen")
    failure = shop.fail("git.commit", key="k", message="One", branch="work")
    assert failure.kind == "in_doubt"
    made = shop.git("rev-parse", "work")
    block.unlink()
    assert shop.do("git.commit", key="k", message="One", branch="work")["commit"] == made
    shop.write("new.txt", "newer\n")
    assert shop.do("git.commit", message="Two", branch="work")["before"] == made, "it is known who made it"


def test_a_worktree_that_could_not_be_made_is_made_by_the_same_key(shop):
    block = in_the_way(shop.state / "worktrees")
    assert shop.fail("git.worktree", key="k").kind == "in_doubt"
    block.unlink()
    assert shop.do("git.worktree", key="k")["commit"] == shop.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("err", "kind"),
    [
        ("fatal: unable to write new index file: No space left on device", "unavailable"),
        ("error: cannot lock ref: Read-only file system", "unavailable"),
        ("fatal: bad object", "unmet"),
    ],
)
def test_what_git_says_of_a_disk_is_understood(err, kind):
    assert kind_of(err, "unmet") == kind

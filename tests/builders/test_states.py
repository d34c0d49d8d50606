"""E22: repositories in which somebody is at work are really in the middle of it."""

import pytest
from git_shop import git
from repositories import states
from repositories.claims import Claims, head, status

claims = Claims(states.BUILDERS)


@pytest.mark.parametrize("name", states.BUILDERS)
def test_it_is_what_it_says(name, tmp_path):
    claims.hold(name, tmp_path)


@claims
def staged(place):
    return status(place) == ["D  README.md", "M  calc.py", "A  new.py"]


@claims
def unstaged(place):
    return status(place) == [" D README.md", " M calc.py"]


@claims
def untracked(place):
    return status(place) == ["?? drafts/", "?? notes.txt"] and (place / "build.log").exists()


@claims
def stashed(place):
    return status(place) == [] and "notes.txt" in git(place, "show", "--name-only", "--format=", "stash@{0}^3")


@claims
def dirty(place):
    return status(place) == [" M README.md", "MM calc.py", "?? notes.txt"] and git(place, "stash", "list") != ""


@claims
def intended(place):
    flags = {line.split()[1]: line[0] for line in git(place, "ls-files", "-v").splitlines()}
    return status(place) == [" A soon.py"] and (flags["calc.py"], flags["README.md"]) == ("h", "S")


@claims
def merging(place):
    return status(place) == ["UU calc.py"] and (place / ".git/MERGE_HEAD").exists()


@claims
def rebasing(place):
    return status(place) == ["UU calc.py"] and (place / ".git/rebase-merge").is_dir() and head(place) == ""


@claims
def picking(place):
    return status(place) == ["UU calc.py"] and (place / ".git/CHERRY_PICK_HEAD").exists()


@claims
def bisecting(place):
    return (place / ".git/BISECT_START").exists() and head(place) == ""


@claims
def detached(place):
    return head(place) == "" and git(place, "rev-parse", "HEAD") == git(place, "rev-parse", "main~1")


@claims
def unborn(place):
    assert status(place) == ["A  calc.py", "?? notes.txt"]
    return head(place) == "refs/heads/main" and git(place, "rev-parse", "-q", "--verify", "HEAD", check=False) == ""


@claims
def locked(place):
    with pytest.raises(AssertionError, match=r"index\.lock"):
        git(place, "add", ".")
    return (place / ".git/refs/heads/main.lock").exists()


@claims
def broken(place):
    with pytest.raises(AssertionError, match="invalid sha1 pointer"):
        git(place, "fsck")
    return True


@claims
def odd_branch(place):
    assert head(place) == "refs/heads/feature/ü-1/@x"
    return "refs/heads/refs/heads/main" in git(place, "for-each-ref", "--format=%(refname)").split()

"""E22: repositories that are not where one looks for them, and directories that are none."""

import subprocess
import sys

import pytest
from git_shop import git
from repositories import layouts
from repositories.claims import Claims, head, status, top, tracked

claims = Claims(layouts.BUILDERS)


@pytest.mark.parametrize("name", layouts.BUILDERS)
def test_it_is_what_it_says(name, tmp_path):
    claims.hold(name, tmp_path)


@claims
def plain(place):
    subprocess.run([sys.executable, "-B", "-m", "unittest"], cwd=place, check=True, capture_output=True, timeout=60)
    return status(place) == [] and head(place) == "refs/heads/main" and git(place, "rev-list", "--count", "HEAD") == "2"


@claims
def submodule(place):
    return git(place, "ls-files", "-s", "vendor").startswith("160000") and (place / "vendor/library/calc.py").exists()


@claims
def missing_submodule(place):
    return (
        git(place, "ls-files", "-s", "vendor").startswith("160000") and list((place / "vendor/library").iterdir()) == []
    )


@claims
def nested(place):
    return git(place, "ls-files", "nested") == "" and (place / "nested/.git/hooks/pre-commit").exists()


@claims
def bare(place):
    return git(place, "rev-parse", "--is-bare-repository") == "true" and not (place / "calc.py").exists()


@claims
def linked_worktree(place):
    assert "/worktrees/" in (place / ".git").read_text()
    return head(place) == "refs/heads/side" and status(place) == []


@claims
def shallow(place):
    return (
        git(place, "rev-parse", "--is-shallow-repository") == "true"
        and git(place, "rev-list", "--count", "HEAD") == "1"
    )


@claims
def borrowing(place):
    return (place / ".git/objects/info/alternates").exists() and git(place, "count-objects").startswith("0 objects")


@claims
def sparse(place):
    return not (place / "docs").exists() and "docs/guide.md" in tracked(place) and status(place) == []


@claims
def inner_directory(place):
    return place.name == "part" and top(place) == str(place.parent)


@claims
def separate(place):
    return (place / ".git").is_file() and top(place) == str(place) and status(place) == []


@claims
def astray(place):
    return (place / ".git").is_file() and top(place) == ""


@claims
def linked(place):
    return (place / ".git").is_symlink() and top(place) == str(place)


@claims
def no_git(place):
    return (place / "calc.py").exists() and top(place) == ""


@claims
def empty(place):
    return list(place.iterdir()) == [] and top(place) == ""

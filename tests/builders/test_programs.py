"""E22: repositories that want programs run really have them: the user's own git starts each of them."""

import subprocess
import sys

import pytest
from git_shop import git
from repositories import marks, programs
from repositories.claims import Claims
from repositories.programs import ATTRIBUTES, SETTINGS
from repositories.project import beside

claims = Claims(programs.BUILDERS)


@pytest.mark.parametrize("name", programs.BUILDERS)
def test_it_is_what_it_says(name, tmp_path):
    claims.hold(name, tmp_path, changes=True)


def ran(place, *words, given=None):
    git(place, *words, given=given, check=False)
    return marks(place)


@claims
def hooks(place):
    return {"pre-commit", "commit-msg", "post-commit"} <= ran(place, "commit", "--allow-empty", "-m", "x")


@claims
def hooks_path(place):
    return hooks(place) and "tools/pre-commit" in git(place, "ls-files")


SPRUNG_BY = {
    "core.fsmonitor": ["status"], "core.sshCommand": ["ls-remote", "origin"], "core.editor": ["commit", "--allow-empty"],
    "core.gitProxy": ["ls-remote", "git://localhost/x"], "sequence.editor": ["rebase", "-i", "HEAD~1"], "alias.st": ["st"],
    "gpg.program": ["commit", "--allow-empty", "-m", "x"], "diff.external": ["diff", "HEAD~1"],
    "credential.helper": ["credential", "fill"], "core.askPass": ["credential", "fill"],
}  # fmt: skip
"""Only the pager is missing: git starts it on a terminal alone."""


@claims
def settings(place):
    assert SETTINGS.keys() - SPRUNG_BY.keys() == {"core.pager"}
    host = b"protocol=https\nhost=example.com\n\n"
    return all(key in ran(place, *words, given=host) for key, words in SPRUNG_BY.items())


@claims
def included_settings(place):
    return ran(place, "status") == {"core.fsmonitor"} and "shared.cfg" in git(place, "ls-files")


@claims
def filters(place):
    git(place, "branch", "side")
    for branch in ("side", "main"):
        git(place, "checkout", "-q", branch)
        (place / "calc.py").write_text(f"# {branch}\n")
        git(place, "diff")
        git(place, "commit", "-qam", branch)
    return ran(place, "merge", "side") == ATTRIBUTES.keys()


@claims
def private_filters(place):
    return ".gitattributes" not in git(place, "ls-files") and filters(place)


@claims
def reaching_tests(place):
    subprocess.run([sys.executable, "-B", "-m", "unittest"], cwd=place, check=True, capture_output=True, timeout=60)
    return marks(place) == {"tests"} and (place / ".git/hooks/post-commit").exists() and beside(place, "new").exists()


@claims
def all_at_once(place):
    assert hooks(place)
    return {"core.fsmonitor", "filter.evil.clean"} <= ran(place, "add", "--renormalize", ".")


def test_where_a_program_cannot_write_it_leaves_its_mark_where_it_was_started(tmp_path):
    place = programs.hooks(tmp_path / "project")
    beside(place, "marks").rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run([place / ".git/hooks/pre-push"], cwd=elsewhere, check=True, stdin=subprocess.DEVNULL, timeout=60)
    assert (marks(place), marks(place, elsewhere)) == (set(), {"pre-push"})

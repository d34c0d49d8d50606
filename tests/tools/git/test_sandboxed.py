"""The same tools with git in the sandbox, as it is unless the user's settings give the sandbox up."""

from pathlib import Path

import pytest
from git_shop import Shop, git

from perdure.tools.sandbox import probes


@pytest.fixture
def boxed(tmp_path):
    return Shop(tmp_path, "bwrap")


def test_everything_works_there_and_is_undone(boxed, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(boxed.root), "origin.git")
    boxed.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    before = boxed.theirs()
    boxed.write("one.txt", "1\n")
    commit = boxed.do("git.commit", message="One", branch="work")
    assert boxed.do("git.show", commit="work")["subject"] == "One"
    tree = boxed.do("git.worktree", start="work")
    assert (Path(tree["path"]) / "one.txt").read_text() == "1\n"
    (Path(tree["path"]) / "two.txt").write_text("2\n")
    second = boxed.do("git.commit", message="Two", branch="work", worktree=tree["name"])
    merged = boxed.do("git.merge", source="work", into="older")
    pushed = boxed.agreed("git.push", branch="work").output
    assert git(tmp_path / "origin.git", "rev-parse", "work") == pushed["after"] == second["commit"]
    assert boxed.undo("git.merge", merged, source="work", into="older").failure is None
    assert boxed.undo("git.commit", second, message="Two", worktree=tree["name"]).failure is None
    (Path(tree["path"]) / "two.txt").unlink()
    assert boxed.undo("git.worktree", tree).failure is None
    assert boxed.undo("git.commit", commit, message="One").failure is None
    (boxed.root / "one.txt").unlink()
    assert boxed.theirs() == before


def test_even_a_program_that_a_person_agreed_to_reaches_nothing(boxed, tmp_path):
    traces = [tmp_path / "trace", boxed.root / "trace", boxed.root / ".git/trace"]
    boxed.git("config", "filter.evil.clean", "; ".join(f"touch {each}" for each in traces) + "; cat")
    boxed.write(".gitattributes", "* filter=evil\n")
    boxed.write("src/a.py", "a = 'changed'\n")
    asked = boxed.outcome("git.status")
    assert boxed.outcome("git.status", approved=frozenset({asked.approval.digest})).failure is None
    boxed.do("git.diff")
    assert [each for each in traces if each.exists()] == []
    boxed.git("diff")
    assert all(each.exists() for each in traces), "the trap does not work"


def test_without_a_sandbox_that_holds_there_is_no_git(boxed, monkeypatch):
    async def probe(hands):
        return probes.Report("bwrap", "copy", (), "bwrap was not found", "install bubblewrap")

    monkeypatch.setattr(probes, "probe", probe)
    failure = boxed.fail("git.status")
    assert (failure.kind, failure.message) == ("unavailable", "PRD5101: bwrap was not found (install bubblewrap)")


def test_bounds_hold_there_too(boxed):
    boxed.write("src/a.py", "y = 1\n" * 200_000)
    found = boxed.do("git.diff")
    assert (found["cut"], len(found["text"])) == (True, 500_000)


@pytest.mark.parametrize("tier", ["bwrap", "landlock", "none"])
def test_a_lower_tier_is_told_with_every_outcome(tier, tmp_path):
    shop, told = Shop(tmp_path, tier), "" if tier == "bwrap" else tier
    shop.write("one.txt", "1\n")
    done = shop.outcome("git.commit", message="One", branch="work")
    failed = shop.outcome("git.log", start="nowhere")
    undone = shop.undo("git.commit", done.output, message="One")
    assert (done.failure, failed.failure.kind, undone.failure) == (None, "invalid", None)
    assert [each.sandboxed for each in (done, failed, undone)] == [told] * 3

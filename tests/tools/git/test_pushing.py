"""E18: Pushing: agreed to, by lease, found out about, and taken back."""

import asyncio

import pytest
from git_shop import git


@pytest.fixture
def origin(shop, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(shop.root), "origin.git")
    shop.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    shop.write("one.txt", "1")
    shop.commit = shop.do("git.commit", message="One", branch="work")["commit"]
    return tmp_path / "origin.git"


def at(origin, name):
    return git(origin, "rev-parse", "--verify", "-q", name, check=False)


def probe(shop, key, **arguments):
    return asyncio.run(shop.performer.perform(shop.attempt("git.push", key, arguments=arguments, by="probe")))


def test_nothing_is_pushed_before_a_person_agrees_to_what_is_pushed_and_where(shop, origin):
    asked = shop.outcome("git.push", "k", branch="work")
    for part in (str(origin), "refs/heads/work", shop.commit, "+1"):
        assert part in asked.approval.text
    assert at(origin, "work") == ""
    agreed = frozenset({asked.approval.digest})
    shop.git("update-ref", "refs/heads/work", "older")
    assert shop.outcome("git.push", "k", branch="work", approved=agreed).approval.digest not in agreed
    shop.git("update-ref", "refs/heads/work", shop.commit)
    done = shop.outcome("git.push", "k", branch="work", approved=agreed)
    assert done.output == {"remote": "origin", "ref": "refs/heads/work", "before": None, "after": shop.commit}
    assert at(origin, "work") == shop.commit


def test_it_can_be_found_out_whether_it_happened(shop, origin):
    assert probe(shop, "k", branch="work").output == {"happened": False}
    asked = shop.outcome("git.push", "k", branch="work")
    done = shop.outcome("git.push", "k", branch="work", approved=frozenset({asked.approval.digest}))
    assert probe(shop, "k", branch="work").output == {"happened": True, "output": done.output}
    git(origin, "update-ref", "-d", "refs/heads/work")
    assert probe(shop, "k", branch="work").output == {"happened": False}
    git(origin, "update-ref", "refs/heads/work", "main")
    assert probe(shop, "k", branch="work").output == {"happened": None}
    again = shop.outcome("git.push", "k", branch="work", approved=frozenset({asked.approval.digest}))
    assert again.failure.detail["code"] == "PRD5204"


@pytest.mark.parametrize("to", ["work", "older"])
def test_it_is_taken_back_by_lease_after_a_person_agreed_again(to, shop, origin):
    before = at(origin, to)
    pushed = shop.agreed("git.push", branch="work", to=to).output
    asked = shop.undo("git.push", pushed, branch="work", to=to)
    assert asked.approval is not None
    assert at(origin, to) == shop.commit
    agreed = frozenset({asked.approval.digest})
    for _ in range(2):
        assert shop.undo("git.push", pushed, branch="work", to=to, approved=agreed).failure is None
        assert at(origin, to) == before
    git(origin, "update-ref", f"refs/heads/{to}", git(origin, "commit-tree", "-m", "theirs", "main^{tree}"))
    assert shop.undo("git.push", pushed, branch="work", to=to, approved=agreed).failure.detail["code"] == "PRD5204"


def test_commits_of_others_are_replaced_only_on_demand(shop, origin):
    theirs = git(origin, "commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    git(origin, "update-ref", "refs/heads/work", theirs)
    failure = shop.fail("git.push", branch="work")
    assert (failure.kind, failure.detail["code"]) == ("unmet", "PRD5207")
    assert shop.agreed("git.push", branch="work", rewrite=True).output["before"] == theirs
    assert at(origin, "work") == shop.commit


def test_a_push_that_the_other_side_refuses_is_told(shop, tmp_path, origin):
    git(tmp_path, "clone", "-q", str(origin), "checked-out")
    shop.git("remote", "add", "files", "../checked-out")
    refused = shop.agreed("git.push", branch="work", remote="files", to="main")
    assert refused.failure.kind == "unmet"
    assert "checked out" in refused.failure.message


def test_hooks_and_settings_of_the_other_side_are_neither_run_nor_gone_around(shop, origin):
    hook = origin / "hooks/update"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    failure = shop.fail("git.push", branch="work")
    assert failure.detail["code"] == "PRD5207"
    assert "update" in failure.message
    hook.unlink()
    git(origin, "config", "core.hooksPath", "elsewhere")
    assert "core.hookspath" in shop.fail("git.push", branch="work").message


def test_a_remote_that_is_not_there_is_told_with_those_that_are(shop, origin):
    assert "origin" in shop.fail("git.push", branch="work", remote="orign").message

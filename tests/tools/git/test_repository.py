"""Opening a repository: what it may have in it, what a person agrees to, and what is refused."""

import pytest
from git_shop import Shop, git


def test_settings_that_could_run_something_are_agreed_to_once_as_they_are(shop):
    shop.git("config", "alias.st", "!true")
    asked = shop.outcome("git.status")
    assert asked.approval is not None
    for part in ("PRD5201", "alias.st", "!true", ".git/config"):
        assert part in asked.approval.text
    agreed = frozenset({asked.approval.digest})
    assert shop.outcome("git.status", approved=agreed).failure is None
    assert shop.outcome("git.log").approval is None, "the same settings are known"
    shop.git("config", "alias.st", "!false")
    assert shop.outcome("git.status", approved=agreed).approval is not None, "other settings are another question"


@pytest.mark.parametrize("key", ["include.path", "includeIf.gitdir:x.path"])
def test_what_reads_further_files_cannot_be_agreed_to(key, shop):
    shop.git("config", key, "elsewhere")
    failure = shop.fail("git.status")
    assert (failure.kind, failure.detail["code"]) == ("denied", "PRD5201")
    assert failure.detail["file"].endswith(".git/config")
    assert failure.detail["key"].startswith("include")


def test_settings_that_nobody_can_read_are_refused(shop):
    with (shop.root / ".git/config").open("a") as file:
        file.write("[broken\n")
    assert shop.fail("git.status").detail["code"] == "PRD5201"


@pytest.mark.parametrize(
    "key",
    [
        "user.name",
        "remote.origin.url",
        "branch.main.merge",
        "core.autocrlf",
        "core.hooksPath",
        "core.fsmonitor",
        "pull.rebase",
        "color.ui",
    ],
)
def test_settings_that_everybody_has_are_no_question(key, shop):
    shop.git("config", key, "false")
    assert shop.do("git.status")["clean"]


@pytest.mark.parametrize(
    "key", ["http.proxy", "core.worktree", "remote.origin.promisor", "extensions.partialClone", "something.new"]
)
def test_settings_that_are_not_known_to_be_harmless_are_a_question(key, shop):
    git(shop.root, "config", "--file", ".git/config", key, "x")
    assert shop.outcome("git.status").approval is not None


def test_objects_from_elsewhere_are_a_question(shop, tmp_path):
    (shop.root / ".git/objects/info").mkdir(exist_ok=True)
    (shop.root / ".git/objects/info/alternates").write_text(f"{tmp_path}/other/objects\n")
    assert "alternates" in shop.outcome("git.log").approval.text


def test_a_replaced_commit_is_shown_as_it_was(shop):
    head = shop.git("rev-parse", "HEAD")
    shop.git("replace", "HEAD", "older")
    (shop.root / ".git/info/grafts").write_text(f"{head}\n")
    assert [each["subject"] for each in shop.do("git.log")] == ["Change a", "Begin"]


def test_a_linked_worktree_is_a_workspace(tmp_path):
    shop = Shop(tmp_path)
    shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    shop.performer = Shop.performer_for(tmp_path / "linked", shop.state)
    (tmp_path / "linked/one.txt").write_text("1")
    assert shop.do("git.commit", message="Linked")["count"] == 1
    (tmp_path / "linked/.git").write_text(f"gitdir: {tmp_path}/shop/.git\n")
    assert shop.fail("git.status").detail["code"] == "PRD5202"


@pytest.mark.parametrize(
    "text", ["", "gitdir: ", "gitdir: /", "gitdir: x\0y", "gitdir: a\nb", "nonsense", "gitdir: " + "x" * 5000]
)
def test_a_file_that_leads_nowhere_is_refused(text, shop):
    (shop.root / ".git").rename(shop.root / "aside")
    (shop.root / ".git").write_text(text)
    assert shop.fail("git.status").detail["code"] == "PRD5202"


@pytest.mark.parametrize("name", ["HEAD", "config", "objects", "refs/heads", "index"])
def test_links_where_git_makes_none_are_refused(name, shop):
    path = shop.root / ".git" / name
    path.rename(shop.root.parent / "moved")
    path.symlink_to(shop.root.parent / "moved")
    failure = shop.fail("git.status")
    assert (failure.kind, failure.detail["code"]) == ("denied", "PRD5202")


def test_what_belongs_to_another_user_is_refused(shop, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    assert "another user" in shop.fail("git.status").message


def test_where_there_is_no_repository_that_is_said(shop):
    (shop.root / ".git").rename(shop.root / "aside")
    assert shop.fail("git.status").detail["code"] == "PRD5205"


def test_a_revision_that_is_not_there_is_told_with_those_that_are(shop):
    failure = shop.fail("git.show", commit="oldr")
    assert failure.detail["code"] == "PRD5205"
    assert "older" in failure.message

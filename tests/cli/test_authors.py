"""Commits are written by the user, as git names them, and put there by Perdure; no setting starts or includes anything."""

import asyncio

import pytest
from code_tasks import script
from git_shop import git
from repositories import project
from traps import arm

from perdure.cli.authors import author_of

ADA = "[user]\n\tname = Ada\n\temail = ada@example.com\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def author(**settings):
    return asyncio.run(author_of({key.replace("_", "."): value for key, value in settings.items()}, "none"))


def test_the_repository_counts_before_the_user(home):
    assert author() == ""
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/config").write_text(ADA)
    assert author() == "Ada <ada@example.com>"
    (home / "dotfiles").write_text("[user]\n\tname = Ada L\n")
    (home / ".gitconfig").symlink_to("dotfiles")
    assert author() == "Ada L <ada@example.com>"
    assert author(user_email="ada@work.example") == "Ada L <ada@work.example>"
    assert author(user_name="Bob", author_name="Eve", author_email="e@x.org") == "Eve <e@x.org>"


@pytest.mark.parametrize(
    "said", ["[user]\nname = Ada\n", "[user\n", f"{ADA}name = <>\n", '[user]\nname = "a\\nb"\nemail = a\n']
)
def test_who_is_not_named_well_is_nobody(home, said):
    (home / ".gitconfig").write_text(said)
    assert author() == ""


def test_nothing_is_included_and_nothing_runs(home):
    trap = arm(home / "program", home / "mark")
    (home / "more").write_text("[user]\nname = Eve\n")
    (home / ".gitconfig").write_text(
        f"{ADA}[include]\npath = {home}/more\n[core]\nfsmonitor = {trap}\npager = {trap}\n"
    )
    assert author() == "Ada <ada@example.com>"
    assert not (home / "mark").exists()


def test_e22_commits_are_written_by_the_user_and_put_there_by_perdure(place):
    root = project(place.path / "calc")
    (place.path / ".gitconfig").write_text(ADA)
    model = script(place.path / "answers.json")
    words = ("--repo", root, "--template", "linear", "--model", model, "--yes", "--test", "", "--branch", "work")
    place.do("code", "Multiply two numbers", *words)
    assert git(root, "log", "-1", "--format=%an <%ae>, %cn <%ce>", "work") == (
        "Ada <ada@example.com>, Perdure <perdure@localhost>"
    )

"""Copies of commits: raw, whole, and the repository is only read."""

import asyncio
import itertools
import os
import shutil
import stat

import pytest
from git_shop import Shop, files_of, git
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.tools.branches import copying
from perdure.tools.failure import ToolFailure
from perdure.tools.git.unpacking import Entry, Unpacking

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"


def everything_in(place):
    """Every byte and time below a directory."""
    return {
        str(each): (each.lstat().st_mtime_ns, each.read_bytes() if each.is_file() and not each.is_symlink() else b"")
        for each in sorted(place.rglob("*"))
    }


def tree_of(shop, rows):
    """A tree with exactly these rows (mode, name, bytes or an id), whatever git thinks of them."""
    data = b""
    for mode, name, what in rows:
        found = what if isinstance(what, str) else git(shop.root, "hash-object", "-w", "--stdin", given=what)
        data += mode.encode() + b" " + name + b"\0" + bytes.fromhex(found)
    return git(shop.root, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", given=data)


def commit_of(shop, rows):
    return git(shop.root, "commit-tree", "-p", "HEAD", "-m", "Odd", tree_of(shop, rows))


def left(shop):
    """What is in the place of branches."""
    home = shop.state / "branches"
    return sorted(each.name for each in home.iterdir() if each.is_dir()) if home.is_dir() else []


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_a_copy_has_the_bytes_of_the_commit_and_the_repository_is_only_read(tmp_path, tier):
    shop = Shop(tmp_path, tier)
    shop.git("config", "core.autocrlf", "true")
    shop.git("config", "core.safecrlf", "false")
    shop.write(".gitattributes", "*.bat text eol=crlf\n*.bin filter=lfs\n*.u16 working-tree-encoding=UTF-16\n")
    shop.write("run.sh", "#!/bin/sh\n")
    (shop.root / "run.sh").chmod(0o755)
    (shop.root / "out").symlink_to("/etc/passwd")
    shop.git("add", ".")
    raw = {"a.bat": b"one\ntwo\n", "crlf.txt": b"one\r\ntwo\r\n", "big.bin": POINTER, "x.u16": b"\xc3\xbc\n"}
    for name, data in raw.items():
        found = shop.git("hash-object", "-w", "--stdin", "--no-filters", given=data)
        shop.git("update-index", "--add", "--cacheinfo", f"100644,{found},{name}")
    shop.git("commit", "-qm", "Odd ones")
    shop.git("reset", "-q", "--hard")
    shop.write("src/a.py", "dirty\n")
    shop.write("untracked.txt", "x\n")
    before, theirs = everything_in(shop.root), shop.theirs()
    output = shop.open(commit="main")
    assert everything_in(shop.root) == before
    assert shop.theirs() == theirs
    found = files_of(shop.copy(output["branch"]))
    assert {name: found[name][1] for name in raw} == raw
    assert {name: stat.S_IMODE(mode) for name, (mode, _) in found.items() if name in ("run.sh", "a.bat")} == {
        "run.sh": 0o755, "a.bat": 0o644,
    }  # fmt: skip
    assert (shop.copy(output["branch"]) / "out").readlink().as_posix() == "/etc/passwd"
    assert found["src/a.py"][1] == b"a = 2\n"
    assert set(found) == set(shop.git("ls-tree", "-r", "--name-only", "HEAD").splitlines())
    assert output["commit"] == shop.git("rev-parse", "HEAD")
    assert (output["files"], "left_out" in output) == (len(found) - 1, False)


def test_what_cannot_be_in_a_copy_is_left_out_and_told(shop):
    inner = tree_of(shop, [("100644", b"config", b"[core]\n")])
    rows = [
        ("40000", b".git", inner),
        ("100644", b".perdure-x", b"x"),
        ("100644", b"bad\xff", b"x"),
        ("100644", b"good", b"x"),
        ("120000", b"nowhere", b""),
        ("120000", b"null", b"a\0b"),
        ("160000", b"sub", shop.git("rev-parse", "HEAD")),
        ("100644", b"two\nlines", b"x"),
    ]
    output = shop.open(commit=commit_of(shop, rows))
    assert [each.name for each in shop.copy(output["branch"]).iterdir()] == ["good"]
    assert {each["path"]: each["why"].split()[-1] for each in output["left_out"]} == {
        ".git/config": "own", ".perdure-x": "plainly", "bad\\xff": "plainly", "nowhere": "should", "null": "should",
        "sub": "submodule", "two\nlines": "plainly",
    }  # fmt: skip


@pytest.mark.parametrize("name", [b"..", b".", b"", b"a/../../b", b"/etc"])
def test_names_that_climb_are_not_followed(name, shop):
    rows = [("100644", name, b"stolen"), ("100644", b"good", b"x")]
    before = sorted(each for each in shop.state.parent.rglob("*") if "branches" not in each.parts)
    commit = commit_of(shop, rows)
    outcome = shop.inside("branch.open", commit=commit)
    after = sorted(each for each in shop.state.parent.rglob("*") if "branches" not in each.parts)
    assert [each for each in after if each not in before and ".git" not in each.parts and "git" not in each.parts] == []
    if outcome.failure is None:
        assert [each.name for each in shop.copy(outcome.output["branch"]).iterdir()] == ["good"]


def test_a_link_and_a_directory_of_one_name_lead_nowhere(shop, tmp_path):
    (tmp_path / "outside").mkdir()
    inner = tree_of(shop, [("100644", b"file", b"stolen")])
    rows = [("120000", b"a", str(tmp_path / "outside").encode()), ("40000", b"a", inner)]
    failure = shop.inside("branch.open", commit=commit_of(shop, rows)).failure
    assert (failure.kind, "two things under one name" in failure.message) == ("invalid", True)
    assert not list((tmp_path / "outside").iterdir())
    assert left(shop) == []


# ------------------------------------------------------------------------------- repositories of all kinds


def test_a_commit_without_files_is_an_empty_copy(shop):
    empty = git(shop.root, "mktree")
    output = shop.open(commit=shop.git("commit-tree", "-m", "Nothing", empty))
    assert (output["files"], list(shop.copy(output["branch"]).iterdir())) == (0, [])


def test_a_repository_with_long_ids(tmp_path):
    shop = Shop(tmp_path)
    shutil.rmtree(shop.root / ".git")
    shop.git("init", "-q", "-b", "main", "--object-format=sha256")
    shop.git("add", ".")
    shop.git("commit", "-qm", "Begin")
    output = shop.open(commit="HEAD")
    assert len(output["commit"]) == 64
    (shop.copy(output["branch"]) / "README.md").write_text("# new\n")
    made = shop.do("git.commit", message="Change", copy=output["branch"])
    assert shop.git("show", f"{made['commit']}:README.md") == "# new"


def test_a_shallow_clone_and_a_linked_worktree_have_their_commits(shop, tmp_path):
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{shop.root}", "shallow")
    shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "older")
    for name, text in {"shallow": "a = 2\n", "linked": "a = 1\n"}.items():
        shop.root, shop.state = tmp_path / name, tmp_path / f"{name}-state"
        shop.state.mkdir()
        shop.performer = shop.performer_for(shop.root, shop.state)
        output = shop.open(commit="HEAD")
        assert (shop.copy(output["branch"]) / "src/a.py").read_text() == text


def test_objects_from_elsewhere_are_for_a_person_to_agree_to(shop, tmp_path):
    git(tmp_path, "clone", "-q", "--shared", str(shop.root), "borrowing")
    shop.performer = shop.performer_for(tmp_path / "borrowing", shop.state)
    outcome = shop.inside("branch.open", commit="HEAD", key="k")
    assert "alternates" in outcome.approval.text
    assert left(shop) == []


def test_a_commit_that_is_not_all_here_is_told(shop):
    found = shop.git("rev-parse", "HEAD:src/a.py")
    (shop.root / ".git/objects" / found[:2] / found[2:]).unlink()
    failure = shop.inside("branch.open", commit="HEAD").failure
    assert (failure.kind, "not all of the commit is in this repository" in failure.message) == ("unavailable", True)
    assert left(shop) == []


# ------------------------------------------------------------------------------- what is refused


def test_what_is_not_there_is_told_in_a_sentence(shop, tmp_path):
    failure = shop.inside("branch.open", commit="nosuch").failure
    assert (failure.kind, failure.detail["code"]) == ("invalid", "PRD5205")
    assert 'there is no commit "nosuch"; there are: main, older' in failure.message
    assert shop.inside("branch.open", commit="-x").failure.detail["code"] == "PRD5203"
    both = shop.inside("branch.open", commit="HEAD", origin="x").failure
    assert "write `origin` or `commit`, not both" in both.message
    (tmp_path / "bare").mkdir()
    shop.performer = shop.performer_for(tmp_path / "bare", shop.state)
    failure = shop.inside("branch.open", commit="HEAD").failure
    assert (failure.kind, "there is no repository" in failure.message) == ("invalid", True)
    assert left(shop) == []


def test_in_another_branch_there_is_no_repository_and_the_copy_is_copied(shop):
    shop.open("work", commit="older")
    failure = shop.inside("branch.open", "work", "inner", commit="HEAD").failure
    assert (failure.kind, "leave `commit` out" in failure.message) == ("invalid", True)
    inner = shop.open("work", "inner")
    assert "commit" not in inner
    [found] = (shop.state / "branches").glob(f"*/state/branches/{inner['branch']}/workspace/src/a.py")
    assert found.read_text() == "a = 1\n"


@pytest.mark.parametrize(("word", "most"), [("MOST_FILES", 4), ("MOST_BYTES", 20)])
def test_a_commit_that_is_too_large_is_refused_with_a_reason(shop, monkeypatch, word, most):
    monkeypatch.setattr(copying, word, most)
    failure = shop.inside("branch.open", commit="HEAD").failure
    assert (failure.kind, "the commit is too large for a branch" in failure.message) == ("invalid", True)
    assert left(shop) == []


def test_where_there_is_no_room_it_is_refused(shop, monkeypatch):
    monkeypatch.setattr(copying, "SPARE", 1 << 60)
    assert shop.inside("branch.open", commit="HEAD").failure.kind == "unavailable"
    assert left(shop) == []


# ------------------------------------------------------------------------------- again, and back


def test_under_its_key_it_is_one_copy_wherever_the_branch_has_moved_to(shop):
    first = shop.open(commit="main", key="k")
    shop.git("commit", "-q", "--allow-empty", "-m", "Further")
    assert shop.open(commit="main", key="k") == first
    failure = shop.inside("branch.open", commit="main", key="other").failure
    assert "a group has one, opened once" in failure.message


def test_undoing_it_takes_the_copy_away(shop):
    shop.open(commit="main", key="k")
    made = shop.attempt("branch.open", "k", by="undo", deed="undo", contained=("work",), arguments={"commit": "main"})
    assert asyncio.run(shop.performer.perform(made)).failure is None
    assert left(shop) == []


# ------------------------------------------------------------------------------- in pieces


class Calm:
    """A call that nobody stops."""

    def raise_if_cancelled(self):
        pass


class Stopped:
    def raise_if_cancelled(self):
        raise ToolFailure("cancelled", "it was asked to stop")


FILES = {"a": b"one\n", "b/c": b"", "b/d": b"\n\n", "e": bytes(range(256)) * 20}


def said(files=FILES):
    entries = [Entry(path, "100644", f"{n:040}", len(data)) for n, (path, data) in enumerate(files.items())]
    told = b"".join(
        f"{each.id} blob {each.size}\n".encode() + data + b"\n"
        for each, data in zip(entries, files.values(), strict=True)
    )
    return entries, told


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 5_200), max_size=30))
def test_however_what_git_says_is_cut_into_pieces_the_files_are_the_same(tmp_path_factory, cuts):
    entries, told = said()
    place = tmp_path_factory.mktemp("pieces") / "to"
    unpacking = Unpacking(Calm(), place, entries)
    ends = [0, *sorted({each for each in cuts if each < len(told)}), len(told)]
    assert all(unpacking.hear(told[a:b]) for a, b in itertools.pairwise(ends))
    base = unpacking.finished()
    assert {path: (place / path).read_bytes() for path in FILES} == FILES
    assert {path for path, image in base.items() if image.kind == "file"} == set(FILES)


@pytest.mark.parametrize("cut", [0, 1, 30, 60, 200])
def test_what_was_not_told_to_its_end_is_no_copy(tmp_path, cut):
    entries, told = said()
    unpacking = Unpacking(Calm(), tmp_path / "to", entries)
    unpacking.hear(told[: len(told) - cut - 1])
    with pytest.raises(ToolFailure, match="git ended before"):
        unpacking.finished()


def test_who_stops_it_is_heard_and_git_is_ended(tmp_path):
    entries, told = said()
    unpacking = Unpacking(Stopped(), tmp_path / "to", entries)
    assert unpacking.hear(told) is False
    with pytest.raises(ToolFailure, match="asked to stop"):
        unpacking.finished()


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_a_full_disk_is_told_and_nothing_is_left(tmp_path, tier, monkeypatch):
    shop = Shop(tmp_path, tier)
    shop.write("large", os.urandom(3_000_000))
    shop.git("add", ".")
    shop.git("commit", "-qm", "Large")

    def full(file, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("perdure.tools.git.unpacking.write_all", full)
    failure = shop.inside("branch.open", commit="HEAD").failure
    assert (failure.kind, "No space left" in failure.message) == ("unavailable", True)
    assert left(shop) == []

"""Commits of copies: what was changed there since the commit it was opened from, and nothing of the user's."""

import pytest
from git_shop import Shop, files_of, git

from perdure.core.policy import Layer, Terms
from perdure.tools.branches import copying


@pytest.fixture
def opened(shop):
    """A copy of the commit before the last one, and a workspace in which somebody is at work."""
    shop.write("src/a.py", "dirty\n")
    shop.write("untracked.txt", "x\n")
    shop.git("add", "src/a.py")
    shop.branch = shop.open(commit="older")["branch"]
    shop.place = shop.copy(shop.branch)
    return shop


def write(shop, name, text):
    path = shop.place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def commit(shop, message="Change", **more):
    return shop.do("git.commit", message=message, copy=shop.branch, **more)


def refused(shop, **more):
    before = shop.theirs()
    failure = shop.fail("git.commit", message="Change", **{"copy": shop.branch, **more})
    assert shop.theirs() == before
    return failure


def tree_of(shop, name):
    """What a fresh checkout of a commit has in it."""
    place = shop.root.parent / f"checkout-{name[:8]}"
    git(shop.root, "worktree", "add", "-q", "--detach", str(place), name)
    found = files_of(place)
    git(shop.root, "worktree", "remove", "--force", str(place))
    return {name: found[name] for name in found if name != ".git"}


def changed(output):
    return {each["path"]: each["change"] for each in output["files"]}


def test_a_path_that_is_nowhere_is_passed_over_where_that_is_wanted(opened):
    write(opened, "new.txt", "changed\n")
    write(opened, "other.txt", "changed\n")
    assert refused(opened, paths=["new.txt", "nothing/here"]).kind == "invalid"
    assert list(changed(commit(opened, paths=["new.txt", "nothing/here"], absent=True))) == ["new.txt"]
    assert commit(opened, paths=["nothing/here"], absent=True)["count"] == 0


# ------------------------------------------------------------------------------- which bytes


@pytest.mark.parametrize("tier", ["none", "bwrap"])
def test_what_was_changed_on_the_copy_is_committed_byte_for_byte_and_nothing_else(tmp_path, tier):
    shop = Shop(tmp_path, tier)
    shop.write("src/a.py", "dirty\n")
    shop.write(".gitattributes", "* text=auto eol=lf\n")
    shop.branch = shop.open(commit="older")["branch"]
    shop.place = shop.copy(shop.branch)
    write(shop, "src/a.py", b"a = 3\r\nb\x00\xff\n")
    write(shop, "deep/er/ü.txt", "new\r\n")
    (shop.place / "src/b.py").unlink()
    (shop.place / "README.md").chmod(0o755)
    (shop.place / "link").symlink_to("/etc/passwd")
    before = shop.theirs()
    output = commit(shop)
    assert tree_of(shop, output["commit"]) == files_of(shop.place)
    assert changed(output) == {
        "README.md": "modified", "deep/er/ü.txt": "added", "link": "added", "src/a.py": "modified", "src/b.py": "deleted",
    }  # fmt: skip
    after = shop.theirs()
    assert {key for key in after if after[key] != before[key]} == {"refs"}
    assert shop.git("rev-parse", f"{output['commit']}^") == shop.git("rev-parse", "older"), "not what is checked out"


def test_a_copy_that_is_as_it_was_makes_no_commit(opened):
    (opened.place / "src/a.py").chmod(0o600)
    (opened.place / "empty").mkdir()
    output = commit(opened)
    assert (output["files"], output["after"]) == ([], None)
    assert "perdure" not in opened.refs()


def test_a_file_becomes_a_directory_and_the_other_way_round(opened):
    (opened.place / "src/a.py").unlink()
    write(opened, "src/a.py/inner.txt", "x\n")
    assert tree_of(opened, commit(opened)["commit"]) == files_of(opened.place)
    (opened.place / "src/a.py/inner.txt").unlink()
    (opened.place / "src/a.py").rmdir()
    write(opened, "src/a.py", "a = 1\n")
    assert tree_of(opened, commit(opened)["commit"]) == files_of(opened.place)


def test_what_git_ignores_stays_out_unless_it_was_tracked(shop):
    shop.write("kept.log", "1\n")
    shop.git("add", "-f", "kept.log")
    shop.git("commit", "-qm", "Keep a log")
    shop.branch = shop.open(commit="HEAD")["branch"]
    shop.place = shop.copy(shop.branch)
    write(shop, "kept.log", "2\n")
    write(shop, "noise.log", "x\n")
    write(shop, ".gitignore", "*.log\n*.pyc\n")
    write(shop, "src/a.pyc", "x\n")
    write(shop, "src/new.py", "x\n")
    assert changed(commit(shop)) == {"kept.log": "modified", ".gitignore": "modified", "src/new.py": "added"}


def test_however_much_is_ignored_it_is_not_looked_at(opened, monkeypatch):
    """As of packages that were installed there."""
    write(opened, ".gitignore", "node_modules/\n")
    for n in range(30):
        write(opened, f"node_modules/{n}.js", "x\n")
    write(opened, "new.txt", "x\n")
    monkeypatch.setattr(copying, "MOST_FILES", 20)
    assert changed(commit(opened)) == {".gitignore": "modified", "new.txt": "added"}


def test_what_a_commit_would_hold_is_told_and_what_git_ignores(shop):
    shop.write("kept.log", "1\n")
    shop.git("add", "-f", "kept.log")
    shop.git("commit", "-qm", "Keep a log")
    shop.branch = shop.open(commit="HEAD")["branch"]
    shop.place = shop.copy(shop.branch)
    before = shop.theirs()
    assert shop.do("git.status", copy=shop.branch)["clean"] is True
    write(shop, ".gitignore", "*.log\nbuild/\n")
    write(shop, "kept.log", "2\n")
    write(shop, "noise.log", "x\n")
    write(shop, "build/deep/a.o", "x\n")
    (shop.place / "src/b.py").unlink()
    write(shop, "src/new.py", "x\n")
    found = shop.do("git.status", copy=shop.branch)
    assert (found["clean"], found["ignored"]) == (False, ["build", "noise.log"])
    assert {each["path"]: each["state"] for each in found["files"]} == {
        ".gitignore": "modified", "kept.log": "modified", "src/b.py": "deleted", "src/new.py": "untracked",
        "build": "ignored", "noise.log": "ignored",
    }  # fmt: skip
    assert shop.theirs() == before


def test_a_name_that_git_passes_over_is_refused_and_not_left_out(opened):
    write(opened, "git~1/config", "x\n")
    write(opened, "new.txt", "x\n")
    assert "'git~1/config'" in refused(opened).message


def test_what_lies_behind_a_link_is_not_read(opened, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.py").write_text("secret\n")
    for name in ("a.py", "b.py"):
        (opened.place / "src" / name).unlink()
    (opened.place / "src").rmdir()
    (opened.place / "src").symlink_to(tmp_path / "outside")
    output = commit(opened)
    assert changed(output) == {"src": "added", "src/a.py": "deleted", "src/b.py": "deleted"}
    assert "secret" not in opened.git("show", output["commit"])


def test_a_new_name_that_cannot_be_judged_is_named(opened):
    (opened.place / "two\nlines.txt").write_text("x")
    assert r"'two\nlines.txt' is too long, or holds control characters" in refused(opened).message


def test_paths_are_files_directories_or_patterns(opened):
    for name in ("src/a.py", "src/deep/c.py", "notes.txt"):
        write(opened, name, "changed\n")
    (opened.place / "README.md").unlink()
    assert list(changed(commit(opened, paths=["src/*.py"]))) == ["src/a.py"]
    assert list(changed(commit(opened, paths=["README.md", "src"]))) == ["README.md", "src/deep/c.py"]
    assert list(changed(commit(opened))) == ["notes.txt"]
    failure = refused(opened, paths=["src/a.pi"])
    assert (failure.kind, 'did you mean "src/a.py"?' in failure.message) == ("invalid", True)


# ------------------------------------------------------------------------------- one after the other


def test_commits_of_one_copy_follow_each_other_and_what_was_given_up_goes_back(opened):
    write(opened, "src/a.py", "a = 9\n")
    write(opened, "new.txt", "x\n")
    (opened.place / "README.md").unlink()
    one = commit(opened, "One")
    write(opened, "src/a.py", "a = 1\n")
    write(opened, "README.md", "# shop\n")
    (opened.place / "new.txt").unlink()
    write(opened, "other.txt", "y\n")
    two = commit(opened, "Two")
    assert two["before"] == one["commit"]
    assert changed(two) == {"README.md": "added", "new.txt": "deleted", "other.txt": "added", "src/a.py": "modified"}
    assert tree_of(opened, two["commit"]) == files_of(opened.place)


def test_a_branch_that_somebody_has_moved_is_not_built_upon_unless_it_is_expected(opened):
    write(opened, "src/a.py", "a = 9\n")
    one = commit(opened, branch="topic")
    tree = opened.git("rev-parse", "main^{tree}")
    theirs = opened.git("commit-tree", "-p", one["commit"], "-m", "Theirs", tree)
    opened.git("update-ref", "refs/heads/topic", theirs)
    write(opened, "src/b.py", "b = 9\n")
    failure = refused(opened, branch="topic")
    assert (failure.kind, failure.detail["code"]) == ("unmet", "PRD5204")
    assert "not what this copy began with" in failure.message
    two = commit(opened, branch="topic", expect="topic", paths=["src/b.py"])
    assert changed(two) == {"src/b.py": "modified"}, "what they have made of other files stays"
    assert two["before"] == theirs


def test_what_others_have_changed_is_not_taken_back_for_being_unchanged_here(opened):
    opened.git("branch", "topic", "main")
    write(opened, "src/b.py", "b = 9\n")
    one = commit(opened, branch="topic", expect="topic")
    assert changed(one) == {"src/b.py": "modified"}
    assert opened.git("show", f"{one['commit']}:src/a.py") == "a = 2", "theirs, and not that of the copy"
    write(opened, "src/b.py", "b = 1\n")
    assert changed(commit(opened, branch="topic")) == {"src/b.py": "modified"}
    assert opened.git("show", "topic:src/a.py") == "a = 2"


def test_two_copies_have_not_seen_each_others_commits(opened):
    write(opened, "new.txt", "x\n")
    commit(opened, branch="topic")
    other = opened.open("elsewhere", commit="older")["branch"]
    (opened.copy(other) / "other.txt").write_text("y\n")
    assert refused(opened, copy=other, branch="topic").detail["code"] == "PRD5204"


def test_a_branch_that_goes_on_from_a_copy_is_committed_with_all_that_led_to_it(opened):
    write(opened, "one.txt", "1\n")
    further = opened.open("further", origin=opened.branch)
    assert further["commit"] == opened.git("rev-parse", "older")
    (opened.copy(further["branch"]) / "two.txt").write_text("2\n")
    output = opened.do("git.commit", message="Both", copy=further["branch"])
    assert changed(output) == {"one.txt": "added", "two.txt": "added"}


def test_under_its_key_it_is_one_commit(opened):
    write(opened, "new.txt", "x\n")
    first = commit(opened, key="k")
    write(opened, "new.txt", "later\n")
    assert commit(opened, key="k") == first


# ------------------------------------------------------------------------------- and back


def test_undoing_it_moves_the_branch_back_also_when_the_copy_is_gone(opened):
    before = opened.refs()
    write(opened, "one.txt", "1\n")
    one = commit(opened, "One", key="one")
    write(opened, "two.txt", "2\n")
    two = commit(opened, "Two", key="two")
    assert opened.undo("git.commit", two, "two", copy=opened.branch, message="Two").failure is None
    assert opened.git("rev-parse", one["ref"]) == one["commit"]
    again = commit(opened, "Two again", key="again")
    assert (again["before"], changed(again)) == (one["commit"], {"two.txt": "added"})
    assert opened.do("branch.close", branch=opened.branch)["closed"] is True
    for key, output in {"again": again, "one": one}.items():
        assert opened.undo("git.commit", output, key, copy=opened.branch, message="M").failure is None
    assert opened.refs() == before


# ------------------------------------------------------------------------------- what is refused


def test_what_cannot_be_committed_is_told_in_a_sentence(opened):
    write(opened, "new.txt", "x\n")
    assert "`worktree` or `copy`, not both" in refused(opened, worktree="perdure-x").message
    assert "there is no branch" in refused(opened, copy="nosuch").message
    assert "there is no branch" in refused(opened, copy="../../etc").message
    plain = opened.open("plain")["branch"]
    failure = refused(opened, copy=plain)
    assert (failure.kind, "is no copy of a commit" in failure.message) == ("invalid", True)
    assert refused(opened, branch="main").detail["code"] == "PRD5206", "it is checked out"
    opened.run = "r_2"
    assert "there is no branch" in refused(opened).message


def test_inside_the_group_git_stays_refused(opened):
    failure = opened.inside("git.commit", message="M", copy=opened.branch).failure
    assert failure.kind == "denied"


@pytest.mark.parametrize("name", ["sub", "sub/file.py"])
def test_what_stands_in_the_place_of_a_submodule_does_not_take_it_away(name, shop):
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{shop.git('rev-parse', 'HEAD')},sub")
    shop.git("commit", "-qm", "A submodule")
    shop.branch = shop.open(commit="HEAD")["branch"]
    shop.place = shop.copy(shop.branch)
    write(shop, "new.txt", "x\n")
    assert changed(commit(shop)) == {"new.txt": "added"}
    assert "160000" in shop.git("ls-tree", "perdure/r_1")
    write(shop, name, "x\n")
    failure = refused(shop)
    assert (failure.kind, "sub is a submodule" in failure.message) == ("unmet", True)


def test_what_a_filter_keeps_elsewhere_is_refused_and_may_be_removed(shop):
    shop.write(".gitattributes", "*.bin filter=lfs\n*.u16 working-tree-encoding=UTF-16\n")
    for name in ("old.bin", "x.u16"):
        found = shop.git("hash-object", "-w", "--stdin", "--no-filters", given=b"raw\n")
        shop.git("update-index", "--add", "--cacheinfo", f"100644,{found},{name}")
    shop.git("add", ".gitattributes")
    shop.git("commit", "-qm", "Attributes")
    shop.branch = shop.open(commit="HEAD")["branch"]
    shop.place = shop.copy(shop.branch)
    (shop.place / "old.bin").unlink()
    write(shop, "x.u16", "as git keeps it\n")
    assert changed(commit(shop)) == {"old.bin": "deleted", "x.u16": "modified"}
    write(shop, "new.bin", "x\n")
    assert refused(shop).detail["code"] == "PRD5201"


# ------------------------------------------------------------------------------- rules


def test_files_and_branches_are_judged_and_the_difference_is_shown(opened):
    write(opened, "src/a.py", "a = 'secret'\n")
    denied = Layer("test", files_read=Terms(deny=("src/**",)))
    assert opened.outcome("git.commit", message="M", copy=opened.branch, layers=(denied,)).failure.kind == "denied"
    ref = Layer("test", resources=Terms(deny=("git:refs/heads/perdure/**",)))
    assert opened.outcome("git.commit", message="M", copy=opened.branch, layers=(ref,)).failure.kind == "denied"
    asks = Layer("test", resources=Terms(ask=("git:refs/heads/**",)))
    outcome = opened.outcome("git.commit", "k", message="M", copy=opened.branch, layers=(asks,))
    assert "+a = 'secret'" in outcome.approval.text
    assert "perdure" not in opened.refs()

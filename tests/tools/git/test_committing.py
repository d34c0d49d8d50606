"""E18: Commits: which bytes, on which branch, and never by way of what is the user's."""

import os
import stat

import pytest
from git_shop import Shop, files_of, git

from perdure.core.policy import Layer, Terms


def tree_of(shop, commit):
    """What a fresh checkout of a commit has in it."""
    place = shop.root.parent / f"checkout-{commit[:8]}"
    git(shop.root, "worktree", "add", "-q", "--detach", str(place), commit)
    found = files_of(place)
    git(shop.root, "worktree", "remove", "--force", str(place))
    return {name: found[name] for name in found if name != ".git"}


def visible(shop):
    """What is in the working tree and not ignored."""
    return {name: file for name, file in files_of(shop.root).items() if not name.endswith(".log")}


def test_everything_that_changed_is_committed_byte_for_byte(shop):
    shop.write("src/a.py", b"a = 3\r\nb\x00\xff\n")
    shop.write("deep/er/ü.txt", "new\n")
    shop.write("noise.log", "ignored\n")
    (shop.root / "src/b.py").unlink()
    (shop.root / "README.md").chmod(0o755)
    (shop.root / "link").symlink_to("/etc/passwd")
    before = shop.theirs()
    output = shop.do("git.commit", message="Change much")
    assert tree_of(shop, output["commit"]) == visible(shop)
    assert {each["path"]: each["change"] for each in output["files"]} == {
        "README.md": "modified", "deep/er/ü.txt": "added", "link": "added", "src/a.py": "modified", "src/b.py": "deleted",
    }  # fmt: skip
    after = shop.theirs()
    assert {key for key in after if after[key] != before[key]} == {"refs"}
    assert output["ref"] == "refs/heads/perdure/r_1"
    assert shop.git("rev-parse", f"{output['commit']}^") == shop.git("rev-parse", "HEAD")


def test_what_the_user_has_staged_is_theirs_and_stays_staged(shop):
    shop.write("src/a.py", "a = 'staged'\n")
    shop.write("both.txt", "staged\n")
    shop.git("add", ".")
    shop.write("both.txt", "later\n")
    before = shop.theirs()
    output = shop.do("git.commit", message="b alone", paths=["both.txt"])
    assert [each["path"] for each in output["files"]] == ["both.txt"]
    assert shop.git("show", f"{output['commit']}:both.txt") == "later"
    assert shop.git("show", f"{output['commit']}:src/a.py") == "a = 2"
    assert shop.theirs()["index"] == before["index"]
    whole = shop.do("git.commit", message="all")
    assert shop.git("show", f"{whole['commit']}:src/a.py") == "a = 'staged'"


def test_a_file_becomes_a_directory_and_the_other_way_round(shop):
    (shop.root / "src/a.py").unlink()
    shop.write("src/a.py/inner.txt", "x\n")
    output = shop.do("git.commit", message="To a directory")
    assert tree_of(shop, output["commit"]) == visible(shop)
    (shop.root / "src/a.py/inner.txt").unlink()
    (shop.root / "src/a.py").rmdir()
    shop.write("src/a.py", "back\n")
    for paths in (["src"], None):
        output = shop.do("git.commit", message="And back", paths=paths)
        assert tree_of(shop, output["commit"]) == visible(shop)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["src"], ["src/a.py", "src/deep/c.py", "src/x[1].py"]),
        (["src/"], ["src/a.py", "src/deep/c.py", "src/x[1].py"]),
        (["src/*.py"], ["src/a.py", "src/x[1].py"]),
        (["**/*.py"], ["src/a.py", "src/deep/c.py", "src/x[1].py"]),
        (["src/x[1].py"], ["src/x[1].py"]),
        (["notes.txt", "README.md"], ["README.md", "notes.txt"]),
    ],
)
def test_paths_are_files_directories_or_patterns(paths, expected, shop):
    for name in ("src/a.py", "src/deep/c.py", "src/x[1].py", "notes.txt"):
        shop.write(name, "changed\n")
    (shop.root / "README.md").unlink()
    output = shop.do("git.commit", message="Some", paths=paths)
    assert [each["path"] for each in output["files"]] == expected


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("src/a.pi", 'did you mean "src/a.py"?'),
        ("nothing/here", "write it from the root"),
        (":(exclude)src", "matches no file"),
        ("**/*.rs", "matches no file"),
    ],
)
def test_a_path_that_is_nowhere_is_refused_and_nothing_is_committed(path, word, shop):
    for n in range(10):
        shop.write(f"new-{n}.txt", "changed\n")
    failure = shop.fail("git.commit", message="Some", paths=["new-1.txt", path])
    assert (failure.kind, failure.detail["code"], failure.detail["path"]) == ("invalid", "PRD5205", path)
    assert word in failure.message
    assert "perdure" not in shop.refs()


def test_a_path_that_is_nowhere_is_passed_over_where_that_is_wanted(shop):
    shop.write("new.txt", "changed\n")
    output = shop.do("git.commit", message="Some", paths=["new.txt", "nothing/here", "**/*.rs"], absent=True)
    assert [each["path"] for each in output["files"]] == ["new.txt"]
    output = shop.do("git.commit", message="None", paths=["nothing/here"], absent=True)
    assert (output["count"], output["before"]) == (0, output["after"])


def test_paths_of_what_is_gone_unchanged_or_empty_are_no_mistake(shop):
    shop.git("rm", "-q", "README.md")
    (shop.root / "empty").mkdir()
    output = shop.do("git.commit", message="Some", paths=["README.md", "src/a.py", "empty"])
    assert [each["path"] for each in output["files"]] == ["README.md"]


def test_a_name_that_cannot_be_judged_is_named(shop):
    (shop.root / "two\nlines.txt").write_text("x")
    failure = shop.fail("git.commit", message="All")
    assert r"'two\nlines.txt' is too long, or holds control characters" in failure.message


def test_nothing_changed_is_no_commit(shop):
    output = shop.do("git.commit", message="Nothing")
    assert (output["files"], output["before"], output["after"]) == ([], None, None)
    assert "perdure" not in shop.refs()


def test_the_first_commit_of_a_repository(tmp_path):
    shop = Shop(tmp_path)
    shop.git("checkout", "-q", "--orphan", "fresh")
    shop.git("update-ref", "-d", "refs/heads/fresh")
    output = shop.do("git.commit", message="Begin anew")
    assert shop.git("rev-list", "--count", output["commit"]) == "1"
    assert tree_of(shop, output["commit"]) == visible(shop)


def test_a_commit_goes_on_from_the_last_one_of_this_working_tree(shop):
    shop.write("one.txt", "1")
    one = shop.do("git.commit", message="One")
    shop.write("two.txt", "2")
    (shop.root / "one.txt").unlink()
    two = shop.do("git.commit", message="Two")
    assert two["before"] == one["commit"] == shop.git("rev-parse", f"{two['commit']}^")
    assert tree_of(shop, two["commit"]) == visible(shop)


def test_a_branch_that_others_have_moved_is_not_built_on_unseen(shop):
    shop.write("one.txt", "1")
    shop.do("git.commit", message="One")
    theirs = shop.git("commit-tree", "-p", "perdure/r_1", "-m", "Theirs", "HEAD^{tree}")
    shop.git("update-ref", "refs/heads/perdure/r_1", theirs)
    failure = shop.fail("git.commit", message="Two")
    assert (failure.kind, failure.detail["code"], failure.detail["now"]) == ("unmet", "PRD5204", theirs)
    shop.write("two.txt", "2")
    output = shop.do("git.commit", message="Two", paths=["two.txt"], expect="perdure/r_1")
    assert output["before"] == theirs
    assert shop.fail("git.commit", message="Three", branch="other", expect="main").detail["code"] == "PRD5204"
    assert shop.do("git.commit", message="Three", branch="other", expect="")["before"] is None


@pytest.mark.parametrize("where", ["workspace", "elsewhere"])
def test_a_branch_that_is_checked_out_is_not_moved(where, shop):
    name = "main"
    if where == "elsewhere":
        name = "older"
        shop.git("worktree", "add", "-q", str(shop.root.parent / "elsewhere"), name)
    shop.write("one.txt", "1")
    before = shop.refs()
    failure = shop.fail("git.commit", message="One", branch=name)
    assert (failure.kind, failure.detail["code"]) == ("denied", "PRD5206")
    assert shop.refs() == before


def test_a_branch_that_stands_for_another_is_refused(shop):
    shop.git("symbolic-ref", "refs/heads/alias", "refs/heads/older")
    shop.write("one.txt", "1")
    assert shop.fail("git.commit", message="One", branch="alias").detail["code"] == "PRD5202"


def test_the_same_key_gives_the_same_commit_whatever_has_changed_since(shop):
    shop.write("one.txt", "1")
    first = shop.do("git.commit", key="k", message="One")
    shop.write("one.txt", "2")
    assert shop.do("git.commit", key="k", message="One") == first
    shop.git(
        "update-ref",
        "refs/heads/perdure/r_1",
        shop.git("commit-tree", "-p", first["commit"], "-m", "On", "HEAD^{tree}"),
    )
    assert shop.do("git.commit", key="k", message="One") == first, "somebody went on from it: it was done"


def test_author_and_message_are_written_as_they_are(shop):
    shop.write("one.txt", "1")
    text = "Ünïcode ✓\n\n-m \"quoted\" 'single' $(touch x) `y`\n--author=evil\n# no comment\n"
    output = shop.do("git.commit", message=text, author="Ada Lovelace <ada@example.com>")
    assert (
        shop.git("log", "-1", "--format=%an <%ae>|%cn|%B", output["commit"])
        == f"Ada Lovelace <ada@example.com>|Perdure|{text.strip()}"
    )
    for author in ("nobody", "A\nB <x>", "<a@b>", "A <b> <c>", " . <a@b>"):
        assert shop.fail("git.commit", message="x", branch="y", author=author).detail["code"] == "PRD5203"
    for message in ("", " \n", "a\0b"):
        assert shop.fail("git.commit", message=message, branch="y").kind == "invalid"


def test_undone_means_everything_as_it_was_and_is_refused_if_the_branch_moved(shop):
    before = shop.theirs()
    shop.write("one.txt", "1")
    one = shop.do("git.commit", message="One")
    shop.write("two.txt", "2")
    two = shop.do("git.commit", message="Two")
    refused = shop.undo("git.commit", one, message="One")
    assert (refused.failure.kind, refused.failure.detail["code"]) == ("unmet", "PRD5204")
    for output in (two, one):
        for _ in range(2):
            assert shop.undo("git.commit", output, message="x").failure is None
    (shop.root / "one.txt").unlink()
    (shop.root / "two.txt").unlink()
    assert shop.theirs() == before
    shop.write("one.txt", "again")
    assert shop.do("git.commit", message="After all")["before"] is None


# ------------------------------------------------------------------------------- rules


def layer(**rules):
    return (Layer("user", **rules),)


def test_files_that_may_not_be_read_are_not_committed_and_leave_no_object(shop):
    shop.write(".env", "SECRET=1\n")
    shop.write("one.txt", "1")
    rules = layer(files_read=Terms(deny=(".env",)))
    failure = shop.fail("git.commit", message="All", layers=rules)
    assert failure.kind == "denied"
    blob = shop.git("hash-object", "--stdin", given=b"SECRET=1\n")
    assert shop.git("cat-file", "-t", blob, check=False) == ""
    assert shop.outcome("git.commit", message="One", paths=["one.txt"], layers=rules).failure is None


def test_branches_are_resources_that_rules_name(shop):
    shop.write("one.txt", "1")
    rules = layer(resources=Terms(allow=("git:refs/heads/perdure/*",)))
    assert shop.outcome("git.commit", message="x", branch="release", layers=rules).failure.kind == "denied"
    assert shop.outcome("git.commit", message="x", layers=rules).failure is None
    assert "release" not in shop.refs()


@pytest.mark.parametrize("rules", [layer(effects=Terms(ask=("writes",))), layer(resources=Terms(ask=("git:*",)))])
def test_a_person_agrees_to_the_very_difference(rules, shop):
    shop.write("one.txt", "first\n")
    before = shop.refs()
    asked = shop.outcome("git.commit", "k", message="One", layers=rules)
    assert "+first" in asked.approval.text
    assert shop.refs() == before
    agreed = frozenset({asked.approval.digest})
    shop.write("one.txt", "second\n")
    again = shop.outcome("git.commit", "k", message="One", layers=rules, approved=agreed)
    assert again.approval.digest not in agreed, "the files are not those that were agreed to"
    shop.write("one.txt", "first\n")
    done = shop.outcome("git.commit", "k", message="One", layers=rules, approved=agreed)
    assert shop.git("show", f"{done.output['commit']}:one.txt") == "first"


# ------------------------------------------------------------------------------- odd files


@pytest.mark.parametrize(
    "name",
    ["-rf", "--all", "a b", 'quo"te', "sing'le", "$(x)", "`y`", "*", "[a]", ":(top)x", "ünï", "~", "#", "x" * 255],
)
def test_odd_names_are_names(name, shop):
    shop.write(name, "odd\n")
    output = shop.do("git.commit", message="Odd")
    assert [each["path"] for each in output["files"]] == [name]
    assert tree_of(shop, output["commit"]) == visible(shop)
    assert name in [each["path"] for each in shop.do("git.status")["files"]]
    assert shop.do("git.show", commit="perdure/r_1")["files"][0]["path"] == name


@pytest.mark.parametrize("name", [b"line\nbreak", b"back\\slash", b"\xff\xfe", b"es\x1bcape"])
def test_names_that_rules_cannot_judge_are_refused_and_can_be_left_out(name, shop):
    shop.write(os.fsdecode(name), "x")
    shop.write("one.txt", "1")
    assert shop.do("git.status")["count"] == 2
    assert shop.fail("git.commit", message="All").kind == "denied"
    assert shop.do("git.commit", message="One", paths=["one.txt"])["count"] == 1


def test_filtered_files_are_refused_because_their_filter_is_not_run(shop):
    shop.write(".gitattributes", "*.bin filter=lfs\n")
    shop.write("one.bin", "large")
    failure = shop.fail("git.commit", message="All")
    assert (failure.kind, failure.detail["code"]) == ("unmet", "PRD5201")
    assert "filter=lfs" in failure.message


def test_a_merge_in_progress_is_not_committed(shop):
    shop.git("checkout", "-q", "-b", "side", "older")
    shop.write("src/a.py", "a = 'side'\n")
    shop.git("commit", "-qam", "Side")
    shop.git("merge", "main", check=False)
    assert "in the middle of a merge" in shop.fail("git.commit", message="x", branch="y").message


def test_other_repositories_inside_and_special_files_are_left_out(shop):
    git(shop.root, "init", "-q", "inner")
    shop.write("inner/file.txt", "x")
    os.mkfifo(shop.root / "pipe")
    shop.write("one.txt", "1")
    assert [each["path"] for each in shop.do("git.commit", message="One")["files"]] == ["one.txt"]


def test_a_link_in_the_way_of_a_file_is_not_followed(shop):
    secret = shop.root.parent / "secret"
    secret.mkdir()
    (secret / "a.py").write_text("secret")
    for name in ("a.py", "b.py"):
        (shop.root / "src" / name).unlink()
    (shop.root / "src").rmdir()
    (shop.root / "src").symlink_to(secret)
    output = shop.do("git.commit", message="Linked")
    assert shop.git("cat-file", "-p", f"{output['commit']}:src") == str(secret)
    assert shop.git("ls-tree", "-r", "--name-only", output["commit"]).split() == [".gitignore", "README.md", "src"]


def test_where_the_file_system_knows_no_modes_the_index_does(shop):
    shop.git("config", "core.fileMode", "false")
    shop.git("update-index", "--chmod=+x", "src/a.py")
    shop.write("src/a.py", "a = 5\n")
    assert not (shop.root / "src/a.py").stat().st_mode & stat.S_IXUSR
    output = shop.do("git.commit", message="Mode")
    assert shop.git("ls-tree", output["commit"], "src/a.py").startswith("100755")


def test_repositories_with_longer_ids(tmp_path):
    shop = Shop(tmp_path)
    for each in sorted((shop.root / ".git").rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() else each.unlink()
    shop.git("init", "-q", "--object-format=sha256", "-b", "main")
    output = shop.do("git.commit", message="Begin")
    assert len(output["commit"]) == 64
    (shop.root / "README.md").unlink()
    assert shop.do("git.commit", message="On")["before"] == output["commit"]

"""E6: no path leads out of the workspace, whatever is put in its way meanwhile (S3)."""

import os
import threading

import pytest
from changes_world import hands_at

from perdure.tools.builtin.files import move, write
from perdure.tools.builtin.files_reading import list_, read, search
from perdure.tools.changes.protected import RULES, rule_for
from perdure.tools.changes.tree import Tree
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Unapproved

CORPUS = (
    "..", "../outside", "a/../../outside", "/etc/passwd", "//etc/passwd", "a//b", "./a", "a/.", "a/", "", ".",
    "..\\outside", "C:\\x", "a\0b", "a\nb", "\x7f", "%2e%2e/outside/secret", "..%2foutside", "\uff0e\uff0e/outside", "‥/outside",
    "a/\u202e/b", "link/../outside/secret", "up/secret", "abs/secret", "chain/secret", "self/root/etc/passwd",
    "proc/self/root/etc/passwd", "x" * 5000, "/".join(["d"] * 3000), "a" * 256, "~/x", "$HOME/x", "file:///etc/passwd", "loop/x",
)  # fmt: skip


@pytest.fixture
def outside(tmp_path, workspace):
    """A secret beside the workspace, and links that lead to it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    for name, target in {"up": "../outside", "abs": tmp_path / "outside", "chain": "up", "self": "/proc/self", "loop": "loop"}.items():  # fmt: skip
        (workspace.path / name).symlink_to(target)
    return tmp_path / "outside"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: ascii(path)[:30])
def test_paths_that_lead_elsewhere_lead_nowhere(path, outside, context, workspace):
    for deed in (
        lambda: read.function(path, context()),
        lambda: list_.function(context(), path=path) if path else read.function(path, context()),
        lambda: write.function(path, context(), text="mine"),
        lambda: move.function([type("M", (), {"path": "up", "to": path})], context("m")),
    ):
        try:
            given = deed()
        except ToolFailure as failure:
            assert failure.failure.kind in ("invalid", "denied", "unavailable", "logic")
        else:
            assert "secret" not in str(given.get("text", ""))
    assert {each.name: each.read_text() for each in outside.iterdir()} == {"secret": "secret"}
    found = search.function("secret", context())
    assert not [each for each in found["matches"] if each["text"] == "secret"]


@pytest.mark.campaign("links that are swapped in while files are used", "S3", of="tries", times=2000, lot=False)
def test_links_that_are_swapped_in_never_lead_out(tmp_path, trials):
    """20,000 tries while a directory turns into a link and back."""
    hands = hands_at(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/f").write_text("secret")
    (hands.workspace / "d").mkdir()
    (hands.workspace / "d/f").write_text("inside")
    (hands.workspace / "l").symlink_to("../outside")
    over = threading.Event()
    swapping = threading.Thread(target=swap, args=(hands.workspace, over))
    swapping.start()
    tree, seen = Tree(hands.workspace), {"inside": 0, "refused": 0}
    try:
        for _ in trials(10):
            for n in range(2_000):
                seen[looked(tree)] += 1
                if n % 200 == 0:
                    written(tree, f"{trials.tried}-{n}")
    finally:
        over.set()
        swapping.join()
        tree.close()
    assert min(seen.values()) > 100, seen
    assert (tmp_path / "outside/f").read_text() == "secret"
    assert [each.name for each in (tmp_path / "outside").iterdir()] == ["f"]
    assert len(list((hands.workspace / "d").iterdir())) > 1, "nothing was ever written"


def swap(workspace, over):
    while not over.is_set():
        (workspace / "d").rename(workspace / "x")
        (workspace / "l").rename(workspace / "d")
        (workspace / "d").rename(workspace / "l")
        (workspace / "x").rename(workspace / "d")


def looked(tree):
    try:
        with tree.spot("d/f") as spot, spot.reading() as file:
            data = os.read(file, 100)
    except (ToolFailure, FileNotFoundError):
        return "refused"
    assert data != b"secret"
    return "inside"


def written(tree, name):
    try:
        with tree.spot(f"d/{name}") as spot:
            os.close(os.open(spot.name, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, dir_fd=spot.directory))
    except (ToolFailure, FileNotFoundError):
        return


def test_a_new_link_stays_inside(context, workspace, hands):
    from perdure.tools.changes import Change, ChangeSet, Image, Images, carry_out

    images = Images(hands.state)
    for n, target in enumerate(("/etc", "../x", "d/../../x", "..")):
        link = Image("link", images.put(target.encode()), 0o777, len(target))
        with pytest.raises(ToolFailure, match="out of the workspace"):
            carry_out(context(f"{n}"), ChangeSet((Change("l", None, link),)))
    assert workspace.look() == {}


@pytest.mark.parametrize(
    "name", [".git", ".GIT", ".git.", ".git ", ".gi\u200ct", ".git::$INDEX_ALLOCATION", "sub/.Git/config", ".hg/hgrc"]
)
def test_the_memory_of_version_control_is_known_by_any_of_its_names(name, context):
    assert rule_for(name).write == "deny"
    with pytest.raises(ToolFailure) as found:
        write.function(name, context(), text="x")
    assert found.value.failure.kind in ("denied", "invalid")


@pytest.mark.parametrize("rule", [each for each in RULES if each.write == "ask"], ids=lambda rule: rule.pattern)
def test_what_runs_later_is_asked_about_first(rule, context, workspace):
    path = rule.pattern.replace("*", "x")
    with pytest.raises(Unapproved):
        write.function(f"sub/{path}", context(), text="x")
    assert workspace.look() == {}


def test_ordinary_names_are_not_protected():
    for path in (
        "git",
        "src/.gitignore",
        "environment.py",
        ".envoy",
        "docs/.github.md",
        "a.git",
        "x/.git2",
        "README.md",
        ".editorconfig",
        "id_rsa.pub",
        "keys.py",
        "pem/README",
        "credentials.json.example",
    ):
        assert rule_for(path) is None, path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_others_are_left_alone_and_the_owner_of_the_workspace_stays_owner(context, workspace):
    workspace.write(theirs="x", shared="y")
    os.chown(workspace.path / "theirs", 65534, 65534)
    with pytest.raises(ToolFailure, match="somebody else"):
        write.function("theirs", context(), text="mine")
    os.chown(workspace.path, 65534, 65534)
    write.function("theirs", context("a"), text="changed")
    write.function("new/file", context("b"), text="new")
    for name in ("theirs", "new", "new/file"):
        assert (workspace.path / name).stat().st_uid == 65534, name

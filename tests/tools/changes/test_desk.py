"""What is written down before it begins, and what is said when it cannot be ended."""

import os
import threading

import pytest

from perdure.tools.builtin.files import write
from perdure.tools.changes import Change, ChangeSet, Desk, Image, Images, carry_out, take_back, unfinished
from perdure.tools.changes.intents import Intent, Intents, set_of
from perdure.tools.changes.protected import rule_for
from perdure.tools.failure import ToolFailure


@pytest.fixture
def image(hands):
    images = Images(hands.state)
    return lambda data, mode=0o644: Image("file", images.put(data), mode, len(data))


@pytest.fixture
def begun(context, hands, workspace, image):
    """Two files of which one was changed when the process died."""
    workspace.write(a="a1\n", b="b1\n")
    changes = ChangeSet((Change("a", image(b"a1\n"), image(b"a2\n")), Change("b", image(b"b1\n"), image(b"b2\n"))))
    name = set_of("key")
    Intents(hands.state).write(Intent(name, "begun", changes, {"set": name}))
    workspace["a"] = b"a2\n"
    return context("key")


def test_what_was_begun_is_brought_to_its_end(begun, workspace):
    assert unfinished(begun) == {"set": set_of("key")}
    assert (workspace["a"], workspace["b"]) == (b"a2\n", b"b2\n")


def test_somebody_was_faster_than_the_recovery(begun, workspace):
    workspace["b"] = b"by somebody\n"
    with pytest.raises(ToolFailure) as found:
        unfinished(begun)
    assert found.value.failure.kind == "in_doubt"
    states = {each["path"]: each["state"] for each in found.value.failure.detail["files"]}
    assert states == {"a": "before", "b": "other"}
    assert (workspace["a"], workspace["b"]) == (b"a1\n", b"by somebody\n")
    assert unfinished(begun) is None, "it can be tried anew"


def test_a_draft_of_a_dead_process_is_cleared_away_and_a_parked_save_gets_its_name_back(begun, workspace):
    tag = f".perdure-{set_of('key')[:12]}"
    workspace[f"{tag}-1.new"] = b"half a dra"
    workspace[f"{tag}-0"] = b"saved by somebody, then swapped out\n"
    with pytest.raises(ToolFailure, match="not whole"):
        unfinished(begun)
    assert workspace.look().keys() == {"a", "b"}
    assert (workspace["a"], workspace["b"]) == (b"saved by somebody, then swapped out\n", b"b1\n")


def test_the_whole_set_is_judged_before_anything_is_done(context, workspace, image):
    workspace.write(a="a\n")
    changes = ChangeSet((Change("a", image(b"a\n"), image(b"A\n")), Change(".git/config", None, image(b"x"))))
    with pytest.raises(ToolFailure, match="version control"):
        carry_out(context(), changes)
    assert workspace.look() == {"a": ("file", "0o644", b"a\n")}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda image: [Change("a", None, image(b"x")), Change("a", None, image(b"y"))], "twice"),
        (lambda image: [Change("a", None, image(b"x", 0o4755))], "run as its owner"),
        (lambda image: [Change("a", image(b"x"), Image("directory", "", 0o755, 0))], "directory on one side"),
        (lambda image: [Change("../a", None, image(b"x"))], "not written plainly"),
    ],
)
def test_odd_sets_are_refused(change, word, context, image, workspace):
    with pytest.raises(ToolFailure, match=word):
        carry_out(context(), ChangeSet(tuple(change(image))))
    assert workspace.look() == {}


def test_a_set_that_meets_somebody_in_its_middle_is_brought_back_whole(context, workspace, image):
    workspace.write(a="a\n", b="b\n", c="c\n")
    changes = ChangeSet(tuple(Change(each, image(f"{each}\n".encode()), image(b"new\n")) for each in "abc"))
    with Desk(context()) as desk, (workspace.path / "b").open("ab") as held:
        with pytest.raises(ToolFailure, match="b is held open for writing"):
            desk.carry_out(changes)
        held.write(b"more\n")
    assert {name: workspace[name] for name in workspace.look()} == {"a": b"a\n", "b": b"b\nmore\n", "c": b"c\n"}


def test_calls_wait_for_each_other(context, workspace):
    """A call that was given up may still be at work when its retry begins: it is one deed."""
    workspace["a"] = b"0\n"
    heard = []
    calls = [
        threading.Thread(target=lambda: heard.append(write.function("a", context(), text="1\n"))) for _ in range(6)
    ]
    for each in calls:
        each.start()
    for each in calls:
        each.join()
    assert len(heard) == 6
    assert all(each == heard[0] for each in heard)
    assert workspace["a"] == b"1\n"


def test_attributes_stay(context, workspace):
    workspace["a"] = b"a\n"
    try:
        os.setxattr(workspace.path / "a", "user.colour", b"blue")
    except OSError:
        pytest.skip("this file system has no attributes")
    output = write.function("a", context(), text="b\n")
    assert os.getxattr(workspace.path / "a", "user.colour") == b"blue"
    take_back(context("undo"), output)
    assert os.getxattr(workspace.path / "a", "user.colour") == b"blue"


def test_a_damaged_copy_is_not_written(context, workspace, hands, image):
    workspace["a"] = b"a\n"
    new = image(b"new\n")
    kept = hands.state / "changes/objects" / new.digest[:2] / new.digest[2:]
    kept.write_bytes(b"not\n")
    with pytest.raises(ToolFailure, match="damaged"):
        carry_out(context(), ChangeSet((Change("a", image(b"a\n"), new),)))
    assert workspace.look() == {"a": ("file", "0o644", b"a\n")}


def test_many_changes_are_listed_in_part_and_taken_back_whole(context, workspace, image):
    made = image(b"x")
    output = carry_out(context(), ChangeSet(tuple(Change(f"f{n:04}", None, made) for n in range(520))))
    assert (len(output["changes"]), output["more"], len(workspace.look())) == (500, 20, 520)
    take_back(context("undo"), output)
    assert workspace.look() == {}


def test_a_rule_is_found_for_what_it_names():
    assert rule_for(".env.local").read == "ask"
    assert rule_for("src/main.py") is None

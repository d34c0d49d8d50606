"""What is written down before it begins, and what is said when it cannot be ended."""

import errno
import os
import threading
from contextlib import closing

import pytest

from perdure.core.policy import Layer, Terms
from perdure.tools.builtin.files import write
from perdure.tools.changes import Change, ChangeSet, Desk, Image, Images, carry_out, take_back, unfinished
from perdure.tools.changes.intents import Intent, Intents, set_of
from perdure.tools.changes.protected import rule_for
from perdure.tools.changes.tree import Tree
from perdure.tools.changes.walking import Walk
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
        (lambda image: [Change("a", None, Image("file", image(b"x").digest, 0o644, 1 << 30))], "1,073,741,824 bytes"),
        (lambda image: [Change(f"a{n}", None, image(b"x")) for n in range(5_001)], "5,001 changes are too many"),
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


def test_what_was_carried_out_is_not_carried_out_again(context, workspace, image):
    changes = ChangeSet((Change("a", None, image(b"a")),))
    output = carry_out(context(), changes)
    workspace["a"] = b"by somebody"
    assert carry_out(context(), changes) == output
    assert workspace["a"] == b"by somebody"


def test_a_walk_that_comes_to_its_end_says_that_there_was_more(workspace):
    workspace.write(a="a", b="b", c="c")
    with closing(Tree(workspace.path)) as tree:
        walk = Walk(tree, most=2)
        assert [each.path for each in walk] == ["a", "b"]
        assert walk.is_cut


def test_a_damaged_copy_is_not_written(context, workspace, hands, image):
    workspace["a"] = b"a\n"
    new = image(b"new\n")
    kept = hands.state / "changes/objects" / new.digest[:2] / new.digest[2:]
    kept.write_bytes(b"not\n")
    with pytest.raises(ToolFailure, match="damaged"):
        carry_out(context(), ChangeSet((Change("a", image(b"a\n"), new),)))
    assert workspace.look() == {"a": ("file", "0o644", b"a\n")}


def test_a_copy_that_is_gone_is_not_written(context, workspace, hands, image):
    workspace["a"] = b"a\n"
    new = image(b"new\n")
    (hands.state / "changes/objects" / new.digest[:2] / new.digest[2:]).unlink()
    with pytest.raises(ToolFailure, match=f"the kept copy {new.digest[:12]}… is gone"):
        carry_out(context(), ChangeSet((Change("a", image(b"a\n"), new),)))
    assert workspace.look() == {"a": ("file", "0o644", b"a\n")}


def test_a_record_that_cannot_be_read_is_a_doubt_and_nothing_is_done(context, workspace, hands):
    workspace["a"] = b"a\n"
    output = write.function("a", context(), text="b\n")
    (hands.state / f"changes/intents/{output['set']}.json").write_bytes(b'{"set":')
    with pytest.raises(ToolFailure, match="what was written down about this step cannot be read") as found:
        write.function("a", context(), text="c\n")
    assert found.value.failure.kind == "in_doubt"
    assert workspace["a"] == b"b\n"


def forgotten(context, hands, count):
    """What a step gave that has made so many files, and of which no record is left."""
    made = Image("file", Images(hands.state).put(b"x"), 0o644, 1)
    output = carry_out(context(), ChangeSet(tuple(Change(f"f{n}", None, made) for n in range(count))))
    Intents(hands.state).forget(output["set"])
    return output


def test_without_its_record_a_step_is_taken_back_by_what_it_gave(context, workspace, hands):
    take_back(context("undo"), forgotten(context, hands, 3))
    assert workspace.look() == {}


def test_without_its_record_a_step_that_gave_a_part_is_not_taken_back_in_part(context, workspace, hands):
    output = forgotten(context, hands, 501)
    with pytest.raises(ToolFailure, match="nobody remembers all the changes"):
        take_back(context("undo"), output)
    assert len(workspace.look()) == 501


def test_what_a_policy_denies_is_not_taken_back_either(context, workspace):
    output = write.function("a", context(), text="a\n")
    rules = [Layer("user", files_write=Terms(deny=("a",)))]
    with pytest.raises(ToolFailure, match=r"a is denied.*\(says user\)"):
        take_back(context("undo", layers=rules), output)
    assert workspace["a"] == b"a\n"


def test_a_directory_that_somebody_has_put_something_into_stays_and_is_told(context, workspace):
    output = write.function("new/a", context(), text="a\n")
    workspace["new/b"] = b"by somebody\n"
    told = take_back(context("undo"), output)
    assert told["notes"] == ["new: stays, because there is something in it"]
    assert workspace.look().keys() == {"new", "new/b"}


def test_a_directory_gets_a_mode_and_gets_its_own_back(context, workspace):
    (workspace.path / "d").mkdir(mode=0o755)
    before, after = (Image("directory", "", mode, 0) for mode in (0o755, 0o500))
    output = carry_out(context(), ChangeSet((Change("d", before, after),)))
    assert workspace.look()["d"] == ("directory", "0o500")
    take_back(context("undo"), output)
    assert workspace.look()["d"] == ("directory", "0o755")


def test_attributes_that_cannot_be_carried_over_are_told(context, workspace, monkeypatch):
    """As on a file system that has none."""
    workspace["a"] = b"a\n"
    monkeypatch.setattr(os, "listxattr", lambda _: ["user.colour"])
    monkeypatch.setattr(os, "getxattr", lambda *_: (_ for _ in ()).throw(OSError(errno.EOPNOTSUPP, "none here")))
    told = write.function("a", context(), text="b\n")
    assert told["notes"] == ["attributes that could not be kept: user.colour"]
    assert workspace["a"] == b"b\n"


def test_many_changes_are_listed_in_part_and_taken_back_whole(context, workspace, image):
    made = image(b"x")
    output = carry_out(context(), ChangeSet(tuple(Change(f"f{n:04}", None, made) for n in range(520))))
    assert (len(output["changes"]), output["more"], len(workspace.look())) == (500, 20, 520)
    take_back(context("undo"), output)
    assert workspace.look() == {}


def test_a_rule_is_found_for_what_it_names():
    assert rule_for(".env.local").read == "ask"
    assert rule_for("src/main.py") is None

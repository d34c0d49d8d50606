"""Somebody saves while a step edits: no byte of theirs is lost, and every conflict is reported (R7)."""

import random
import threading
import time

import pytest
from changes_world import Folder, context_of, hands_at

from perdure.tools.builtin.files import delete, edit, write
from perdure.tools.changes import Images, take_back
from perdure.tools.failure import ToolFailure

EARLY = 0.0003
"""Seconds: most of what a deed takes is waiting for late savers, and between looking and changing is little."""
LINES = b"".join(b"line %d\n" % n for n in range(200))


def saved_by_renaming(path, data):
    """As most editors save: a new file takes the place of the old one."""
    draft = path.with_name(".draft")
    draft.write_bytes(data)
    draft.rename(path)


def saved_in_place(path, data):
    """As `echo > file` does: truncated, then written in two pieces."""
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        file.write(data[len(data) // 2 :])


class User(threading.Thread):
    """Saves one version, at some moment."""

    def __init__(self, save, path, data, pause):
        super().__init__()
        self.save, self.path, self.data, self.pause, self.went = save, path, data, pause, threading.Event()

    def run(self):
        self.went.wait()
        time.sleep(self.pause)
        self.save(self.path, self.data)


@pytest.mark.campaign("people who save while a step edits", "R7", of="races")
@pytest.mark.parametrize("save", [saved_by_renaming, saved_in_place])
@pytest.mark.parametrize("deed", ["edit", "delete", "undo"])
def test_no_save_is_lost(save, deed, memory, trials):
    hands, takes = hands_at(memory), 0.01
    folder, images = Folder(hands.workspace), Images(hands.state)
    path = hands.workspace / "f"
    seen = {"ours": 0, "theirs": 0}
    for n in trials(340):
        draw = random.Random(f"{save.__name__} {deed} {n}")
        path.write_bytes(LINES)
        theirs = LINES.replace(b"line 7\n", b"line 7 by user %d\n" % n)
        at = draw.choice([draw.uniform(0, takes), draw.uniform(-EARLY, EARLY)])
        user = User(save, path, theirs, max(0, at))
        user.start()
        outcome, took = raced(deed, hands, n, user, max(0, -at))
        takes += (min(took, 0.1) - takes) / 8
        user.join()
        seen[outcome[0]] += 1
        assert_kept(outcome, path, theirs, images, deed)
        assert not list(hands.workspace.glob(".perdure*"))
        path.unlink(missing_ok=True)
    assert folder.look() == {}
    assert seen["theirs"] or not trials.suffice, "nobody was ever in the way; the race is none"


def raced(deed, hands, n, user, late):
    """Do it while somebody saves, or a little later; who came through, and what was said."""
    context = context_of(hands, f"key {n}")
    arguments = [{"path": "f", "old": "line 100\n", "new": "ours\n"}]
    output, began = None, 0.0
    if deed == "undo":
        output = edit.function([type("E", (), {"every": False} | arguments[0])], context)
    user.went.set()
    time.sleep(late)
    began = time.monotonic()
    try:
        if deed == "edit":
            output = edit.function([type("E", (), {"every": False} | arguments[0])], context)
        elif deed == "delete":
            output = delete.function(["f"], context)
        else:
            output = take_back(context_of(hands, f"undo {n}"), output)
    except ToolFailure as failure:
        return ("theirs", failure.failure), time.monotonic() - began
    return ("ours", output), time.monotonic() - began


def assert_kept(outcome, path, theirs, images, deed):
    """Their bytes stand there, or ours were made after theirs, or theirs were kept and it was said so."""
    who, told = outcome
    now = path.read_bytes() if path.exists() else b""
    if who == "ours" and deed == "edit":
        assert now in (theirs, theirs.replace(b"line 100\n", b"ours\n"), LINES.replace(b"line 100\n", b"ours\n")), now[
            :200
        ]
        assert now != LINES.replace(b"line 100\n", b"ours\n"), "their save is gone"
    elif who == "ours":
        removed = [images.read(each["before"]["digest"]) for each in told["changes"] if deed == "delete"]
        assert theirs in (now, *removed), now[:200]
    else:
        assert told.kind in ("logic", "in_doubt", "transient", "invalid"), told
        kept = [images.read(each["kept"]) for each in (told.detail or {}).get("conflicts", []) if each.get("kept")]
        assert theirs in (now, *kept), (told, now[:100])


def test_a_file_that_is_held_open_for_writing_is_given_back(context, workspace):
    workspace["log"] = b"a\nb\n"
    with (workspace.path / "log").open("ab", buffering=0) as log:
        with pytest.raises(ToolFailure, match="held open for writing"):
            write.function("log", context(), text="mine\n")
        log.write(b"c\n")
    assert workspace["log"] == b"a\nb\nc\n"
    assert list(workspace.look()) == ["log"]
    write.function("log", context(), text="mine\n")
    assert workspace["log"] == b"mine\n"


def test_a_conflict_before_anything_was_done_leaves_all_as_it_was(context, workspace, hands):
    workspace.write(a="a\nmore\nlast\n", b="b\n")
    output = write.function("a", context("one"), text="A\nmore\nlast\n")
    workspace["a"] = b"A\nmore\nby somebody\n"
    start = workspace.look()
    with pytest.raises(ToolFailure, match="changed by somebody else since") as found:
        take_back(context("undo"), output)
    assert found.value.failure.kind == "logic"
    [conflict] = found.value.failure.detail["conflicts"]
    assert conflict["merged"] == "a\nmore\nby somebody\n"
    assert workspace.look() == start
    workspace["a"] = conflict["merged"]
    workspace["a"] = b"A\nmore\nlast\n"
    take_back(context("undo"), output)
    assert workspace["a"] == b"a\nmore\nlast\n"


def test_a_repeated_call_does_nothing_even_if_the_file_was_changed_since(context, workspace):
    workspace["a"] = b"a\n"
    output = write.function("a", context(), text="A\n")
    workspace["a"] = b"later, by somebody\n"
    assert write.function("a", context(), text="A\n") == output
    assert workspace["a"] == b"later, by somebody\n"

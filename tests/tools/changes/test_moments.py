"""R7: somebody saves, removes or makes a file before any one call of the kernel: no byte of theirs is lost."""

import os
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count, product
from pathlib import Path
from typing import NamedTuple

import pytest
from changes_world import begin, context_of, do, hands_at, take_back
from kernel_calls import before_calls

from perdure.tools.builtin.files import delete
from perdure.tools.builtin.files_reading import search
from perdure.tools.changes import Images
from perdure.tools.changes.tree import Tree
from perdure.tools.failure import ToolFailure

OLD, THEIRS = b"one\ntwo\nthree\n", b"theirs\n"
NAMES = ("a.txt", "b.txt", "c.txt", "moved/c.txt", "new", "new/deep/f.txt")
LOOKS = ("open_beneath", "stat")
EVERY = 12
"""Of some hundred moments each deed comes to one in so many, each to others."""


def save(path):
    """As most editors do."""
    draft = path.with_name("draft")
    draft.write_bytes(OLD + THEIRS)
    draft.rename(path)


def write(path):
    """As `echo > file` does."""
    path.write_bytes(OLD + THEIRS)


def remove(path):
    path.unlink()


def make_directory(path):
    path.unlink(missing_ok=True)
    path.mkdir()


def do_alone(place):
    return lambda: do(place)


def undo_alone(place):
    told = do(place)
    return lambda: take_back(context_of(hands_at(place), "undo"), told)


SCENES = {"do": do_alone, "undo": undo_alone}
DEEDS = [(name, deed) for name in NAMES for deed in (save, write, remove, make_directory)]


def moments(monkeypatch, place, scene):
    """How many calls are made if nobody is in the way."""
    begin(place)
    work = scene(place)
    with monkeypatch.context() as patched:
        made = before_calls(patched, lambda _: None, also=LOOKS)
        work()
    return len(made)


@pytest.mark.parametrize("scene", SCENES)
def test_whatever_somebody_does_at_any_moment_no_byte_of_theirs_is_lost(monkeypatch, memory, scene):
    heard = set()
    calls = moments(monkeypatch, memory / "whole", SCENES[scene])
    for shift, (name, deed) in enumerate(DEEDS):
        for n in range(1 + shift % EVERY, calls + 1, EVERY):
            moment = Moment([n], name, deed, THEIRS)
            heard.add(met(monkeypatch, memory / f"{shift}-{n}", SCENES[scene], moment))
    assert {"", "logic"} <= heard, heard


@pytest.mark.parametrize("scene", SCENES)
def test_whoever_saves_again_and_again_has_the_last_word(monkeypatch, memory, scene):
    """Also where their first save was swapped out, and stands under no name when the second comes."""
    heard = set()
    calls = moments(monkeypatch, memory / "whole", SCENES[scene])
    for shift, (name, again) in enumerate(product(NAMES[:4], (1, 2, 4))):
        for n in range(1 + shift % EVERY, calls + 1, EVERY // 2):
            saves = count()

            def save_anew(path, saves=saves):
                draft = path.with_name("draft")
                draft.write_bytes(OLD + b"version %d\n" % next(saves))
                draft.rename(path)

            moment = Moment([n, n + again, n + 2 * again], name, save_anew, b"version 2\n")
            heard.add(met(monkeypatch, memory / f"{shift}-{n}", SCENES[scene], moment))
    assert {"in_doubt", "logic"} <= heard, heard


class Moment(NamedTuple):
    """When somebody does what to which file, and what they have written when all is done."""

    calls: list[int]
    name: str
    deed: Callable[[Path], None]
    text: bytes


def met(monkeypatch, place, scene, moment):
    """Somebody does something before these calls; how the work failed, or an empty word."""
    folder, did = begin(place), []
    work = scene(place)
    start = files_of(folder, moment.name)

    def somebody(n):
        with suppress(OSError):  # there is no such file yet, or no such directory
            if n in moment.calls:
                moment.deed(folder.path / moment.name)
                did.append(n)

    with monkeypatch.context() as patched:
        before_calls(patched, somebody, also=LOOKS)
        told = said(work)
    case = (moment, told)
    if told.get("kind", "in_doubt") != "in_doubt":
        assert files_of(folder, moment.name) == start, case
    told_again = said(work)
    wrote = did == moment.calls and moment.deed not in (remove, make_directory)
    assert not wrote or is_kept(moment.text, folder, (told, told_again), place), case
    assert not list(folder.path.rglob(".perdure-*")), case
    return told.get("kind", "")


def files_of(folder, but):
    return {name: found for name, found in folder.look().items() if found[0] == "file" and name not in (but, "draft")}


def said(work):
    """What is given, or why it failed."""
    try:
        return work()
    except ToolFailure as found:
        failure = found.failure
        return {"kind": failure.kind, "message": failure.message, **(failure.detail or {})}


def is_kept(text, folder, told, place):
    """Their bytes stand somewhere, or what was said names where they are kept."""
    stand = any(text in each.read_bytes() for each in folder.path.rglob("*") if each.is_file())
    return stand or any(text in kept_under(each, place) for each in digests_in(told))


def kept_under(digest, place):
    """Not all that is named is kept: of what stands in a file it is only said what it is."""
    with suppress(ToolFailure):
        return Images(hands_at(place).state).read(digest)
    return b""


def digests_in(told):
    """All digests that were said, in whatever way."""
    if isinstance(told, dict):
        for each in told.values():
            yield from digests_in(each)
    elif isinstance(told, list | tuple):
        for each in told:
            yield from digests_in(each)
    elif isinstance(told, str):
        yield from (word for word in told.split() if len(word) == 64)


@pytest.mark.parametrize("gone", ["a.txt", "d"])
def test_what_goes_while_it_is_looked_for_is_passed_over(gone, monkeypatch, context, workspace):
    """The root is walked through first, and a file is read after its directory was."""
    workspace.write(a_txt="needle\n", b_txt="needle\n", d__e_txt="needle\n")

    def somebody(n):
        if n == 2:
            (workspace.path / gone).rename(workspace.path.parent / "gone")

    with monkeypatch.context() as patched:
        before_calls(patched, somebody, also=["open_beneath"])
        found = search.function("needle", context())
    assert {each["path"] for each in found["matches"]} == {"a.txt", "b.txt", "d/e.txt"} - {gone, f"{gone}/e.txt"}


def test_a_file_that_is_written_all_the_time_is_no_file_to_change(monkeypatch, context, workspace):
    workspace["log"] = b"a\n"
    times = count()

    def somebody(_):
        os.utime(workspace.path / "log", (0, next(times)))

    with monkeypatch.context() as patched:
        before_calls(patched, somebody, also=["chunks_of"])
        with pytest.raises(
            ToolFailure, match="log is being changed all the time; try again when it is at rest"
        ) as found:
            delete.function(["log"], context())
    assert found.value.failure.kind == "transient"
    assert workspace["log"] == b"a\n"


def test_a_link_that_becomes_a_file_while_it_is_read_is_a_file(monkeypatch, workspace):
    link = workspace.path / "a"
    link.symlink_to("b")
    real = os.readlink

    def turned(*arguments, **named):
        link.unlink()
        link.write_text("now a file\n")
        return real(*arguments, **named)

    with closing(Tree(workspace.path)) as tree, monkeypatch.context() as patched:
        patched.setattr(os, "readlink", turned)
        found = tree.image("a")
    assert (found.kind, found.size) == ("file", len("now a file\n"))

"""The three forms of edits, as properties: what is applied is what was meant, and nothing else is ever raised.

E6, E18.
"""

import random
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.tools.changes.diffing import unified
from perdure.tools.changes.editing import replaced
from perdure.tools.changes.fitting import patched
from perdure.tools.changes.merging import merged
from perdure.tools.changes.patches import read_patch
from perdure.tools.changes.text import Text
from perdure.tools.failure import ToolFailure

LINE = st.sampled_from(["", "a", "b", " a", "\ta", "@@ -1 +1 @@", "--- a/x", "+++ b/x", "*** End Patch", "\\ No newline at end of file", "-", "+", "ü", "x\r"])  # fmt: skip
TEXT = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINE, max_size=12), st.sampled_from(["", "\n"]))
SETTINGS = settings(max_examples=300, deadline=None)


def diff(old, new, path="f"):
    return "".join(f"{line}\n" for line in (f"--- a/{path}", f"+++ b/{path}", *unified(old, new)))


@SETTINGS
@given(TEXT, TEXT)
def test_a_diff_applied_is_the_new_text(old, new):
    if old == new:
        return
    [patch] = read_patch(diff(old, new))
    assert patched(patch, old) == new


@SETTINGS
@given(TEXT, TEXT)
def test_a_diff_is_as_git_reads_it(old, new):
    """Our hunks are those that patch(1) and git understand: the numbers are right."""
    if old == new:
        return
    [patch] = read_patch(diff(old, new))
    assert sum(each.new.count("\n") - each.old.count("\n") for each in patch.hunks) == new.count("\n") - old.count("\n")


def test_git_agrees_with_our_diffs(tmp_path):
    draw = random.Random(7)
    for n in range(12):
        old = "".join(f"{draw.randint(0, 9)}\n" for _ in range(draw.randint(1, 30)))
        new = "".join(line for line in old.splitlines(keepends=True) if draw.random() > 0.2) + draw.choice(
            ["", "end", "end\n"]
        )
        if old == new or not new:
            continue
        (tmp_path / "f").write_text(old)
        done = subprocess.run(
            [shutil.which("git"), "apply", "-"],
            cwd=tmp_path,
            input=diff(old, new),
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (n, done.stderr, diff(old, new))
        assert (tmp_path / "f").read_text() == new


@SETTINGS
@given(
    st.lists(st.sampled_from("abc\n"), max_size=40).map("".join),
    st.lists(st.sampled_from("abc\n"), max_size=4).map("".join),
)
def test_a_replacement_is_made_once_or_not_at_all(text, old):
    count = sum(text.startswith(old, n) for n in range(len(text))) if old else 0
    try:
        found = replaced("f", text, old, "NEW")
    except ToolFailure as failure:
        assert count != 1
        assert failure.failure.kind == "invalid"
    else:
        assert count == 1
        assert found == text.replace(old, "NEW")


@SETTINGS
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), st.data())
def test_a_hunk_goes_to_the_only_place_where_it_fits(lines, data):
    start = data.draw(st.integers(0, len(lines) - 1))
    old = lines[start : data.draw(st.integers(start + 1, len(lines)))]
    places = [n for n in range(len(lines)) if lines[n : n + len(old)] == old]
    body = "".join(f"-{line}\n" for line in old)
    patch = f"*** Begin Patch\n*** Update File: f\n@@\n{body}+new\n*** End Patch\n"
    text = "".join(f"{line}\n" for line in lines)
    end = data.draw(st.booleans())
    try:
        found = patched(read_patch(patch)[0], text if end else text.removesuffix("\n"))
    except ToolFailure:
        assert len(places) != 1
    else:
        assert places == [start]
        wanted = "".join(f"{line}\n" for line in [*lines[:start], "new", *lines[start + len(old) :]])
        assert found == (wanted if end else wanted.removesuffix("\n"))


PIECES = st.sampled_from(
    [
        "*** Begin Patch", "*** End Patch", "*** Update File: a", "*** Add File: b", "*** Delete File: c", "*** Move to: d",
        "*** End of File", "@@", "@@ x", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@", "@@ -999999999 +1 @@", "@@ -1,0 +1,0 @@", "--- a/f",
        "+++ b/f", "--- /dev/null", "+++ /dev/null", "diff --git a/f b/f", 'diff --git "a/\\303\\274" "b/\\303\\274"',
        '--- "a/\\777"', "rename from x", "rename to y", "new file mode 120000", "new file mode 100755", "old mode 100644",
        "index 0..1", "Binary files a and b differ", "GIT binary patch", "copy from a", " a", "-a", "+a", "-", "+", " ", "", "\r", "\0",
        "\\ No newline at end of file", "text", "\ud800", "***", "*** ",
    ]
)  # fmt: skip


@settings(max_examples=1_500, deadline=None)
@given(st.lists(PIECES, max_size=14), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_hostile_patches_are_refused_with_a_line(pieces, newline, is_v4a):
    text = newline.join((["*** Begin Patch"] if is_v4a else []) + pieces)
    try:
        patches = read_patch(text)
    except ToolFailure as failure:
        assert failure.failure.kind == "invalid"
        assert "line " in failure.failure.message
        return
    for patch in patches:
        try:
            patched(patch, "a\nb\n")
        except ToolFailure as failure:
            assert patch.path in failure.failure.message


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.booleans())
def test_any_text_at_all_is_refused_or_read(text, is_v4a):
    try:
        read_patch(("*** Begin Patch\n" if is_v4a else "--- a/f\n+++ b/f\n@@ -1 +1 @@\n") + text)
    except ToolFailure as failure:
        assert failure.failure.kind == "invalid"


@SETTINGS
@given(
    st.lists(st.sampled_from(["a", "\n", "\r\n", "\r", "ü", "\ufeff"]), max_size=20).map("".join),
    st.sampled_from(["utf-8", "utf-16-le", "gb18030"]),
)
def test_a_text_comes_back_as_it_was(text, encoding):
    data = text.encode(encoding)
    found = Text.read("f", data, encoding)
    assert found.data(found.body) == data


@SETTINGS
@given(TEXT, st.data())
def test_changes_that_keep_clear_of_each_other_are_put_together(base, data):
    lines = ["first\n", *base.splitlines(keepends=True), "middle\n", "last\n"]
    old = "".join(lines)
    ours, theirs = "OURS\n" + old.removeprefix("first\n"), old.removesuffix("last\n") + "THEIRS\n"
    both = merged(old.encode(), ours.encode(), theirs.encode())
    assert both == "OURS\n" + "".join(lines[1:-1]) + "THEIRS\n"
    assert merged(old.encode(), ours.encode(), old.replace("first", "x", 1).encode()) is None


@pytest.mark.parametrize(
    ("patch", "line", "word"),
    [
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n", 6, "End Patch"),
        ("*** Begin Patch\n*** Change File: a\n*** End Patch", 2, "none of"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", 3, "begins with +"),
        ("*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch", 5, "changes nothing"),
        ("--- a/f\n@@ -1 +1 @@\n", 2, "+++"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n", 5, "missing"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n", 6, "more lines"),
        ("--- a/f\n+++ b/f\n@@ 1 @@\n", 3, "as in"),
        ("nothing\n", 1, "there is no"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End of File\n-z\n*** End Patch", 7, "begins with @@"),
        ("*** Begin Patch \n*** Delete File: a\n*** End Patch\nmore\n", 4, "nothing may follow"),
        ("diff --git a/f b/g\ncopy from f\ncopy to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", 1, "copies"),
        ("*** Begin Patch\n*** End Patch\n", 1, "changes no file"),
        ("*** Begin Patches\n*** End Patch\n", 1, "it must be"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch\n", 3, "nothing is changed in 'a'"),
        ("*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch\n", 4, "begins with a blank, + or -"),
        ("diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", 1, "mode '120000'"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n", 3, "the hunk changes nothing"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 1, "names no file"),
    ],
)
def test_a_patch_that_cannot_be_read_says_where(patch, line, word):
    with pytest.raises(ToolFailure) as found:
        read_patch(patch)
    assert f"line {line} of the patch" in str(found.value)
    assert word in str(found.value)


TEXT_OF_THREE = "one\ntwo\ntwo\n"


@pytest.mark.parametrize(
    ("hunk", "word"),
    [
        ("@@\n-three\n+3", "do not occur; nothing there is like it"),
        ("@@\n-two\n+2", "occur more than once, on lines 2, 3"),
        ("@@\n-one\n+1\n*** End of File", "not the end of the file"),
        ("@@\n+new", "nobody can tell where it belongs"),
        ("@@ three\n-two\n+2", "there is no line 'three'"),
        ("@@ two\n-two\n+2", "more than one line 'two'"),
    ],
)
def test_a_hunk_that_does_not_fit_says_why(hunk, word):
    [patch] = read_patch(f"*** Begin Patch\n*** Update File: f\n{hunk}\n*** End Patch\n")
    with pytest.raises(ToolFailure) as found:
        patched(patch, TEXT_OF_THREE)
    assert "f: the hunk on line 3 of the patch does not fit" in str(found.value)
    assert word in str(found.value)


@pytest.mark.parametrize(
    ("hunk", "text"),
    [
        ("@@ one\n+new", "one\nnew\ntwo\ntwo\n"),
        ("@@\n+new\n*** End of File", "one\ntwo\ntwo\nnew\n"),
        ("@@ one\n@@ two\n-two\n+2", "one\ntwo\n2\n"),
    ],
)
def test_lines_go_behind_the_lines_that_a_hunk_names(hunk, text):
    [patch] = read_patch(f"*** Begin Patch\n*** Update File: f\n{hunk}\n*** End Patch\n")
    assert patched(patch, TEXT_OF_THREE) == text


def test_a_patch_of_too_many_hunks_is_refused():
    with pytest.raises(ToolFailure, match="2,001 hunks are too many"):
        read_patch("*** Begin Patch\n*** Update File: f\n" + "@@\n-x\n+y\n" * 2_001 + "*** End Patch\n")


def test_what_is_the_same_has_no_hunks():
    assert list(unified("a\nb\n", "a\nb\n")) == []


def test_large_texts_take_bounded_time():
    same = "x\n" * 200_000
    other = "".join(f"{n}\n" for n in range(200_000))
    assert len(list(unified(same, other))) > 400_000
    with pytest.raises(ToolFailure):
        replaced("f", same, "x\n" * 1_000, "y")
    with pytest.raises(ToolFailure):
        replaced("f", other, "x" * 100_000, "y")
    hunk = "@@\n-x\n+y\n"
    with pytest.raises(ToolFailure):
        patched(read_patch(f"*** Begin Patch\n*** Update File: f\n{hunk * 1_000}*** End Patch\n")[0], same)

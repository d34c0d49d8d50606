"""E6 E18: the tools for files, called as the engine calls them."""

import base64
import os
import socket
import stat

import pytest

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools.builtin import HANDS
from perdure.tools.performing import ToolPerformer


@pytest.fixture
def call(hands):
    """Call a tool for files; the outcome."""
    performer = ToolPerformer(HANDS, hands=hands)

    async def called(name, *, layers=(), approved=(), by="call", output=None, **arguments):
        called.n += 1
        attempt = Attempt(
            "r_1", "step", 1, 1, f"key-{called.n}", Call("tool", f"files.{name}", arguments), by=by, output=output,
            layers=tuple(layers), approved=frozenset(approved),
        )  # fmt: skip
        return await performer.perform(attempt)

    called.n = 0
    return called


async def given(outcome):
    found = await outcome
    assert found.failure is None, found.failure
    assert found.approval is None, found.approval
    return found.output


async def refused(outcome, kind, *words):
    found = await outcome
    assert found.failure is not None, found
    assert found.failure.kind == kind, found.failure
    for word in words:
        assert word in found.failure.message, found.failure.message
    return found.failure


# ------------------------------------------------------------------------------- changing


async def test_one_step_edits_many_files_and_is_taken_back(call, workspace):
    workspace.write(a_py="x = 1\ny = 2\n", src__b_py="import a\n")
    (workspace.path / "a.py").chmod(0o750)
    start = workspace.look()
    edits = [
        {"path": "a.py", "old": "x = 1", "new": "x = 10"},
        {"path": "src/b.py", "old": "import a", "new": "import a, c"},
        {"path": "a.py", "old": "y = 2", "new": "y = x"},
    ]
    output = await given(call("edit", edits=edits))
    assert workspace["a.py"] == b"x = 10\ny = x\n"
    assert workspace["src/b.py"] == b"import a, c\n"
    assert stat.S_IMODE((workspace.path / "a.py").stat().st_mode) == 0o750
    assert [each["path"] for each in output["changes"]] == ["a.py", "src/b.py"]
    assert "-x = 1\n" in output["diff"]
    assert "+y = x\n" in output["diff"]
    await given(call("edit", by="undo", output=output, edits=edits))
    assert workspace.look() == start
    await given(call("edit", by="undo", output=output, edits=edits))
    assert workspace.look() == start


@pytest.mark.parametrize(
    "case",
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "a\nc\nb", b"\xef\xbb\xbfa\r\nc\r\nb\r\n"),
        (b"a\r\nb", "b", "c", b"a\r\nc"),
        (b"a\nb", "b", "b\r\nc", b"a\nb\nc"),
        (b"a\r\nb\nc\n", "b\n", "B\n", b"a\r\nB\nc\n"),
        ("grüße\n".encode(), "ü", "u", "gruße\n".encode()),
        (b"tab\there \n", "\there ", "", b"tab\n"),
    ],
)
async def test_bytes_around_an_edit_stay_as_they_are(call, workspace, case):
    before, old, new, after = case
    workspace["f"] = before
    await given(call("edit", edits=[{"path": "f", "old": old, "new": new}]))
    assert workspace["f"] == after


async def test_an_edit_that_does_not_fit_shows_what_is_near_and_changes_nothing(call, workspace):
    workspace.write(a_py="def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 1\n", b_py="one\n")
    start = workspace.look()
    first = {"path": "b.py", "old": "one", "new": "two"}
    failure = await refused(call("edit", edits=[first, {"path": "a.py", "old": "  return x+1", "new": "y"}]), "invalid", "nearest", "return x + 1")  # fmt: skip
    assert failure.detail["nearest"][0]["line"] == 2
    failure = await refused(call("edit", edits=[first, {"path": "a.py", "old": "return x + 1", "new": "y"}]), "invalid", "more than once", "2, 6")  # fmt: skip
    await refused(call("edit", edits=[{"path": "aa.py", "old": "a", "new": "b"}]), "invalid", 'did you mean "a.py"?')
    await refused(call("edit", edits=[{"path": "a.py", "old": "x", "new": "x"}]), "invalid", "same")
    await refused(call("edit", edits=[{"path": "a.py", "old": "", "new": "x"}]), "invalid", "empty")
    assert workspace.look() == start
    await given(call("edit", edits=[{"path": "a.py", "old": "x + 1", "new": "x", "every": True}]))
    assert workspace["a.py"].count(b"return x\n") == 2


async def test_what_is_no_text_is_written_whole(call, workspace):
    workspace["f"] = b"\x00\xff"
    workspace["l"] = "caf\xe9\n".encode("latin-1")
    await refused(call("edit", edits=[{"path": "f", "old": "a", "new": "b"}]), "invalid", "base64")
    await refused(call("edit", edits=[{"path": "l", "old": "caf", "new": "b"}]), "invalid", "encoding")
    await given(call("edit", edits=[{"path": "l", "old": "caf", "new": "Caf"}], encoding="latin-1"))
    assert workspace["l"] == b"Caf\xe9\n"
    output = await given(call("write", path="f", base64=base64.b64encode(b"\x01\x00").decode()))
    assert workspace["f"] == b"\x01\x00"
    assert "Binary files differ" in output["diff"]


async def test_writing_keeps_the_manner_of_the_file_and_minds_what_is_there(call, workspace):
    workspace["f"] = b"\xef\xbb\xbfa\r\n"
    await given(call("write", path="f", text="x\ny\n"))
    assert workspace["f"] == b"\xef\xbb\xbfx\r\ny\r\n"
    await refused(call("write", path="f", text="", must="create"), "logic", "already")
    await refused(call("write", path="g", text="", must="replace"), "logic", "no file")
    seen = await given(call("read", path="f"))
    workspace["f"] = b"by somebody"
    await refused(call("write", path="f", text="new", expect=seen["digest"]), "logic", "changed since")
    assert workspace["f"] == b"by somebody"
    await given(call("write", path="deep/er/run.sh", text="#!/bin/sh\n", executable=True))
    assert os.access(workspace.path / "deep/er/run.sh", os.X_OK)


V4A = """*** Begin Patch
*** Update File: a.py
@@ class B:
 def f():
-    return 1
+    return 2
*** Add File: new/c.py
+x = 1
*** Delete File: gone.py
*** Update File: old.py
*** Move to: moved.py
@@
-a
+b
*** End Patch
"""
UNIFIED = """diff --git a/a.py b/a.py
index 111..222 100644
--- a/a.py
+++ b/a.py
@@ -4,3 +4,3 @@ class B:
 class B:
 def f():
-    return 1
+    return 2
diff --git a/new/c.py b/new/c.py
new file mode 100644
--- /dev/null
+++ b/new/c.py
@@ -0,0 +1 @@
+x = 1
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-g
diff --git a/old.py b/moved.py
similarity index 50%
rename from old.py
rename to moved.py
--- a/old.py
+++ b/moved.py
@@ -1 +1 @@
-a
+b
"""


@pytest.mark.parametrize(
    "patch", [V4A, UNIFIED, V4A.replace("\n", "\r\n"), UNIFIED.replace("a/", "").replace("b/", "")]
)
async def test_a_patch_changes_many_files_and_is_taken_back(call, workspace, patch):
    workspace.write(
        a_py="class A:\ndef f():\n    return 1\nclass B:\ndef f():\n    return 1\n", gone_py="g\n", old_py="a\n"
    )
    start = workspace.look()
    output = await given(call("patch", patch=patch))
    assert {name: workspace[name] for name in ("a.py", "new/c.py", "moved.py")} == {
        "a.py": b"class A:\ndef f():\n    return 1\nclass B:\ndef f():\n    return 2\n", "new/c.py": b"x = 1\n", "moved.py": b"b\n",
    }  # fmt: skip
    assert set(workspace.look()) == {"a.py", "new", "new/c.py", "moved.py"}
    await given(call("patch", by="undo", output=output, patch=patch))
    assert workspace.look() == start


RENAMED = """diff --git a/old.sh b/new.sh
rename from old.sh
rename to new.sh
"""
RUNNABLE = """diff --git a/old.sh b/old.sh
old mode 100644
new mode 100755
"""


async def test_a_diff_renames_and_makes_runnable_without_a_line_changed(call, workspace):
    workspace["old.sh"] = b"#!/bin/sh\n"
    await given(call("patch", patch=RUNNABLE))
    assert os.access(workspace.path / "old.sh", os.X_OK)
    await given(call("patch", patch=RENAMED))
    assert workspace.look() == {"new.sh": ("file", "0o755", b"#!/bin/sh\n")}


async def test_a_patch_that_another_file_is_in_the_way_of_changes_nothing(call, workspace):
    workspace.write(new_py="mine\n", gone_py="g\nmore\n")
    start = workspace.look()
    added = "*** Begin Patch\n*** Add File: new.py\n+x\n*** End Patch"
    await refused(call("patch", patch=added), "logic", "new.py is there already (line 2 of the patch adds it)")
    removed = (
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n"
    )
    await refused(call("patch", patch=removed), "invalid", "gone.py has more lines than line")
    assert workspace.look() == start


async def test_moving_and_removing_take_directories_along(call, workspace):
    workspace.write(a__b_txt="b", a__c__d_txt="d", e_txt="e")
    (workspace.path / "a/link").symlink_to("b.txt")
    (workspace.path / "a/c").chmod(0o700)
    start = workspace.look()
    moved = await given(call("move", moves=[{"path": "a", "to": "x/y"}, {"path": "e.txt", "to": "a2/f.txt"}]))
    after = workspace.look()
    assert set(after) == {"x", "x/y", "x/y/b.txt", "x/y/c", "x/y/c/d.txt", "x/y/link", "a2", "a2/f.txt"}
    assert after["x/y/c"] == start["a/c"]
    assert after["x/y/link"] == ("link", "b.txt")
    await refused(call("move", moves=[{"path": "a2/f.txt", "to": "x/y/b.txt"}]), "logic", "already")
    await refused(call("move", moves=[{"path": "x", "to": "x/z"}]), "invalid", "inside")
    removed = await given(call("delete", paths=["x"]))
    assert set(workspace.look()) == {"a2", "a2/f.txt"}
    await given(call("delete", by="undo", output=removed, paths=["x"]))
    assert workspace.look() == after
    await given(call("move", by="undo", output=moved, moves=[{"path": "a", "to": "b"}]))
    assert workspace.look() == start


# ------------------------------------------------------------------------------- refusing


async def test_files_that_others_share_or_that_are_none_are_left_alone(call, workspace):
    workspace["a"] = b"a"
    (workspace.path / "b").hardlink_to(workspace.path / "a")
    os.mkfifo(workspace.path / "pipe")
    (workspace.path / "link").symlink_to("a")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(workspace.path / "sock"))
    (workspace.path / "d").mkdir()
    (workspace.path / "etc").symlink_to("/etc")
    await refused(call("write", path="a", text="x"), "denied", "2 names")
    await refused(call("write", path="pipe", text="x"), "denied", "pipe")
    await refused(call("write", path="sock", text="x"), "denied", "socket")
    await refused(call("write", path="link", text="x"), "invalid", "link")
    await refused(call("write", path="d", text="x"), "invalid", "directory")
    await refused(call("write", path="a/x", text="x"), "invalid", "a is a file")
    await refused(call("write", path="etc/passwd", text="x"), "denied", "etc -> /etc")
    await refused(call("read", path="etc/passwd"), "denied", "etc -> /etc")
    await refused(call("read", path="link"), "invalid", "a link to a")
    await refused(call("read", path="pipe"), "invalid", "pipe")
    told = "is a pipe; these stay as they are, because nothing brings them back: remove it yourself, or leave it"
    await refused(call("list", path="pipe"), "invalid", f"pipe {told}")
    await refused(call("search", text="x", path="pipe"), "invalid", f"pipe {told}")
    await refused(call("delete", paths=["pipe"]), "invalid", f"pipe {told}")
    await refused(call("move", moves=[{"path": "sock", "to": "d/sock"}]), "invalid", "sock is a socket; these stay")


def grown(path, size):
    """A file of so many bytes, which takes no room."""
    with path.open("wb") as file:
        file.truncate(size)


async def test_what_is_too_large_is_refused_before_it_is_read(call, workspace):
    grown(workspace.path / "large", 257 * 1024 * 1024)
    grown(workspace.path / "long", 10_000_001)
    await refused(call("read", path="large"), "invalid", "269,484,032 bytes, 33,554,432 are the most that is read")
    await refused(call("write", path="large", text="x"), "invalid", "268,435,456 are the most")
    edits = [{"path": "long", "old": "a", "new": "b"}]
    await refused(call("edit", edits=edits), "invalid", "10,000,000 are the most for a text")


async def test_a_directory_deeper_than_is_walked_is_not_taken_in_part(call, workspace):
    deep = workspace.path.joinpath(*["d"] * 70)
    deep.mkdir(parents=True)
    (deep / "f").write_bytes(b"x")
    start = workspace.look()
    await refused(call("delete", paths=["d"]), "invalid", "d holds more than one step can take")
    await refused(call("move", moves=[{"path": "d", "to": "e"}]), "invalid", "d holds more than one step can take")
    assert workspace.look() == start


async def test_a_file_too_long_to_be_shown_is_told_by_its_size(call, workspace):
    grown(workspace.path / "f", 1_000_001)
    output = await given(call("delete", paths=["f"]))
    assert "Binary files differ: 1,000,001 bytes" in output["diff"]


async def test_a_text_that_would_not_come_back_as_it_was_is_refused(call, workspace):
    workspace["zero"] = b"a\0b"
    workspace["iso"] = "grün\n".encode("latin-1")
    workspace["big5"] = b"\xa1\xfe\n"
    edits = [{"path": "zero", "old": "a", "new": "b"}]
    await refused(call("edit", edits=edits), "invalid", "there is a zero at letter 1")
    edits = [{"path": "big5", "old": "a", "new": "b"}]
    await refused(call("edit", edits=edits, encoding="big5"), "invalid", "would not come back the same from big5")
    edits = [{"path": "iso", "old": "ü", "new": "€"}]
    await refused(call("edit", edits=edits, encoding="latin-1"), "invalid", "'€' has no form in latin-1")
    await refused(call("write", path="f", base64="no base!"), "invalid", "base64: ")


async def test_protected_names_are_denied_or_asked_about(call, workspace):
    workspace.write(_env="KEY=1\n")
    await refused(call("write", path=".git/config", text="x"), "denied", "version control")
    await refused(call("write", path="sub/.GIT/hooks/pre-commit", text="x"), "denied")
    await refused(
        call("write", path=".git", text="x", layers=[Layer("user", files_write=Terms(allow=(".git/**",)))]), "denied"
    )
    asked = await call("write", path=".github/workflows/ci.yml", text="on: push\n")
    assert asked.approval is not None
    assert "+on: push" in asked.approval.text
    assert not (workspace.path / ".github").exists()
    agreed = await call("write", path=".github/workflows/ci.yml", text="on: push\n", approved=[asked.approval.digest])
    assert agreed.failure is None, agreed.failure
    assert agreed.approval is None
    assert (await call("read", path=".env")).approval is not None
    assert (await given(call("search", text="KEY")))["matches"] == []
    named = Layer("user", files_read=Terms(allow=(".env", "**")), files_write=Terms(allow=(".env*", "**")))
    assert (await given(call("read", path=".env", layers=[named])))["text"] == "KEY=1\n"
    await given(call("write", path=".env", text="KEY=2\n", layers=[named]))


async def test_the_policy_judges_each_path_and_the_question_shows_the_diff(call, workspace):
    workspace.write(src__a_py="a\n", docs__b_md="b\n")
    rules = Layer("user", files_write=Terms(allow=("src/**",), ask=("src/a.py",)))
    edits = [{"path": "src/a.py", "old": "a", "new": "A"}]
    await refused(
        call("edit", layers=[rules], edits=[*edits, {"path": "docs/b.md", "old": "b", "new": "B"}]),
        "denied",
        "docs/b.md",
    )
    asked = await call("edit", layers=[rules], edits=edits)
    assert "-a\n+A" in asked.approval.text
    assert workspace["src/a.py"] == b"a\n"
    workspace["src/a.py"] = b"a\nmore\n"
    again = await call("edit", layers=[rules], edits=edits, approved=[asked.approval.digest])
    assert again.approval is not None, "the change is another one now"
    output = await given(call("edit", layers=[rules], edits=edits, approved=[again.approval.digest]))
    assert workspace["src/a.py"] == b"A\nmore\n"
    reads = Layer("user", files_read=Terms(deny=("src/**",)))
    await refused(call("edit", layers=[reads], edits=edits), "denied", "read src/a.py")
    await given(call("edit", by="undo", layers=[rules], output=output, edits=edits))
    assert workspace["src/a.py"] == b"a\nmore\n"


async def test_what_belongs_to_the_engine_is_out_of_reach(tmp_path, workspace):
    from perdure.tools.hands import Hands

    state = workspace.path / "var/state"
    state.mkdir(parents=True, mode=0o700)
    workspace["runs.db"] = b"journal"
    performer = ToolPerformer(HANDS, hands=Hands(workspace.path, state, private=(workspace.path / "runs.db",)))
    for path in ("var/state/changes/lock", "var/state", "runs.db"):
        for name in ("write", "read"):
            call = Call("tool", f"files.{name}", {"path": path} | ({"text": "x"} if name == "write" else {}))
            outcome = await performer.perform(Attempt("r", "s", 1, 1, f"{path}{name}", call))
            assert outcome.failure.kind == "denied", (path, name, outcome)
    assert workspace["runs.db"] == b"journal"


# ------------------------------------------------------------------------------- looking


async def test_reading_gives_lines_and_says_what_they_are(call, workspace):
    workspace["f"] = b"\xef\xbb\xbfa\r\nb\r\nc"
    whole = await given(call("read", path="f"))
    assert (whole["text"], whole["lines"], whole["newlines"], whole["mark"], whole["more"]) == (
        "a\nb\nc",
        3,
        "crlf",
        True,
        False,
    )
    some = await given(call("read", path="f", first=2, lines=1))
    assert (some["text"], some["more"]) == ("b\n", True)
    await refused(call("read", path="f", first=4), "invalid", "has 3")
    assert base64.b64decode((await given(call("read", path="f", binary=True)))["base64"]) == workspace["f"]
    workspace["g"] = b""
    assert (await given(call("read", path="g")))["text"] == ""


async def test_listing_and_searching_stay_inside_and_within_bounds(call, workspace, tmp_path):
    (tmp_path / "outside.txt").write_text("needle\n")
    workspace.write(src__a_py="x\nNeedle here\n", src__b_txt="needle\r\n", c_md="none\n", _git__config="needle\n")
    workspace["bin"] = b"\xff\x00needle"
    (workspace.path / "out").symlink_to(tmp_path)
    os.mkfifo(workspace.path / "pipe")
    os.close(os.open(os.fsencode(workspace.path) + b"/bad\xff", os.O_CREAT))
    listed = await given(call("list"))
    assert [each["path"] for each in listed["entries"]] == [
        ".git",
        "bin",
        "c.md",
        "out",
        "pipe",
        "src",
        "src/a.py",
        "src/b.txt",
    ]
    assert [each["path"] for each in (await given(call("list", glob="**/*.py")))["entries"]] == ["src/a.py"]
    assert (await given(call("list", most=2)))["more"] is True
    assert [each["path"] for each in (await given(call("list", path="src")))["entries"]] == ["src/a.py", "src/b.txt"]
    found = await given(call("search", text="needle"))
    assert found["matches"] == [{"path": "src/b.txt", "line": 1, "text": "needle"}]
    both = await given(call("search", text="needle", any_case=True, glob="src/*"))
    assert [each["line"] for each in both["matches"]] == [2, 1]
    assert (await given(call("search", text="e", most=1)))["more"] is True
    rules = Layer("user", files_read=Terms(deny=("src/**",)))
    hidden = await given(call("list", layers=[rules]))
    assert not [each for each in hidden["entries"] if each["path"].startswith("src")]
    assert hidden["withheld"] > 0
    await refused(call("list", path="out"), "invalid", "no directory")
    await refused(call("list", path="nowhere"), "invalid", "no directory")


async def test_a_write_that_does_not_say_what_leaves_the_file_as_it_is(call, workspace):
    workspace.write(a_txt="precious\n")
    await refused(call("write", path="a.txt"), "invalid", "`text` or `base64`")
    await refused(call("write", path="a.txt", text="x", base64="eA=="), "invalid", "both")
    assert (workspace.path / "a.txt").read_text() == "precious\n"
    await given(call("write", path="a.txt", text=""))
    assert (workspace.path / "a.txt").read_bytes() == b""


@pytest.mark.parametrize("name", [b"two\nlines.txt", b"bell\x07.txt", b"caf\xe9.txt"])
async def test_a_name_that_cannot_be_written_plainly_counts_as_withheld(name, call, workspace):
    workspace.write(a_txt="needle\n")
    (workspace.path / os.fsdecode(name)).write_text("needle\n")
    listed = await given(call("list"))
    assert ([each["path"] for each in listed["entries"]], listed["withheld"]) == (["a.txt"], 1)
    found = await given(call("search", text="needle"))
    assert ([each["path"] for each in found["matches"]], found["withheld"]) == (["a.txt"], 1)

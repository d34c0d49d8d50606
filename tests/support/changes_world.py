"""A workspace for tests of changes: made, looked at, and worked on by processes that are killed."""

import os
import signal
import sys
from pathlib import Path

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools.builtin.files import patch
from perdure.tools.changes import take_back
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.hands import Hands

START = {"a.txt": b"one\ntwo\nthree\n", "b.txt": b"gone\n", "c.txt": b"\xef\xbb\xbfx\r\ny\r\n", "d/e.txt": b"stays\n"}
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+TWO
*** Delete File: b.txt
*** Update File: c.txt
*** Move to: moved/c.txt
@@
-y
+z
*** Add File: new/deep/f.txt
+f
*** End Patch
"""


def hands_at(place):
    """A workspace, and the engine's own place beside it."""
    workspace, state = Path(place) / "workspace", Path(place) / "state"
    workspace.mkdir(exist_ok=True, parents=True)
    state.mkdir(mode=0o700, exist_ok=True)
    return Hands(workspace, state)


def context_of(hands, key="key", layers=(), approved=(), run="r_1"):
    call = Call("tool", "files.patch", {})
    attempt = Attempt(run, "step", 1, 1, key, call, layers=tuple(layers), approved=frozenset(approved))
    return Context(attempt, hands=hands)


class Folder:
    """A directory as a mapping: what is in it, with modes and links, so that two looks can be compared."""

    def __init__(self, path):
        self.path = path

    def write(self, **files):
        for name, data in files.items():
            self[name.replace("__", "/").replace("_", ".")] = data

    def __setitem__(self, name, data):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def __getitem__(self, name):
        return (self.path / name).read_bytes()

    def look(self):
        return {str(each.relative_to(self.path)): seen(each) for each in sorted(self.path.rglob("*"))}


def seen(path):
    if path.is_symlink():
        return ("link", str(path.readlink()))
    mode = oct(path.stat().st_mode & 0o7777)
    return ("directory", mode) if path.is_dir() else ("file", mode, path.read_bytes())


def begin(place):
    """The files that the patch is about."""
    hands = hands_at(place)
    folder = Folder(hands.workspace)
    for name, data in START.items():
        folder[name] = data
    (hands.workspace / "a.txt").chmod(0o750)
    return folder


def do(place):
    """Apply the patch, under one key."""
    return patch.function(PATCH, context_of(hands_at(place)))


def undo(place):
    """Apply the patch, and take it back."""
    return take_back(context_of(hands_at(place), "undo"), do(place))


def attempt(place):
    """Apply the patch where a system call fails; what was said goes into a file."""
    try:
        do(place)
        told = "done"
    except ToolFailure as failure:
        told = failure.failure.kind
    (place / "told").write_text(told)


def victim(pipe, work, *arguments):
    """Wait for a word, then work. Other processes may trace this one."""
    import ctypes

    ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER, for who forbids it by default
    signal.signal(signal.SIGURG, signal.SIG_DFL)
    pipe.send(os.getpid())
    pipe.recv()
    work(*arguments)
    sys.exit(0)

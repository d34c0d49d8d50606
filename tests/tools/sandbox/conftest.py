import errno
import os
import stat
from pathlib import Path

import pytest

from perdure.tools.changes import tree
from perdure.tools.hands import Hands


@pytest.fixture
def hands(tmp_path):
    """A workspace with a few things in it, and a place for the engine beside it."""
    workspace = Path(tmp_path.resolve(), "ws")
    for name in ("", "src", ".git"):
        (workspace / name).mkdir()
    (workspace / "a.txt").write_text("one\n")
    (workspace / "src" / "b.txt").write_text("two\n")
    (workspace / ".git" / "HEAD").write_text("ref\n")
    state = workspace.parent / "state"
    state.mkdir(mode=0o700)
    return Hands(workspace, state)


@pytest.fixture
def mere_user(monkeypatch):
    """To open what its owner may not read is refused, as it is for all but the root user."""
    real, beneath = os.open, tree.open_beneath

    def refused(descriptor, name):
        if os.fstat(descriptor).st_mode & stat.S_IRUSR:
            return descriptor
        os.close(descriptor)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    monkeypatch.setattr(os, "open", lambda name, *given, **named: refused(real(name, *given, **named), name))
    monkeypatch.setattr(tree, "open_beneath", lambda at, name, flags: refused(beneath(at, name, flags), name))

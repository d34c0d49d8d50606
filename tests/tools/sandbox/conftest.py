from pathlib import Path

import pytest

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

import os
from pathlib import Path

import pytest

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools.context import Context
from perdure.tools.hands import Hands


@pytest.fixture
def volume():
    """How often a campaign tries: the first number in CI, the second one in a soak."""
    return lambda quick, soak: soak if os.environ.get("PERDURE_VOLUME") == "soak" else quick


@pytest.fixture
def hands(tmp_path):
    """A workspace, and the engine's own place beside it."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    return Hands(tmp_path / "workspace", tmp_path / "state")


@pytest.fixture
def workspace(hands):
    return Folder(hands.workspace)


@pytest.fixture
def context(hands):
    """A context under a key; with rules, and with what people have agreed to."""
    return lambda key="key", layers=(), approved=(): context_of(hands, key, layers, approved)


def context_of(hands, key="key", layers=(), approved=()):
    attempt = Attempt("r_1", "step", 1, 1, key, Call("tool", "files.edit", {}), layers=tuple(layers), approved=frozenset(approved))  # fmt: skip
    return Context(attempt, hands=hands)


class Folder:
    """A directory as a mapping: what is in it, with modes and links, so that two looks can be compared."""

    def __init__(self, path: Path) -> None:
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
        return {str(each.relative_to(self.path)): _seen(each) for each in sorted(self.path.rglob("*"))}


def _seen(path: Path):
    if path.is_symlink():
        return ("link", str(path.readlink()))
    mode = oct(path.stat().st_mode & 0o7777)
    return ("directory", mode) if path.is_dir() else ("file", mode, path.read_bytes())

import multiprocessing
import os
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path
from types import ModuleType

import changes_world
import pytest
from changes_world import Folder, context_of, hands_at


@pytest.fixture
def hands(tmp_path):
    return hands_at(tmp_path)


@pytest.fixture
def workspace(hands):
    return Folder(hands.workspace)


@pytest.fixture
def context(hands):
    """A context under a key; with rules, and with what people have agreed to."""
    return lambda key="key", **rules: context_of(hands, key, **rules)


@pytest.fixture
def processes(forked, monkeypatch):
    """Processes that have imported everything already."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    return forked


@pytest.fixture(scope="session")
def forked():
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["changes_steps"])
    with pytest.MonkeyPatch.context() as patch:
        support = Path(changes_world.__file__).parent
        patch.setenv("PYTHONPATH", os.pathsep.join([str(support), *sys.path]))
        forkserver.ensure_running()
    return found


@pytest.fixture
def memory(tmp_path):
    """A place where syncing costs nothing, for those who race and do not pull the plug."""
    if not os.access("/dev/shm", os.W_OK):  # noqa: S108
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        yield Path(place)

import multiprocessing
import sys
from multiprocessing import forkserver
from pathlib import Path
from types import ModuleType

import message_victim
import pytest
from message_scene import Victim


@pytest.fixture(scope="session")
def processes():
    """Processes that have imported everything already."""
    context = multiprocessing.get_context("forkserver")
    victims = ["engine_victim", "message_victim", "agent_scenes", "adapted_victim", "branch_scene", "checkout_scene"]
    context.set_forkserver_preload(victims)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(message_victim.__file__).parent))
        patch.setenv("PERDURE_TEST_WARM", "1")
        forkserver.ensure_running()
    return context


@pytest.fixture
def begin(processes, monkeypatch):
    """Begin one; it is ended with the test, if it was not killed before."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    begun = []

    def one(target, *args):
        begun.append(Victim(processes, target, args))
        return begun[-1]

    yield one
    for each in begun:
        each.kill()

import sys
from types import ModuleType

import pytest
from message_scene import Victim


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

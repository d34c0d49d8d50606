"""The lock of a journal: held by one, let go of by the dead, and not blamed on what they have started."""

import os
import subprocess
import sys
import time

import pytest

from perdure.journal import lock
from perdure.journal.lock import FileLock
from perdure.ports import Locked

DYING = """
import os, sys, time
from pathlib import Path
from perdure.journal.lock import FileLock
held = FileLock(Path(sys.argv[1]))
if os.fork() == 0:  # killed between its fork and the other program, it leaves this one behind
    time.sleep(float(sys.argv[2]))
os._exit(0)
"""


def die_holding(path, seconds):
    """A process that is gone, and something it has started that holds its descriptors for a while."""
    subprocess.run([sys.executable, "-c", DYING, str(path), str(seconds)], check=True)


def test_what_the_dead_have_started_is_waited_for(tmp_path):
    path = tmp_path / "runs.db.lock"
    die_holding(path, 0.5)
    FileLock(path).release()


def test_but_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "LINGERING", 0.1)
    path = tmp_path / "runs.db.lock"
    die_holding(path, 3)
    with pytest.raises(Locked, match="is written by process"):
        FileLock(path)


def test_the_living_are_not_waited_for(tmp_path):
    path = tmp_path / "runs.db.lock"
    held = FileLock(path)
    began = time.monotonic()
    with pytest.raises(Locked, match=f"process {os.getpid()} "):
        FileLock(path)
    assert time.monotonic() - began < lock.LINGERING / 2
    held.release()


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": "x", "host": "h"}', '{"pid": 99999999999999999999}'])
def test_an_odd_note_harms_nobody(tmp_path, note):
    path = tmp_path / "runs.db.lock"
    path.write_text(note)
    FileLock(path).release()

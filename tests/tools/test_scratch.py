"""Directories for a while: gone after a normal end, and after any other end when the next one is made."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from perdure.tools.scratch import OURS, held, left_in, remove, scratch, size_of, sweep

HOLD = """
import sys, time
from perdure.tools.scratch import scratch
with scratch() as place:
    (place / "secret").write_text("hush")
    print(place, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temp(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_it_is_private_and_gone_afterwards(temp):
    with scratch() as place:
        assert (place.parent, place.stat().st_mode & 0o777) == (temp, 0o700)
        (place / "a").mkdir()
    with pytest.raises(ZeroDivisionError), scratch():
        1 / 0  # noqa: B018
    assert list(temp.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(temp):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temp)}
    )
    left = temp / process.stdout.readline().strip()
    with scratch():
        assert (left / "secret").exists(), "its owner lives"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert list(left_in(temp, OURS)) == [left]
    with scratch():
        assert not left.exists()


def test_nothing_else_is_touched_there(temp):
    for name in ("perdure-notes", "perdure-0123456789abcdeg", "0123456789abcdef", "perdure-0123456789abcdef.old"):
        (temp / name).mkdir(mode=0o700)
    (temp / "perdure-00000000000000aa").write_text("a file")
    (temp / "perdure-00000000000000bb").symlink_to(temp / "perdure-notes")
    (temp / "perdure-00000000000000cc").mkdir()
    (temp / "perdure-00000000000000cc").chmod(0o755)
    before = sorted(temp.iterdir())
    with scratch():
        pass
    assert sorted(temp.iterdir()) == before


def test_who_makes_and_who_sweeps_do_not_meet(tmp_path):
    """What was made and is not held yet looks like something left."""
    failed = []

    def make():
        try:
            for _ in range(100):
                with held(tmp_path) as place:
                    (place / "x").mkdir()
        except OSError as error:
            failed.append(error)

    makers = [threading.Thread(target=make) for _ in range(3)]
    for each in makers:
        each.start()
    while any(each.is_alive() for each in makers):
        sweep(tmp_path)
    assert (failed, list(tmp_path.iterdir())) == ([], [])


def test_deep_and_locked_trees_are_removed(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    dig = "import os\nfor n in range(1500): os.mkdir('x'); os.chdir('x')\nos.mkdir('z'); open('z/f', 'w'); os.chmod('z', 0)"
    subprocess.run(["/usr/bin/env", "python3", "-c", dig], cwd=top, check=True)
    (top / "link").symlink_to(tmp_path)
    assert size_of(top) > 0
    remove(top)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("done", range(4))
def test_a_removal_that_was_killed_is_finished(done, tmp_path, monkeypatch):
    """What it had drawn up to the top must not be in the way of the next one."""
    for name in ("a/b/c", "d/e/f"):
        (tmp_path / "top" / name).mkdir(parents=True)
        (tmp_path / "top" / name / "file").write_text("x")
    left = iter(range(done))

    def killed(path, real=Path.rmdir):
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rmdir", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(tmp_path / "top")
    remove(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []

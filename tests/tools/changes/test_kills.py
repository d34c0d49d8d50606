"""SIGKILL at each system call that could write: what was begun is gone on with, and comes to the same end (R2).

E10, E18.
"""

import signal
from collections import Counter

import changes_world
import pytest
from changes_traced import Traced, points
from changes_world import begin, do, undo

SCENES = {"do": do, "undo": undo}
WEAK = "-einject=renameat2:error=EINVAL"
FLOOR = 60


@pytest.mark.campaign("a kill at each system call that changes files", "I2 I9", of="kills")
@pytest.mark.parametrize("case", [(scene, weak) for scene in SCENES for weak in (False, True)], ids=str)
def test_killed_at_any_system_call_it_comes_to_the_same_end(case, strace, processes, tmp_path, trials):
    scene, weak = case
    work, options = SCENES[scene], [WEAK] if weak else []
    found = points(strace, processes, tmp_path, work, *options)
    assert len(found) >= FLOOR, Counter(name for name, _ in found)
    wanted = changes_world.Folder(tmp_path / "whole/workspace").look()
    outputs = work(tmp_path / "whole")
    assert outputs.get("weak_guard", False) is weak
    for name, n in trials.among(found, len(found) // 24 + 1):
        place = tmp_path / f"{name}-{n}"
        folder = begin(place)
        start = folder.look()
        kill = f"-einject={name}:signal=KILL:when={n}" if not (weak and name == "renameat2") else f"-einject=renameat2:error=EINVAL:signal=KILL:when={n}"  # fmt: skip
        code, told = Traced(strace, processes, *options, kill).run(work, place)
        assert code == -signal.SIGKILL, (name, n, told[-500:])
        assert_each_before_or_after(folder.look(), start, wanted if scene == "do" else start)
        assert work(place) | {"weak_guard": True} == outputs | {"weak_guard": True}, (name, n)
        assert folder.look() == wanted, (name, n)
        assert work(place)["set"] == outputs["set"]


def assert_each_before_or_after(now, start, wanted):
    """I9: whatever moment it was, each file is one of the two, and no byte is in between."""
    patched = {"a.txt": b"one\nTWO\nthree\n", "moved/c.txt": b"\xef\xbb\xbfx\r\nz\r\n", "new/deep/f.txt": b"f\n"}
    for name, (kind, *what) in now.items():
        ours = name.rpartition("/")[2].startswith(".perdure-")
        if kind == "file" and not ours:
            allowed = [each[-1] for each in (start.get(name), wanted.get(name)) if each] + [patched.get(name)]
            assert what[-1] in allowed, (name, what)

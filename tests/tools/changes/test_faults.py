"""Disks that are full or broken: the set is whole, or nothing of it is there, or it is said what stands where (R11)."""

import pytest
from changes_traced import Traced, points
from changes_world import attempt, begin, do

FAILING = ("write", "fsync", "renameat2", "openat", "mkdir", "mkdirat", "fchmod", "unlinkat")


@pytest.mark.campaign("system calls that fail while files are changed", "I9", of="failing calls")
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_fault_leaves_all_or_nothing(error, strace, processes, tmp_path, trials):
    found = [each for each in points(strace, processes, tmp_path, attempt) if each[0] in FAILING]
    heard = set()
    for name, n in trials.among(found, len(found) // 12 + 1):
        place = tmp_path / f"{name}-{n}"
        folder = begin(place)
        start = folder.look()
        Traced(strace, processes, f"-einject={name}:error={error}:when={n}").run(attempt, place)
        told = (place / "told").read_text() if (place / "told").exists() else "unknown"
        heard.add(told)
        now = folder.look()
        assert told in ("done", "unavailable", "in_doubt", "unknown"), (name, n, told)
        if told == "unavailable":
            assert now == start, (name, n, told)
        do(place)
        after = folder.look()
        assert set(after) == {"a.txt", "d", "d/e.txt", "moved", "moved/c.txt", "new", "new/deep", "new/deep/f.txt"}, (
            name,
            n,
            told,
        )
        assert after["a.txt"] == ("file", "0o750", b"one\nTWO\nthree\n")
    assert "unavailable" in heard or not trials.suffice, heard

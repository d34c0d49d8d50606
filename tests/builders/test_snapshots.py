"""E22: two looks at a directory tell every difference, so that "untouched" means untouched."""

import os

import pytest
from repositories import contents, project
from snapshots import difference, snapshot

DEEDS = {
    "a byte": (lambda p: (p / "calc.py").write_text("x"), {"calc.py": "content, time"}),
    "the same bytes": (lambda p: (p / "calc.py").write_bytes((p / "calc.py").read_bytes()), {"calc.py": "time"}),
    "a mode": (lambda p: (p / "calc.py").chmod(0o755), {"calc.py": "mode"}),
    "a file": (lambda p: (p / "new").write_text(""), {".": "time", "new": "new"}),
    "a file for a moment": (lambda p: ((p / "new").write_text(""), (p / "new").unlink()), {".": "time"}),
    "a link": (lambda p: (p / "new").symlink_to("calc.py"), {".": "time", "new": "new"}),
    "a deletion": (lambda p: (p / "calc.py").unlink(), {".": "time", "calc.py": "gone"}),
    "a directory": (lambda p: (p / "new").mkdir(), {".": "time", "new": "new"}),
    "a ref": (lambda p: (p / ".git/refs/heads/x").write_text(""), {".git/refs/heads/x": "new"}),
    "a lock of git": (lambda p: ((p / ".git/x.lock").write_text(""), (p / ".git/x.lock").unlink()), {}),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_snapshot_misses_nothing(deed, tmp_path):
    place = project(tmp_path / "project")
    do, expected = DEEDS[deed]
    before = snapshot(place)
    do(place)
    assert difference(before, snapshot(place)) == expected


def test_a_snapshot_tells_times_in_git_if_asked(tmp_path):
    place = project(tmp_path / "project")
    before = snapshot(place, git_times=True)
    os.utime(place / ".git/HEAD", (1, 1))
    assert difference(before, snapshot(place, git_times=True)) == {".git/HEAD": "time"}


def test_a_snapshot_sees_a_byte_in_a_huge_file(tmp_path):
    place = contents.huge_files(tmp_path / "project")
    before = snapshot(place, times=False)
    with (place / "huge.img").open("r+b") as file:
        file.seek(contents.HUGE // 2)
        file.write(b"x")
    assert difference(before, snapshot(place, times=False)) == {"huge.img": "content"}

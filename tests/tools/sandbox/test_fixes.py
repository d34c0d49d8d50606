"""S14: where there is no sandbox it is said what is missing, and what to do about it."""

import sys

import pytest

from perdure.tools.sandbox import fixes
from perdure.tools.sandbox.fixes import fix_for, missing


def test_nothing_is_missing_where_everything_is_there(monkeypatch, tmp_path):
    (tmp_path / "bwrap").touch()
    monkeypatch.setattr(fixes, "BWRAP", str(tmp_path / "bwrap"))
    monkeypatch.setattr(fixes, "is_known", lambda: True)
    monkeypatch.setattr(fixes, "version", lambda: fixes.LEAST)
    assert [missing(tier) for tier in ("bwrap", "landlock", "none")] == [None, None, None]


@pytest.mark.parametrize(
    ("tier", "given", "said", "way"),
    [
        ("bwrap", (sys, "platform", "darwin"), "there is no sandbox for darwin", "on Linux"),
        ("none", (fixes, "is_known", lambda: False), "no filter of system calls", "x86_64 or aarch64"),
        ("landlock", (fixes, "version", lambda: 2), "the kernel has Landlock 2", "Linux 6.12"),
        ("bwrap", (fixes, "BWRAP", "/nowhere/bwrap"), "not at /nowhere/bwrap", "apt install bubblewrap"),
    ],
)
def test_what_is_missing_is_named_with_the_way_out(monkeypatch, tier, given, said, way):
    monkeypatch.setattr(*given)
    told, fix = missing(tier)
    assert said in told
    assert way in fix


@pytest.mark.parametrize(("name", "value", "fix"), fixes._BLOCKED, ids=lambda each: each[:24])
def test_who_keeps_user_namespaces_from_us_is_found(monkeypatch, tmp_path, name, value, fix):
    monkeypatch.setattr(fixes, "_SYSCTL", tmp_path)
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(f"{value}\n")
    assert fix_for("bwrap: No permissions to create new namespace") == fix
    (tmp_path / name).write_text("77\n")
    assert "start a container" in fix_for("bwrap: setting up uid map: Permission denied")


def test_what_bubblewrap_says_has_an_answer():
    assert "0.8 or later" in fix_for("bwrap: Unknown option --disable-userns")
    assert "systempaths=unconfined" in fix_for("bwrap: Can't mount proc: mounting proc failed")
    assert fix_for("bwrap: something new").startswith("do not run commands here before this is mended")

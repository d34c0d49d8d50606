"""S4: of the machine, a server sees its program and what that needs, and as little else as possible."""

import os
import sys
from pathlib import Path

import pytest

from perdure.tools.mcp.toolchain import INSIDE, toolchain_of

PATH = os.environ["PATH"]


def program(path, text="#!/bin/sh\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_of_the_system_s_own_programs_nothing_more_is_needed():
    found = toolchain_of(("sh", "-c", "true"), "/usr/bin:/bin")
    assert (found.seen, found.path, found.argv[1:]) == ((), INSIDE, ("-c", "true"))


def test_a_program_by_itself_is_seen_by_itself(tmp_path):
    tool = program(tmp_path / "tool")
    (tmp_path / "secret").write_text("x")
    assert toolchain_of((str(tool),), PATH).seen == (tool,)


def test_a_program_of_a_home_does_not_show_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".local" / "lib").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    for tool in (program(tmp_path / ".local" / "bin" / "tool"), program(tmp_path / "bin" / "tool")):
        assert toolchain_of((str(tool),), PATH).seen == (tool,)


def test_an_interpreter_comes_with_its_library_and_is_found_inside(tmp_path):
    (tmp_path / "node" / "lib").mkdir(parents=True)
    node = program(tmp_path / "node" / "bin" / "node")
    script = program(tmp_path / "app" / "node_modules" / "server" / "index.js", "#!/usr/bin/env node\n")
    found = toolchain_of((str(script),), f"{node.parent}:{PATH}")
    assert found.seen == (tmp_path / "app" / "node_modules", tmp_path / "node")
    assert found.path.startswith(f"{node.parent}:")


def test_an_environment_of_python_comes_with_the_python_it_is_made_of(tmp_path):
    venv = tmp_path / "venv"
    base = Path(getattr(sys, "_base_executable", None) or sys.executable)
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("")
    (venv / "bin" / "python").symlink_to(base)
    tool = program(venv / "bin" / "tool", f"#!{venv}/bin/python\n")
    seen = toolchain_of((str(tool),), PATH).seen
    assert venv in seen
    assert any(base.resolve().is_relative_to(each) for each in (*seen, Path("/usr")))


def test_a_script_that_is_an_argument_is_seen_and_a_directory_is_not(tmp_path):
    script = program(tmp_path / "server.py", "")
    assert toolchain_of(("sh", str(script), str(tmp_path), "relative"), "/bin:/usr/bin").seen == (script,)


def test_links_that_go_in_circles_end(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        toolchain_of((str(tmp_path / "a"),), PATH)


def test_a_program_that_is_not_there_is_told():
    with pytest.raises(FileNotFoundError, match="there is no program 'nowhere'"):
        toolchain_of(("nowhere",), PATH)

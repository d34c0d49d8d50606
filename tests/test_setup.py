"""A machine that lacks something: what `make` needs is told in one message, and in CI nothing is left out in silence.

The machine is a path with a few programs in it; what nobody has put there is not there.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import sandbox_here

from perdure.tools.sandbox import fixes, probes, root

ROOT = Path(__file__).parents[1]
FEW = ("bash", "env", "dirname", "id", "make")
NODE = "echo v20.19.2"
ALL = ("git", "bwrap", "strace", "node", "npm", "chromium", "prometheus")


@pytest.fixture
def machine(tmp_path):
    """Calls a program on a machine that has a Python with venv, the usual few programs, and those that are named."""
    place = tmp_path / "bin"
    place.mkdir()

    def call(*words, has=(), python="", user="1000", apt="", **more):
        for name in FEW:
            (place / name).symlink_to(shutil.which(name))
        for name in has:
            stand_in(place / name, NODE if name == "node" else "exit 0")
        stand_in(place / "python3", python or "exit 0")
        stand_in(place / "id", f"echo {user}")
        if apt:
            stand_in(place / "apt-get", apt)
        environment = {"PATH": str(place), "HOME": str(tmp_path), **more}
        return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    return call


def stand_in(place, script):
    place.unlink(missing_ok=True)
    place.write_text(f"#!/bin/bash\n{script}\n")
    place.chmod(0o755)


def test_where_all_is_there_nothing_is_said(machine):
    done = machine("scripts/parts", "test", has=ALL, CI="true")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_demo_needs_no_more_than_it_takes(machine):
    done = machine("scripts/parts", "demo", has=("git", "bwrap"), CI="true")
    assert (done.returncode, done.stderr) == (0, "")


def test_all_that_is_missing_is_told_at_once(machine):
    done = machine("scripts/parts", "demo", python="[[ $2 = *venv* ]] && exit 1 || exit 0")
    assert done.returncode == 1
    assert done.stderr == (
        "To go on, make demo needs:\n"
        "  python3-venv making .venv\n"
        "  git          the git tools\n"
        "  bubblewrap   the sandbox\n"
        "Debian and Ubuntu: apt-get install python3-venv git bubblewrap\n"
    )


def test_a_python_that_is_too_old_is_told_with_which_would_do(machine):
    done = machine("scripts/setup", has=ALL, python="exit 1")
    assert done.returncode == 1
    assert "python3      Python 3.11 to 3.14, on the path or named by PYTHON\n" in done.stderr
    assert "Making" not in done.stderr


def test_another_python_can_be_named(machine, tmp_path):
    stand_in(tmp_path / "mine", "exit 0")
    done = machine("scripts/python", python="exit 1", PYTHON=str(tmp_path / "mine"))
    assert done.stdout == f"{tmp_path}/mine\n"


def test_a_node_that_is_too_old_is_as_good_as_none(machine, tmp_path):
    stand_in(tmp_path / "bin" / "node", "echo v18.20.4")
    done = machine("scripts/parts", "test", has=sorted({*ALL} - {"node"}), CI="true")
    assert done.stderr.endswith("apt-get install nodejs\n")


def test_what_only_tests_want_is_told_and_left_out(machine):
    done = machine("scripts/parts", "test", has=("git", "bwrap"))
    assert done.returncode == 0
    assert done.stderr == (
        "Not here, and make test goes on without it:\n"
        "  strace       tests that kill at every system call (optional)\n"
        "  nodejs       Node 20 or newer, for tests with real MCP servers (optional)\n"
        "  npm          tests with real MCP servers (optional)\n"
        "  chromium     tests of the web page in a browser (optional)\n"
        "  prometheus   tests with a real Prometheus (optional)\n"
        "Debian and Ubuntu: apt-get install strace nodejs npm chromium prometheus\n"
    )


@pytest.mark.parametrize(
    ("absent", "package"),
    [("strace", "strace"), ("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium"), ("prometheus", "prometheus")],
)
def test_in_ci_nothing_is_left_out(machine, absent, package):
    done = machine("scripts/parts", "test", has=sorted({*ALL} - {absent}), CI="true")
    assert done.returncode == 1
    assert done.stderr.startswith("To go on, make test needs:\n")
    assert done.stderr.endswith(f"apt-get install {package}\n")


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_make_says_it_before_anything_else(machine, goal):
    done = machine("make", goal, has=("git",))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"To go on, make {goal} needs:\n  bubblewrap   the sandbox\n")


def test_root_has_it_installed(machine, tmp_path):
    calls, program = tmp_path / "calls", tmp_path / "bin" / "bwrap"
    apt = f'echo "$@" >> {calls}; [ "$1" = update ] || /bin/ln -s /bin/true {program}'
    done = machine("scripts/parts", "demo", has=("git",), user="0", apt=apt)
    assert (done.returncode, done.stderr) == (0, "Installing bubblewrap ...\n")
    assert calls.read_text().splitlines() == ["update -qq", "install -y -qq --no-install-recommends bubblewrap"]


def test_why_root_could_not_install_it_is_told(machine):
    apt = "echo 'E: Unable to locate package bubblewrap' >&2; exit 100"
    done = machine("scripts/parts", "demo", has=("git",), user="0", apt=apt)
    assert done.returncode == 1
    assert "apt-get has failed: Unable to locate package bubblewrap\n" in done.stderr
    assert done.stderr.endswith("Debian and Ubuntu: apt-get install bubblewrap\n")


def test_a_sandbox_that_is_there_and_cannot_be_used_ends_the_tests_with_a_sentence(monkeypatch, tmp_path):
    blocked = tmp_path / "bwrap"
    stand_in(blocked, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    monkeypatch.setattr(probes, "_kept", {})
    for room in (fixes, root, probes):
        monkeypatch.setattr(room, "BWRAP", str(blocked))
    with pytest.raises(SystemExit) as ended:
        sandbox_here.main()
    assert "user namespaces are blocked" in str(ended.value)
    assert "systempaths=unconfined" in str(ended.value)


def test_a_sandbox_that_holds_is_no_reason_to_say_anything(capsys):
    sandbox_here.main()
    assert capsys.readouterr() == ("", "")

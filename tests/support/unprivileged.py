"""Starting programs as an ordinary user, also where the tests are run by root."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
SUPPORT = Path(__file__).parent
SOURCE = SUPPORT.parents[1] / "src"


def users():
    """Who the tests can be: the one who runs them, and where that is root, nobody as well."""
    return ["root", "nobody"] if os.geteuid() == 0 else ["user"]


def start(user, script, *words, env=None, timeout=120):
    """Run a script of the support directory, and give back what it printed."""
    python, paths = _python(user)
    found = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        **(env or {}),
    }
    done = subprocess.run(
        [*_as(user), python, str(SUPPORT / script), *words], env=found, capture_output=True, text=True, timeout=timeout,
        check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def popen(user, script, *words, **more):
    """As `start`, but only started."""
    python, paths = _python(user)
    found = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen([*_as(user), python, str(SUPPORT / script), *words], env=found, cwd="/", **more)


@contextmanager
def a_place(user):
    """A directory that belongs to this user."""
    made = Path(tempfile.mkdtemp(prefix="perdure-test-")).resolve()
    try:
        if user == "nobody":
            os.chown(made, NOBODY, NOBODY)
        yield made
    finally:
        subprocess.run(["rm", "-rf", "--", str(made)], check=True)


def _as(user):
    if user != "nobody":
        return []
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]


def _python(user):
    """An interpreter that this user may run, and where it finds what we need."""
    packages = [each for each in sys.path if each.endswith("site-packages")]
    if user != "nobody" or _may_run(sys.executable):
        return sys.executable, [str(SOURCE), *packages]
    other = shutil.which(f"python{sys.version_info[0]}.{sys.version_info[1]}", path="/usr/bin:/usr/local/bin")
    assert other, "there is no Python of this version that an ordinary user may run"
    return other, [str(SOURCE), *packages]


def _may_run(program):
    words = [
        *_as("nobody"),
        "env",
        program,
        "-c",
        "import asyncio",
    ]  # what `setpriv` itself starts still has its rights
    return subprocess.run(words, check=False, capture_output=True, cwd="/").returncode == 0

"""Where the peers live: each in a virtualenv of its own, outside of the repository, made when it is missing.

`BENCH_HOME` says where; without it, the user's cache directory. A peer that cannot be installed is left out, and the
page says why.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HOME = Path(
    os.environ.get("BENCH_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perdure-bench"
)
PEERS: dict[str, dict[str, Any]] = json.loads((HERE / "peers" / "peers.json").read_text(encoding="utf-8"))
INSTALLING = 600
"""Seconds that one may take."""
VERSIONS = """
import importlib.metadata, json
print(json.dumps({each.metadata["Name"]: each.version for each in importlib.metadata.distributions()}))
"""


def python_of(peer: str) -> Path:
    """The interpreter that runs it. What needs no packages runs in ours."""
    name = PEERS[peer].get("venv")
    return HOME / "venvs" / name / "bin" / "python" if name else Path(sys.executable)


def is_there(peer: str) -> bool:
    """Whether it can be started."""
    return python_of(peer).exists()


def why_not(peer: str) -> str:
    """Why it is not there, after all that can be done about it; nothing if it is."""
    try:
        _make(peer)
        _run(python_of(peer), "-c", f"import {PEERS[peer]['import']}")
    except subprocess.CalledProcessError as error:
        return last_line(error.stderr) or f"exit {error.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def _make(peer: str) -> None:
    """Made once; a virtualenv that was not finished is begun again."""
    ready = python_of(peer).parent.parent / ".ready"
    packages = PEERS[peer]["packages"]
    if not packages or (ready.exists() and ready.read_text() == " ".join(packages)):
        return
    place = ready.parent
    shutil.rmtree(place, ignore_errors=True)
    print(f"installing {' '.join(packages)} in {place}", flush=True)
    if uv := shutil.which("uv"):
        _run(uv, "venv", "--quiet", "--python", sys.executable, place)
        _run(uv, "pip", "install", "--quiet", "--python", python_of(peer), *packages)
    else:
        _run(sys.executable, "-m", "venv", place)
        _run(python_of(peer), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    ready.write_text(" ".join(packages))


def _run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=INSTALLING).stdout


def last_line(text: str) -> str:
    """The last thing that was said."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


@cache
def versions(peer: str) -> dict[str, str]:
    """Of all that is installed beside it."""
    return json.loads(_run(python_of(peer), "-c", VERSIONS))


if __name__ == "__main__":
    for name in sys.argv[1:] or PEERS:
        print(name, why_not(name) or "is there", flush=True)

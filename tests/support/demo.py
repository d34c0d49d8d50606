"""The demo's project: its files, its refactoring, and its own tests."""

import re
import subprocess
import sys

import yaml
from demo_repository import DEMO

from perdure.tools.changes.editing import replaced

REFACTOR = yaml.safe_load((DEMO / "refactor.yaml").read_text(encoding="utf-8"))
CHANGES = {change["id"]: change for change in REFACTOR["changes"]}
FIX = REFACTOR["fix"]
FAILED = re.compile(r"^(?:ERROR|FAIL): \w+ \((?P<test>[\w.]+)\)$", re.MULTILINE)
RAN = re.compile(r"^Ran (?P<count>\d+) tests? in ", re.MULTILINE)


def files():
    """The project as it stands, path by path."""
    root = DEMO / "repository"
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in _files_below(root)}


def _files_below(root):
    return [path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]


def changed(found, *changes):
    """The files after some changes, one after the other, as `files.write` and `files.edit` make them."""
    found = dict(found)
    for change in changes:
        for new in change.get("write", []):
            assert new["path"] not in found, new["path"]
            found[new["path"]] = new["text"]
        for edit in change["edits"]:
            found[edit["path"]] = replaced(edit["path"], found[edit["path"]], edit["old"], edit["new"])
    return found


def write(place, found):
    """Those files on the disk."""
    for name, text in found.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return place


def tested(place):
    """How many tests there are, and which of them fail."""
    command = [sys.executable, "-B", *REFACTOR["test"][1:]]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, timeout=60)
    failed = sorted(found["test"] for found in FAILED.finditer(done.stderr))
    assert bool(done.returncode) == bool(failed), done.stderr
    ran = RAN.search(done.stderr)
    assert ran, done.stderr
    return int(ran["count"]), failed

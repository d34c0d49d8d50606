"""Makes the repository that the demo works on: `python3 scripts/demo_repository.py DIR`.

Its files are in `examples/demo/repository`, its commits in `examples/demo/history.toml`. Nothing of the user's git has
a say in it, so the commits have the same ids everywhere and every time.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parents[1] / "examples" / "demo"
PERSON = re.compile(r"(?P<name>.+) <(?P<email>.+)>")
OWN = {
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
"""All that git finds in its environment, beside who commits and when: no settings, no hooks, no keys of anybody."""


def commits() -> list[dict[str, Any]]:
    """What was committed, in order."""
    return tomllib.loads((DEMO / "history.toml").read_text(encoding="utf-8"))["commit"]


def make(place: Path) -> list[str]:
    """Makes the repository in a directory that is new or empty, and tells the ids of its commits."""
    if place.exists() and any(place.iterdir()):
        raise FileExistsError(f"{place} is not empty; name a directory that is new")
    place.mkdir(parents=True, exist_ok=True)
    _git(place, "init", "--quiet", "--initial-branch=main", "--object-format=sha1", "--template=")
    return [_committed(place, commit) for commit in commits()]


def _committed(place: Path, commit: Mapping[str, Any]) -> str:
    _copy(DEMO / "repository", place, commit["files"])
    _copy(DEMO / "earlier", place, commit.get("earlier", []))
    _git(place, "add", "--all")
    _git(place, "commit", "--quiet", "--message", commit["message"].strip(), **_signed(commit))
    return _git(place, "rev-parse", "HEAD")


def _copy(source: Path, place: Path, names: Sequence[str]) -> None:
    for name in names:
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes((source / name).read_bytes())


def _signed(commit: Mapping[str, Any]) -> dict[str, str]:
    person = PERSON.fullmatch(commit["author"])
    if person is None:
        raise ValueError(f"{commit['author']!r} is nobody; write Name <address>")
    said = {"NAME": person["name"], "EMAIL": person["email"], "DATE": commit["date"]}
    return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in said.items()}


def _git(place: Path, *words: str, **more: str) -> str:
    program = shutil.which("git")
    if program is None:
        raise FileNotFoundError("git is not installed")
    environment = {"PATH": os.environ.get("PATH", os.defpath), **OWN, **more}
    done = subprocess.run(
        [program, *words], cwd=place, env=environment, capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode().strip()


def main(words: Sequence[str]) -> int:
    """Makes the repository that is asked for, and says which commit it stands at."""
    if len(words) != 1 or words[0].startswith("-"):
        sys.stderr.write("usage: demo_repository.py DIR\n")
        return 2
    try:
        print(make(Path(words[0]))[-1])
    except OSError as error:
        sys.stderr.write(f"demo_repository.py: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

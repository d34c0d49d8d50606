"""Environments of Python beside the code: tests may need them, and the sandbox shows them where the policy says so.

Nothing in one is run. One that is part of a commit is not offered: whoever wrote that commit would say by it what the
sandbox shall show.
"""

import json
import os
import shlex
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from perdure.config.policy import UserPolicy

NAMES: Final = (".venv", "venv")
SYSTEM: Final = Path("/usr")
"""What the sandbox shows to everybody."""
SOURCE: Final = "src"
"""Where code may lie apart, which an environment would take from elsewhere if the copy does not come first."""
PYTHONS: Final = ("python", "python3")


class Environment(NamedTuple):
    """Where packages are installed."""

    place: Path
    shown: tuple[Path, ...]
    """What has to be shown of it: itself, and where its interpreter is."""
    source: str = ""
    """Where the code of the project lies apart."""

    def by(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """A command that runs tests, by its interpreter; as it is, if it is no such command."""
        if words[:1] == ("pytest",):
            words = ("python3", "-m", *words)
        if words[:1] == () or words[0] not in PYTHONS:
            return words
        first = ("env", f"PYTHONPATH={self.source}") if self.source else ()
        return (*first, str(self.place / "bin/python"), *words[1:])


def environment_for(root: Path, committed: Collection[str]) -> Environment | None:
    """The one that the tests of a repository are run with: beside its code, or else the one that is active."""
    own = [root / name for name in NAMES if not any(each.split("/", 1)[0] == name for each in committed)]
    active = [Path(os.environ["VIRTUAL_ENV"])] if os.environ.get("VIRTUAL_ENV") else []
    source = SOURCE if any(each.startswith(f"{SOURCE}/") for each in committed) else ""
    try:
        found = next((each for each in (*own, *active) if committed and _is_one(each)), None)
        return Environment(found, tuple(dict.fromkeys([found, *_prefixes(found)])), source) if found else None
    except OSError:  # it is closed to the user
        return None


def _is_one(place: Path) -> bool:
    return (place / "pyvenv.cfg").is_file() and (place / "bin/python").exists()


def _prefixes(place: Path) -> Iterator[Path]:
    """Where its interpreter is installed, as it says itself and as its link leads there."""
    said = (line.partition("=") for line in (place / "pyvenv.cfg").read_text("utf-8", "replace").splitlines())
    homes = [Path(value.strip()) for key, _, value in said if key.strip() == "home"]
    for each in (*homes, (place / "bin/python").resolve().parent):
        prefix, home = each.parent, Path.home()
        if each.is_absolute() and (prefix / "lib").is_dir() and not home.is_relative_to(prefix):
            yield from () if prefix.is_relative_to(SYSTEM) or prefix.is_relative_to(place) else (prefix,)


def is_shown(environment: Environment, policy: UserPolicy) -> bool:
    """Whether commands see all of it."""
    return policy.tier == "none" or not _missing(environment.shown, policy)


def _missing(places: Iterable[Path], policy: UserPolicy) -> list[Path]:
    return [each for each in places if not any(each.is_relative_to(bind) for bind in policy.binds)]


def hint_for(environment: Environment | None, policy: UserPolicy, words: tuple[str, ...]) -> str:
    """What to do where tests fail for want of something."""
    if environment is None or is_shown(environment, policy):
        return f"what may help: name what it needs as binds under [sandbox] in {policy.place}, or another --test"
    binds = [*policy.rules.sandbox.binds, *map(str, _missing(environment.shown, policy))]
    run = shlex.quote(shlex.join(environment.by(words)))
    line = f"binds = {json.dumps(binds, ensure_ascii=False)}"
    return f"what may help: under [sandbox] in {policy.place} write {line}, and begin again with --test {run}"

"""What a server's command needs to see of the machine in order to run: its program, and what that is written for.

The system's own programs are always seen. Of others as little as possible is: an environment of Python, the packages of
Node, an interpreter with its library, or a single file. Whatever else a server reads, the user names.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYSTEM: Final = (Path("/usr"), Path("/bin"), Path("/sbin"), Path("/lib"), Path("/lib64"))
INSIDE: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LINKS: Final = 16
"""Links and interpreters that are followed."""
_LINE: Final = 256
_PACKAGES: Final = "node_modules"
_VENV: Final = "pyvenv.cfg"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A command that can be run where only the system and these paths are seen."""

    argv: tuple[str, ...]
    seen: tuple[Path, ...]
    path: str
    """Where programs are found inside."""


def toolchain_of(command: Sequence[str], search: str) -> Toolchain:
    """What is needed for a command that is looked for in `search`. `FileNotFoundError` if it is not there."""
    program = shutil.which(command[0], path=search)
    if program is None:
        raise FileNotFoundError(f"there is no program {command[0]!r}")
    found = list(_followed(Path(os.path.abspath(program)), search))  # noqa: PTH100  links are followed one by one
    found += [each for word in command[1:] for each in _script(word, search)]
    seen = {each: None for file in found for each in _around(file) if not _is_system(each)}
    places = dict.fromkeys(str(file.parent) for file in found if file.parent.name == "bin" and not _is_system(file))
    return Toolchain((str(found[0]), *command[1:]), tuple(seen), ":".join([*places, INSIDE]))


def _script(word: str, search: str) -> Iterator[Path]:
    """A file that is an argument of an interpreter: it is read, so it is seen."""
    path = Path(word)
    if path.is_absolute() and path.is_file():
        yield from _followed(path, search)


def _followed(file: Path, search: str) -> Iterator[Path]:
    """A file, where it is linked to, and the interpreters it is written for."""
    for _ in range(LINKS):
        yield file
        following = file.parent / file.readlink() if file.is_symlink() else _interpreter(file, search)
        if following is None:
            return
        file = Path(os.path.normpath(following))


def _interpreter(file: Path, search: str) -> Path | None:
    """Who reads a script, by its first line."""
    try:
        with file.open("rb") as opened:
            line = opened.read(_LINE).partition(b"\n")[0].decode()
    except (OSError, UnicodeDecodeError):
        return None
    words = line.removeprefix("#!").split() if line.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        found = next((shutil.which(each, path=search) for each in words[1:] if not each.startswith("-")), None)
        return Path(found) if found else None
    return Path(words[0]) if words else None


def _around(file: Path) -> Iterator[Path]:
    """What has to be seen of the machine for a file to be of use."""
    parents = file.parents
    packages = [each for each in parents if each.name == _PACKAGES]
    if packages:
        yield packages[-1]
        return
    venv = next((each for each in parents if (each / _VENV).is_file()), None)
    yield venv or _prefix(file) or file


def _prefix(file: Path) -> Path | None:
    """The place of an interpreter with its library. A home is none, whatever lies in it."""
    prefix = file.parent.parent
    is_one = file.parent.name == "bin" and (prefix / "lib").is_dir()
    return prefix if is_one and prefix.name != ".local" and not Path.home().is_relative_to(prefix) else None


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in SYSTEM)

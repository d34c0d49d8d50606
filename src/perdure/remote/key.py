"""The key for a server: of the environment, or of a file that nobody else can read. It is never on a command line."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from perdure.remote.errors import BadKeyFile

VARIABLE: Final = "PERDURE_KEY"
_LONGEST: Final = 1_000
_OTHERS: Final = 0o077


def key_from(env: Mapping[str, str], file: Path) -> str:
    """The key; empty if there is none."""
    said = env.get(VARIABLE, "").strip()
    if said:
        return _looked_at(said, VARIABLE)
    try:
        return _looked_at(_read(file), str(file))
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeyFile(f"the key in {file} cannot be read: {error}", f"put the key into {VARIABLE} instead") from None


def _read(file: Path) -> str:
    with file.open("rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.getuid()) or found.st_mode & _OTHERS:
            raise BadKeyFile(f"others than you can get at the key in {file}", f"chmod 600 {file}")
        return opened.read(_LONGEST + 1).decode().strip()


def _looked_at(key: str, origin: str) -> str:
    if not key.isascii() or not key.isprintable() or " " in key or len(key) > _LONGEST:
        raise BadKeyFile(f"what {origin} says is no key", "it is one line, as `perdure keys new` has said it")
    return key

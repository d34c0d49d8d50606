"""Where secrets come from: variables of the environment, and a file that nobody else can read."""

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from perdure.config.places import home_in, user_file
from perdure.config.settings import ConfigError
from perdure.plan.raw import Raw

PREFIX: Final = "PERDURE_SECRET_"
FILE: Final = "secrets.toml"
LARGEST: Final = 1024 * 1024
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class SecretsFileError(ConfigError):
    """The file of secrets cannot be used: it cannot be read, or somebody else can."""

    code: ClassVar[str] = "PRD5301"


def load_secrets(env: Mapping[str, str] | None = None) -> Mapping[str, str] | None:
    """The secrets of this user by name, the environment's first; None if there are none at all.

    A project has none: what lies in a workspace may be anybody's.
    """
    env = os.environ if env is None else env
    file = user_file(env, home_in(env)).with_name(FILE)
    in_file = _in_file(file) if os.path.lexists(file) else {}
    in_environment = {
        name.removeprefix(PREFIX): value for name, value in env.items() if name.startswith(PREFIX) and value
    }
    return in_file | in_environment or None


def _in_file(file: Path) -> dict[str, str]:
    try:
        table = tomllib.loads(_read(file).decode())
    except (ValueError, RecursionError):  # what it says could hold a value
        raise SecretsFileError(f"{file} is not TOML", 'write a line for each, as in API_KEY = "…"') from None
    return {name: _checked(file, name, value) for name, value in table.items()}


def _checked(file: Path, name: str, value: Raw) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(name):
        raise SecretsFileError(
            f"{file}: {name[:80]} is no secret", "write letters, digits and _, =, and a text in quotes"
        )
    return value


def _read(file: Path) -> bytes:
    """Looked at and read through one opening, so that nothing can be put in its place between the two."""
    try:
        with file.open("rb") as opened:
            _refuse_open(file, os.fstat(opened.fileno()))
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise SecretsFileError(f"{file} cannot be read: {error.strerror}", "look at its permissions") from None
    if len(data) > LARGEST:
        raise SecretsFileError(f"{file} is larger than {LARGEST:,} bytes", "a secret is a line")
    return data


def _refuse_open(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SecretsFileError(f"{file} is no file", "put a plain file there")
    if found.st_mode & _OTHERS:
        raise SecretsFileError(f"others can read or write {file}", f"run: chmod 600 {file}")
    if found.st_uid not in (os.geteuid(), 0):
        raise SecretsFileError(f"{file} belongs to somebody else", "make a file of your own there")

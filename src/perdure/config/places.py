"""Places: the project around a directory, the directories of a user, and files of settings."""

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from perdure.config.settings import JOURNAL, PROJECT_STATE, SettingsFileError
from perdure.plan.raw import Raw, is_mapping

PROJECT_FILE: Final = "perdure.toml"
PYPROJECT: Final = "pyproject.toml"
LARGEST_FILE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Project:
    """A directory with its settings, if a file in it has any."""

    root: Path
    file: Path | None = None
    table: Mapping[str, Raw] = field(default_factory=dict[str, Raw])


def find_project(cwd: Path, home: Path) -> Project:
    """The project around a directory: where its file is, else where its state is, else the directory itself."""
    around = list(_upwards(cwd, home))
    for directory in around:
        if found := _project_in(directory):
            return found
    return next((Project(each) for each in around if (each / PROJECT_STATE).is_dir()), Project(cwd))


def _upwards(cwd: Path, home: Path) -> Iterator[Path]:
    """Directories that can be the root of the project, nearest first."""
    for directory in (cwd, *cwd.parents):
        if _is_everybodys(directory):
            return
        yield directory
        if directory == home or (directory / ".git").exists():
            return


def _is_everybodys(directory: Path) -> bool:
    """Whether it cannot be looked into, or is like /tmp: what lies there may be anybody's."""
    if not os.access(directory, os.R_OK | os.X_OK):
        return True
    mode = directory.stat().st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def _project_in(directory: Path) -> Project | None:
    own, shared = directory / PROJECT_FILE, directory / PYPROJECT
    if own.is_file():
        return Project(directory, own, toml(own))
    if not shared.is_file() or b"perdure" not in _bytes(shared):
        return None  # so that somebody else's broken file does not stop us
    tools: Raw = toml(shared).get("tool")
    table: Raw = tools.get("perdure") if is_mapping(tools) else None
    return Project(directory, shared, table) if is_mapping(table) else None


def user_file(env: Mapping[str, str], home: Path) -> Path:
    """Where the user's own settings are, if there are any."""
    return _base(env, "XDG_CONFIG_HOME", home / ".config") / "perdure" / "config.toml"


def policy_file(env: Mapping[str, str], home: Path) -> Path:
    """Where the user's own policy is, if there is one."""
    return user_file(env, home).with_name("policy.toml")


def servers_file(env: Mapping[str, str], home: Path) -> Path:
    """Where the user names MCP servers. A project has no say in it: a server is a command that is run."""
    return user_file(env, home).with_name("mcp.json")


def pins_file(env: Mapping[str, str], home: Path) -> Path:
    """Where it stands which tools of MCP servers the user has approved."""
    return _base(env, "XDG_STATE_HOME", home / ".local" / "state") / "perdure" / "mcp-pins.json"


def toml(path: Path) -> Mapping[str, Raw]:
    """What a file says."""
    try:
        return tomllib.loads(_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise SettingsFileError(f"{path} is not TOML: {error}", "correct the file") from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SettingsFileError(f"{path} cannot be read: {error.strerror}", "look at its permissions") from error
    if len(data) > LARGEST_FILE:
        raise SettingsFileError(f"{path} is larger than {LARGEST_FILE:,} bytes", "settings are a few lines")
    return data


def default_db(env: Mapping[str, str], home: Path, project: Project) -> Path:
    """Where the journal is if nobody says so."""
    here = project.root / PROJECT_STATE
    if here.is_dir() and is_inside(here, project.root):  # a link could lead to another journal
        return here / JOURNAL
    return _base(env, "XDG_STATE_HOME", home / ".local" / "state") / "perdure" / JOURNAL


def _base(env: Mapping[str, str], variable: str, otherwise: Path) -> Path:
    """A directory by the rule of XDG: a relative path is as good as none."""
    named = Path(env.get(variable, ""))
    return named if named.is_absolute() else otherwise


def home_in(env: Mapping[str, str]) -> Path:
    """The user's own directory."""
    found = Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  no error without a home
    return found if found.is_absolute() else Path("/")


def is_inside(path: Path, directory: Path) -> bool:
    """Whether a path stays in a directory when links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))

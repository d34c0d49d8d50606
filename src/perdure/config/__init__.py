"""Settings, each with its origin: flag, environment, project file, user file, default; the first that speaks is heard.

A workspace may come from a stranger, and its file with it. So a project file can only say what does no harm outside
the project: its journal lies inside it, retention in it is about that journal alone, and some settings are the user's.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from perdure.config.places import Project, default_db, find_project, home_in, is_inside, toml, user_file
from perdure.config.settings import (
    BY_NAME,
    FAILURES,
    LOG,
    MODELS,
    PLANNING,
    PROVIDERS,
    SERVER,
    SETTINGS,
    TABLES,
    TOOLS,
    TRACES,
    Heads,
    Telling,
)
from perdure.config.settings import ConfigError as ConfigError
from perdure.config.settings import Limits as Limits
from perdure.config.settings import Retention as Retention
from perdure.config.settings import Server as Server
from perdure.config.settings import Settings as Settings
from perdure.config.settings import Value as Value
from perdure.config.values import PREFIX, Said, Source, read
from perdure.plan.raw import Raw

if TYPE_CHECKING:
    from perdure.tools.rules import Rule

DEFAULT: Final = "default"
FLAG: Final = "flag"
SHORT: Final = {"model": f"{MODELS}.default", SERVER: f"{SERVER}.url"}
"""Settings that have a shorter name in the environment."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, the origin of each by its full name, and the files that were read."""

    settings: Settings
    origins: Mapping[str, str]
    files: tuple[Path, ...] = ()
    own: str = ""
    """The user's file, which rules on failures come from."""


def load(
    flags: Mapping[str, Raw] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    planning: bool = False,
) -> Loaded:
    """The settings that hold here. Flags are given by the full name of a setting; None stands for a flag not given.

    `planning` is what `agent_planning` is where nobody sets it.
    """
    env, cwd = os.environ if env is None else env, (cwd or Path.cwd()).absolute()
    home = home_in(env)
    project, own = find_project(cwd, home), user_file(env, home)
    said = dict(toml(own)) if own.is_file() else {}
    rules = _failures(own, said.pop(FAILURES)) if FAILURES in said else ()
    layers = (
        {**_defaults(default_db(env, home, project), own), PLANNING: Said(planning, DEFAULT)},
        read(said, Source(str(own), own.parent)),
        read(project.table, Source(str(project.file), project.root, project=True)),
        _environment(env, cwd),
        _given(flags or {}, cwd),
    )
    heard = _heard(layers, project)
    heads = _heads(layers, heard)
    files = tuple(file for file in (project.file, own) if file and file.is_file())
    settings = replace(_settings(heard), failures=rules, heads=heads)
    return Loaded(settings, {name: said.origin for name, said in heard.items()}, files, str(own))


def _failures(file: Path, said: Raw) -> "tuple[Rule, ...]":
    from perdure.config.failures import read_failures  # noqa: PLC0415  few have any, and it needs to know what tools are

    return read_failures(file, said)


def _heard(layers: tuple[dict[str, Said], ...], project: Project) -> dict[str, Said]:
    defaults, user, in_project, environment, flags = layers
    heard = defaults | user | in_project | environment | flags
    if is_inside(cast("Path", heard["db"].value), project.root):
        return heard
    # The journal is not the project's: how long its runs are kept is not for the project to say.
    about_others = {name: said for name, said in in_project.items() if not name.startswith("retention.")}
    return defaults | user | about_others | environment | flags


def _heads(layers: tuple[dict[str, Said], ...], heard: Mapping[str, Said]) -> Heads:
    """What is said of models. A stranger's project names no provider; it can choose among those of the user."""
    defaults, user, _, environment, flags = layers
    own = [said.value for layer in (defaults, user, environment, flags) for said in _about(layer, MODELS).values()]
    tiers = {tier: str(said.value) for tier, said in _about(heard, MODELS).items()}
    described = _about(heard, PROVIDERS)
    if not described:
        return Heads(tiers, named=frozenset(str(each).partition(":")[0] for each in own))
    from perdure.config.heads import providers_in  # noqa: PLC0415  most describe none, and it needs to know what a place is

    return Heads(tiers, providers_in(described), frozenset(str(each).partition(":")[0] for each in own))


def _about(layer: Mapping[str, Said], table: str) -> dict[str, Said]:
    return {name.removeprefix(f"{table}."): said for name, said in layer.items() if name.startswith(f"{table}.")}


def _settings(heard: Mapping[str, Said]) -> Settings:
    found: dict[str, Raw] = {name: said.value for name, said in heard.items()}
    tools = {name.removeprefix(f"{TOOLS}."): most for name, most in found.items() if name.startswith(f"{TOOLS}.")}
    return Settings(
        found["db"],
        Limits(found["limits.run"], found["limits.total"], found["limits.memory"], tools),
        Retention(found["retention.days"], found["retention.keep"]),
        found["network_disk"],
        found[PLANNING],
        server=Server(found.get(f"{SERVER}.url", ""), found[f"{SERVER}.key"], found[f"{SERVER}.plain"]),
        telling=Telling(found.get(TRACES, ""), found.get(LOG, "")),
    )


def _defaults(db: Path, own: Path) -> dict[str, Said]:
    source = Source(DEFAULT, db.parent, writes_text=True)
    plain = {each.name: each.default for each in SETTINGS if each.kind != "path" and each.default}
    return read({"db": str(db), f"{SERVER}.key": str(own.with_name("server.key")), **plain}, source)


def _given(flags: Mapping[str, Raw], cwd: Path) -> dict[str, Said]:
    given = {name: value for name, value in flags.items() if value is not None}
    return read(given, Source(FLAG, cwd, writes_text=True))


def _environment(env: Mapping[str, str], cwd: Path) -> dict[str, Said]:
    found: dict[str, Said] = {}
    for variable, text in sorted(env.items()):
        name = variable.removeprefix(PREFIX).lower().replace("__", ".")
        name = SHORT.get(name, name)
        if variable.startswith(PREFIX) and text and _is_ours(name):
            found |= read({name: text}, Source(f"environment {variable}", cwd, writes_text=True))
    return found


def _is_ours(name: str) -> bool:
    """Whether a variable is meant for us: a setting, or a mistake for one. Others may share the prefix."""
    return name.partition(".")[0] in TABLES or bool(get_close_matches(name, BY_NAME, cutoff=0.8))

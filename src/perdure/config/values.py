"""Values: who wrote them, whether they fit, and whether they were theirs to write."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.config.places import is_inside
from perdure.config.settings import (
    BY_NAME,
    FAILURES,
    LARGEST_NUMBER,
    ONE_TOOL,
    POLICY_WORDS,
    PRICE_WORDS,
    PRICES,
    PROVIDER_WORDS,
    PROVIDERS,
    TABLES,
    TOOLS,
    ConfigError,
    ProjectSettingError,
    Setting,
    SettingValueError,
    UnknownSettingError,
    Value,
)
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import Raw, is_mapping
from perdure.ports import SCRIPT

PREFIX: Final = "PERDURE_"
"""What the names of variables in the environment begin with."""
IN_MEMORY: Final = ":memory:"
_MOST_DIGITS: Final = 20
_LONGEST: Final = 2_000
_MODEL: Final = re.compile(r"[a-z][a-z0-9_-]*:\S(.*\S)?")
_YES: Final = frozenset(("1", "true", "yes", "on"))
_NO: Final = frozenset(("0", "false", "no", "off"))


@dataclass(frozen=True, slots=True)
class Source:
    """Somebody who sets something."""

    origin: str
    directory: Path
    """Where its relative paths begin."""
    project: bool = False
    writes_text: bool = False
    """It has texts alone, also for numbers."""


@dataclass(frozen=True, slots=True)
class Said:
    """A value that fits, and who wrote it."""

    value: Value
    origin: str


def read(table: Mapping[str, Raw], source: Source) -> dict[str, Said]:
    """What a source says, by the full name of each setting."""
    return {name: Said(_value(name, value, source), source.origin) for name, value in _flat(table)}


def _flat(table: Mapping[str, Raw], before: str = "") -> Iterator[tuple[str, Raw]]:
    """Full names and values. A tool has a dot in its name, which TOML takes for one more table, and so do we."""
    for key, value in table.items():
        if is_mapping(value):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _value(name: str, raw: Raw, source: Source) -> Value:
    setting = _setting(name, source)
    read = {"path": _path, "number": _number, "switch": _switch, "model": _model, "text": _text, "price": _price}[
        setting.kind
    ]
    value = read(raw, setting, source)
    if value is None:
        raise SettingValueError(f"{source.origin}: {name} is {repr(raw)[:80]}", f"write {setting.takes}")
    if source.project:
        _check_harmless(name, value, setting, source)
    return value


def _setting(name: str, source: Source) -> Setting:
    if name in TABLES:
        raise SettingValueError(f"{source.origin}: {name} is a table", f"write [{name}], and its settings below")
    tool = name.removeprefix(f"{TOOLS}.") if name.startswith(f"{TOOLS}.") else ""
    known = ONE_TOOL if tool and tool.isprintable() else _of_provider(name)
    if name.partition(".")[0] == FAILURES:
        hint = "only you decide what kind of failure is what: [[failures]] in your own config.toml"
        kind = ProjectSettingError if source.project else UnknownSettingError
        raise kind(f"{source.origin}: {name} cannot be set there", hint)
    if name.partition(".")[0] in POLICY_WORDS:
        raise _not_here(name, source)
    if known not in BY_NAME:
        hint = did_you_mean(name, BY_NAME) or f"write one of: {', '.join(sorted(BY_NAME))}"
        raise UnknownSettingError(f"{source.origin}: there is no setting {name}", hint)
    return BY_NAME[known]


def _of_provider(name: str) -> str:
    """The setting that is meant by a word about a provider, whose name is the user's."""
    table, _, rest = name.partition(".")
    provider, _, word = rest.partition(".")
    if table != PROVIDERS or not provider:
        return name
    if word in PROVIDER_WORDS:
        return f"{PROVIDERS}.NAME.{word}"
    model, _, way = word.removeprefix(f"{PRICES}.").rpartition(".")
    is_price = word.startswith(f"{PRICES}.") and way in PRICE_WORDS and model.isprintable() and bool(model)
    return f"{PROVIDERS}.NAME.{PRICES}.MODEL.{way}" if is_price else name


def _not_here(name: str, source: Source) -> ConfigError:
    """What may be done is said in one place, and that is the user's."""
    if source.project:
        hint = "only you decide what may be done: if you trust the project, say it in your own policy.toml"
        return ProjectSettingError(f"{source.origin}: {name} cannot be set by a project", hint)
    hint = "policy has a file of its own, policy.toml beside your config.toml"
    return UnknownSettingError(f"{source.origin}: there is no setting {name}", hint)


def _check_harmless(name: str, value: Value, setting: Setting, source: Source) -> None:
    if setting.user_only:
        raise ProjectSettingError(
            f"{source.origin}: {name} cannot be set by a project",
            f"set it in your own file, or as {PREFIX}{name.upper().replace('.', '__')} in the environment",
        )
    if isinstance(value, str) and value.startswith(SCRIPT):
        raise ProjectSettingError(
            f"{source.origin}: {name} is a script, and a project cannot say what a model answers",
            f"if you trust its answers, name it yourself: {PREFIX}MODEL={value}",
        )
    if isinstance(value, Path) and not is_inside(value, source.directory):
        raise ProjectSettingError(
            f"{source.origin}: {name} leads out of the project, to {value}",
            "name a file inside the project, or set it in your own file or in the environment",
        )


def _path(raw: Raw, _: Setting, source: Source) -> Path | None:
    text = os.fspath(raw) if isinstance(raw, (str, Path)) else ""
    if text == IN_MEMORY and source.writes_text:
        return Path(text)
    return source.directory / os.path.expanduser(text) if text and "\0" not in text else None  # noqa: PTH111  no error without a home


def _number(raw: Raw, setting: Setting, source: Source) -> int | None:
    if source.writes_text and isinstance(raw, str):
        raw = int(raw) if raw.isascii() and raw.isdigit() and len(raw) < _MOST_DIGITS else None
    fits = isinstance(raw, int) and not isinstance(raw, bool) and setting.least <= raw <= LARGEST_NUMBER
    return raw if fits else None


def _switch(raw: Raw, _: Setting, source: Source) -> bool | None:
    if source.writes_text and isinstance(raw, str):
        return True if raw.lower() in _YES else False if raw.lower() in _NO else None
    return raw if isinstance(raw, bool) else None


def _text(raw: Raw, _: Setting, source: Source) -> str | None:
    del source
    return raw if isinstance(raw, str) and 0 < len(raw) <= _LONGEST and raw.isprintable() else None


def _price(raw: Raw, _: Setting, source: Source) -> float | None:
    try:
        found = float(raw) if isinstance(raw, str) and source.writes_text else raw
    except ValueError:
        return None
    fits = isinstance(found, (int, float)) and not isinstance(found, bool) and 0 <= found <= LARGEST_NUMBER
    return float(found) if fits else None


def _model(raw: Raw, setting: Setting, source: Source) -> str | None:
    text = _text(raw, setting, source)
    if not text or not _MODEL.fullmatch(text):
        return None
    if not text.startswith(SCRIPT):
        return text
    return f"{SCRIPT}{_path(text.removeprefix(SCRIPT), setting, source)}"

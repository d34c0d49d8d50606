"""`${…}` in the environment and the headers of a server: looked up when it is started, and kept nowhere.

`${secrets.NAME}` is one of the secrets that were handed over. `${NAME}` and `${env.NAME}` are variables of the
environment, as other programs write them too; `:-` gives what holds without one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from perdure.tools.mcp.errors import MissingValue

REFERENCE: Final = re.compile(r"\$\{(?:(secrets|env)[.:])?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
ANY: Final = re.compile(r"\$\{")


@dataclass(frozen=True, slots=True)
class Values:
    """Where references are looked up."""

    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def fill(self, text: str, place: str) -> str:
        """The text with all references looked up."""
        return REFERENCE.sub(lambda found: self._value(found, place), text)

    def _value(self, found: re.Match[str], place: str) -> str:
        kind, name, otherwise = found[1], found[2], cast("str | None", found[3])
        known = self.secrets if kind == "secrets" else self.environment
        if name not in known and otherwise is None:
            what = "secret" if kind == "secrets" else "variable in the environment"
            raise MissingValue(f"{place} needs the {what} {name}, which is not there", _help(kind, name))
        return known.get(name, otherwise or "")


def _help(kind: str | None, name: str) -> str:
    if kind == "secrets":
        return f"hand it over with `secrets={{{name!r}: ...}}`, or write ${{env.{name}}} and set the variable"
    return f"set {name} in the environment, or write ${{{name}:-otherwise}}"


def flaws_in(text: str) -> Iterator[str]:
    """What is wrong with the references in a text."""
    if len(ANY.findall(text)) != len(REFERENCE.findall(text)):
        yield "a reference is written ${secrets.NAME}, ${env.NAME} or ${NAME:-otherwise}"

"""What a docstring says of a function and its parameters."""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

_SECTION: Final = re.compile(r"^(?:Args|Arguments|Parameters):[ \t]*\n((?:[ \t]+\S.*\n|[ \t]*\n)*)", re.MULTILINE)
_ENTRY: Final = re.compile(r"^(?P<name>\w+)[ \t]*(?:\([^)\n]*\))?:[ \t]*(?P<text>.*)$")


def summary_of(function: Callable[..., Any]) -> str:
    """The first line."""
    return (inspect.getdoc(function) or "").partition("\n")[0].strip()


def described(function: Callable[..., Any]) -> dict[str, str]:
    """The parameters that an `Args:` section tells about."""
    section = _SECTION.search((inspect.getdoc(function) or "") + "\n")
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc("\n" + section[1]).splitlines() if section else ():
        if entry := _ENTRY.match(line):
            name = entry["name"]
            found[name] = entry["text"].strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found

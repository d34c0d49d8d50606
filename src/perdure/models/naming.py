"""Names of tools as providers take them: letters, digits, `_` and `-`, at most 64 of them.

A name of ours keeps its look (`files.read` is `files__read`), and no two names look the same: one whose look could be
another's has a digest at its end.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final

MOST: Final = 64
_TAKEN: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MOST}}}", re.ASCII)
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_AMBIGUOUS: Final = re.compile(r"__|--|_\.|\._|\.\.")
_DIGITS: Final = 12


def outer(name: str) -> str:
    """The name that a provider is told."""
    if not _AMBIGUOUS.search(name):
        look = name.replace(".", "__")
        if _TAKEN.fullmatch(look):
            return look
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{_FOREIGN.sub('_', name)[: MOST - _DIGITS - 2]}--{digest}"


def inner_by_outer(names: Iterable[str]) -> Mapping[str, str]:
    """Our names by those that a provider was told."""
    return {outer(each): each for each in names}

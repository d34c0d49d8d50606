"""Patterns: names with gaps in them, compared with deeds and never with each other.

`*` stands for any letters and `?` for one; `[*]`, `[?]` and `[[]` stand for these letters themselves, which is how
`glob.escape` writes them. Nothing else is special: a directory called `[id]` is called `[id]`. Matching takes time in
proportion to pattern times text, so no pattern makes it slow.
"""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Any, Final

from perdure.core.deeds import Deed, split_host

Matches = Callable[[Any, Deed], bool]
"""Whether a pattern, a text or a list of words, fits a deed."""

_BRACKET: Final = re.compile(r"\[[*?\[]\]|\[")


def is_named(pattern: str, deed: Deed) -> bool:
    """A tool or a resource by its whole name."""
    return like(pattern, deed.what)


def is_path(pattern: str, deed: Deed) -> bool:
    """`**` stands for any number of directories, `*` and `?` for letters of one name; `dir/` for all that is in it."""
    whole = pattern + "**" if pattern.endswith("/") else pattern
    return _in_line(whole.split("/"), deed.what.split("/"), "**")


def is_command(pattern: Sequence[str], deed: Deed) -> bool:
    """A word `*` stands for any number of words."""
    return _in_line(pattern, deed.words, "*")


def is_command_anywhere(pattern: Sequence[str], deed: Deed) -> bool:
    """As `is_command`; a program that is called by its path counts as called by its name too.

    For rules that take away. Where a rule allows, `./pytest` is not `pytest`: anybody could have written it.
    """
    if is_command(pattern, deed):
        return True
    name = deed.what.rpartition("/")[2]
    return name != deed.what and _in_line(pattern, (name, *deed.words[1:]), "*")


def is_host(pattern: str, deed: Deed) -> bool:
    """`host:port`; `*.example.com` stands for hosts below it, port `*` for any port, no port for 443."""
    host, port = split_host(deed.what)
    wanted, wanted_port = split_host(pattern)
    if wanted_port not in ("*", port):
        return False
    return host.endswith(wanted[1:]) if wanted.startswith("*.") else wanted in ("*", host)


def like(pattern: str, text: str) -> bool:
    """Whether a whole text looks like a pattern, capitals told from small letters."""
    return _compiled(pattern).match(text) is not None


def _in_line(pattern: Sequence[str], words: Sequence[str], any_number: str) -> bool:
    """Whether words match a pattern, one for one but for those that stand for any number. Never backtracks."""
    reached: set[int] = {0}
    for part in pattern:
        if not reached:
            return False
        if part == any_number:
            reached = set(range(min(reached), len(words) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(words) and like(part, words[n])}
    return len(words) in reached


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(_BRACKET.sub(lambda found: "[[]" if found[0] == "[" else found[0], pattern)))

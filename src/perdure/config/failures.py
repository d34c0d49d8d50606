"""The user's rules on what kind of failure is what.

They decide what is tried again, so they are read only from a file that nobody but the user can have written.
"""

import re
from pathlib import Path
from typing import Final

from perdure.config.owned import read_owned
from perdure.config.settings import FAILURES, FailureRuleError
from perdure.plan.raw import Raw, is_list
from perdure.tools.rules import BadRule, Rule, rule_of

MOST: Final = 1_000
_HEADING: Final = re.compile(rb"^[ \t]*\[\[[ \t]*failures[ \t]*\]\]", re.MULTILINE)


def read_failures(file: Path, said: Raw) -> tuple[Rule, ...]:
    """The rules in the user's file; `ConfigError` names the one that cannot be meant, and where it is."""
    text = read_owned(file) or b""
    if not is_list(said) or len(said) > MOST:
        raise FailureRuleError(f"{file}: {FAILURES} is no list of rules", f"write [[{FAILURES}]], and words below")
    return tuple(_read(file, text, n, each, len(said)) for n, each in enumerate(said))


def _read(file: Path, text: bytes, number: int, said: Raw, many: int) -> Rule:
    try:
        return rule_of(said)
    except BadRule as error:
        place = f"{file}{_line(text, number, many)}: {FAILURES}[{number}].{error.word}"
        raise FailureRuleError(f"{place}: {error.flaw}", error.hint) from None


def _line(text: bytes, number: int, many: int) -> str:
    """The line that a rule begins in; empty if they are written in another way."""
    found = [text.count(b"\n", 0, each.start()) + 1 for each in _HEADING.finditer(text)]
    return f":{found[number]}" if len(found) == many else ""

"""Rules: what a failure looks like, and what kind it is. Users, authors of tools and we use the same words."""

import errno as numbers
import math
import re
import signal as signals
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec.structs import force_setattr

from perdure.core.patterns import like
from perdure.plan.model.parts import FailureKind as Kind
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import is_mapping
from perdure.tools.signs import SHELL, Signs, name_of

KINDS: Final = get_args(Kind)
NUMBERS: Final = {
    **{word: number for number, word in numbers.errorcode.items()},
    "EDEADLK": numbers.EDEADLK,
    "EOPNOTSUPP": numbers.EOPNOTSUPP,
    "EWOULDBLOCK": numbers.EWOULDBLOCK,
}
"""The numbers of errors of the system, by their names."""
LONGEST: Final = 200
"""Letters of a pattern."""
LONGEST_WAIT: Final = 365 * 86_400
Effect = Literal["", "none", "unknown"]
_CLASS: Final = re.compile(r"[1-5]xx")
_WILD: Final = re.compile(r"[*?\[]")


class BadRule(ValueError):
    """A rule that cannot be meant."""

    def __init__(self, word: str, flaw: str, hint: str) -> None:
        super().__init__(f"{word}: {flaw}; {hint}")
        self.word: Final = word
        self.flaw: Final = flaw
        self.hint: Final = hint


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """All that it says of a failure has to be so. In texts, `*` stands for any letters and `?` for one."""

    kind: Kind
    """What kind of failure it is."""
    tool: str = ""
    """The tool that failed, as in `http.*`."""
    exception: str | type[BaseException] = ""
    """The exception or a base of it, by its qualified name; in Python also the class itself."""
    errno: str = ""
    """What the system calls it, as in `ENOSPC`."""
    status: int | str | None = None
    """A status of HTTP, or `4xx` for all of them."""
    exit_code: int | None = None
    """The code that a command ended with."""
    signal: str = ""
    """The signal that ended a command, as in `SIGKILL`."""
    rpc: int | None = None
    """The code of a JSON-RPC error, as MCP servers answer with."""
    error: str = ""
    """A word that the other side names the error with, as in `rate_limit_exceeded`."""
    message: str = ""
    """What stands somewhere in the message, in whatever capitals."""
    retry_after: float | None = None
    """Seconds to stay away, if the other side does not say."""
    effect: Effect = ""
    """`none`: it surely had no effect, so that a doubt is none. `unknown`: it may have had one, so that it is
    `in_doubt` where the call may never be repeated."""

    def __post_init__(self) -> None:
        """`BadRule` for what cannot be meant."""
        if isinstance(self.exception, type):
            force_setattr(self, "exception", name_of(self.exception))
        for flaw in _flaws(self):
            raise flaw

    @property
    def name(self) -> str:
        """What it looks at, in short: `status=418`."""
        said = {word: value for word, value in self.data().items() if word in SIGNS}
        return " ".join(f"{word}={value}" for word, value in said.items())

    @property
    def text(self) -> str:
        """The rule in a line: `status=418: transient after 5 seconds`."""
        pause = "" if self.retry_after is None else f" after {self.retry_after:g} seconds"
        return f"{self.name}: {self.kind}{pause}" + (f", effect {self.effect}" if self.effect else "")

    def data(self) -> dict[str, Any]:
        """The rule as it is written."""
        return msgspec.to_builtins(self)

    def fits(self, signs: Signs, tool: str) -> bool:
        """Whether a failure of a tool is as it says."""
        return (
            (not self.tool or _like(self.tool, tool))
            and (self.status is None or _is_status(self.status, signs.status))
            and (self.exit_code is None or self.exit_code == signs.exit_code)
            and (self.rpc is None or self.rpc == signs.rpc)
            and (not self.errno or NUMBERS.get(self.errno, 0) == signs.errno)
            and (not self.signal or self.signal == signs.signal)
            and (not self.error or any(_like(self.error, each) for each in signs.errors))
            and (not self.exception or any(_like(str(self.exception), each) for each in signs.exceptions))
            and (not self.message or like(f"*{self.message}*".lower(), signs.message.lower()))
        )


SIGNS: Final = ("tool", "exception", "errno", "status", "exit_code", "signal", "rpc", "error", "message")
"""Words of a rule that say what a failure looks like."""
_WORDS: Final = Rule.__struct_fields__
_TEXTS: Final = ("tool", "exception", "errno", "signal", "error", "message")


def _like(pattern: str, text: str) -> bool:
    return pattern == text or (_WILD.search(pattern) is not None and like(pattern, text))


def _is_status(wanted: int | str, found: int | None) -> bool:
    return found is not None and (found == wanted or f"{found // 100}xx" == wanted)


# ------------------------------------------------------------------------------- reading


def rule_of(said: object) -> Rule:
    """A rule as somebody wrote it; `BadRule` names the word that cannot be meant."""
    if isinstance(said, Rule):
        return said
    if not is_mapping(said):
        raise BadRule("rule", f"{repr(said)[:60]} is none", 'write words and values, as in status = 418, kind = "…"')
    for word in said:
        if word not in _WORDS:
            raise BadRule(str(word)[:60], "there is no such word", did_you_mean(str(word), _WORDS) or "leave it out")
    if "kind" not in said:
        raise BadRule("kind", "it is missing", f"write one of: {', '.join(KINDS)}")
    return Rule(**said)


def _flaws(rule: Rule) -> Iterator[BadRule]:
    if rule.kind not in KINDS:
        yield BadRule("kind", f"there is no kind {rule.kind!r}", did_you_mean(str(rule.kind), KINDS) or _one_of(KINDS))
    for word in _TEXTS:
        yield from _text_flaws(word, getattr(rule, word))
    yield from _number_flaws(rule)
    if rule.effect not in get_args(Effect):
        yield BadRule("effect", f"it is {repr(rule.effect)[:60]}", 'write "none" or "unknown", or leave it out')
    if not any(getattr(rule, word) not in ("", None) for word in SIGNS):
        yield BadRule("rule", "it would hold for every failure", f"say what it looks like: {', '.join(SIGNS)}")


def _text_flaws(word: str, text: object) -> Iterator[BadRule]:
    if not isinstance(text, str) or len(text) > LONGEST or not text.isprintable():
        yield BadRule(word, f"it is {repr(text)[:60]}", f"write a text of at most {LONGEST} letters")
    elif word == "errno" and text and text not in NUMBERS:
        yield BadRule(word, f"there is no {text}", did_you_mean(text, numbers.errorcode.values()) or "as in ENOSPC")
    elif word == "signal" and text and text not in signals.Signals.__members__:
        yield BadRule(word, f"there is no {text}", did_you_mean(text, signals.Signals.__members__) or "as in SIGKILL")


def _number_flaws(rule: Rule) -> Iterator[BadRule]:
    status, pause = rule.status, rule.retry_after
    if status is not None and not (_within(status, 100, 599) or (isinstance(status, str) and _CLASS.fullmatch(status))):
        yield BadRule("status", f"it is {repr(status)[:60]}", 'write a number from 100 to 599, or "4xx"')
    if rule.exit_code is not None and not _within(rule.exit_code, 1, 2 * SHELL - 1):
        yield BadRule("exit_code", f"it is {repr(rule.exit_code)[:60]}", "write a number from 1 to 255")
    if rule.rpc is not None and not _within(rule.rpc, -(2**31), 2**31):
        yield BadRule("rpc", f"it is {repr(rule.rpc)[:60]}", "write a whole number, as in -32603")
    is_time = isinstance(pause, (int, float)) and not isinstance(pause, bool) and 0 <= pause <= LONGEST_WAIT
    if pause is not None and not (is_time and math.isfinite(pause)):
        yield BadRule("retry_after", f"it is {repr(pause)[:60]}", "write seconds, not negative, at most a year")


def _within(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _one_of(words: tuple[str, ...]) -> str:
    return f"write one of: {', '.join(words)}"

"""What CEL says of an expression it cannot read, said as ours: what is wrong, where, and what to write instead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from perdure.plan.expr.errors import (
    LEFT_OUT,
    MISTYPED,
    SYNTAX,
    UNKNOWN,
    ExpressionError,
    nearest,
    quoted,
    shown,
)
from perdure.plan.expr.functions import FUNCTIONS
from perdure.plan.expr.path import unknown_root
from perdure.plan.expr.words import NUMERIC, fitting, type_in_words, types_in, unfit

_ISSUE: Final = re.compile(r"^(?:[A-Z_]+: )?ERROR: <input>:(-?\d+):(-?\d+): (.*)$", re.MULTILINE)
_MOST_ISSUES: Final = 50
_OVERLOAD: Final = re.compile(r"found no matching overload for '(.+?)' applied to '\((.*)\)'")
_UNDECLARED: Final = re.compile(r"undeclared reference to '(.*?)' \(in container")
_COMPARED_NUMBERS: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in"})
_NESTED: Final = "the expression is nested too deep"
_SPLIT: Final = "split it: a step can hold a part of it"


@dataclass(frozen=True, slots=True)
class Issue:
    """One complaint of CEL."""

    text: str
    offset: int

    @property
    def overload(self) -> tuple[str, str] | None:
        """The operator and the types it was written with, where they do not go together."""
        match = _OVERLOAD.search(self.text)
        return (match[1], match[2]) if match else None

    @property
    def is_harmless(self) -> bool:
        """Whether it complains of types that can be compared all the same: numbers of two kinds, or null."""
        function, applied = self.overload or ("", "")
        words = set(re.findall(r"\w+", applied))
        if function in ("_==_", "_!=_") and "null_type" in words:
            return True
        return function in _COMPARED_NUMBERS and words <= NUMERIC | {"list"}

    @property
    def undeclared(self) -> str:
        """The name that is unknown."""
        match = _UNDECLARED.search(self.text)
        return match[1] if match else ""


def issues_in(message: str, source: str) -> list[Issue]:
    """All that CEL says about a source."""
    found = list(_issues(message, source))
    return found or [Issue(message, 0)]


def _issues(message: str, source: str) -> Iterator[Issue]:
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    for number, match in enumerate(_ISSUE.finditer(message)):
        if number == _MOST_ISSUES:
            return
        line, column = int(match[1]), int(match[2])
        known = 0 < line <= len(starts)
        yield Issue(match[3], min(starts[line - 1] + column - 1, len(source)) if known else 0)


# ------------------------------------------------------------------------------- choosing


def refusal(issues: list[Issue], source: str) -> ExpressionError:
    """The error for what CEL says about a source: the one complaint that explains the others."""
    calls = [issue for issue in issues if issue.undeclared and source[issue.offset : issue.offset + 1] == "("]
    names = [issue for issue in issues if issue.undeclared]
    typed = [issue for issue in issues if issue.overload]
    if "recursion" in issues[0].text:
        return ExpressionError(SYNTAX, _NESTED, _SPLIT)
    if calls:
        return _unknown_function(calls[0].undeclared, source.rfind(calls[0].undeclared, 0, calls[0].offset))
    if names:
        return _unknown_name(names[0], source)
    return _mistyped(typed[0]) if typed else _misplaced(issues[0]) or _syntax(issues[0], source)


_LEFT_OUT: Final = {
    "map": ("map() is not available", "use the step kind map, or ask with exists() and all()"),
    "filter": ("filter() is not available", "let a step choose, or ask with exists() and all()"),
    "matches": ("matches() is not available", "use contains(), startsWith() or endsWith()"),
}
_RENAMED: Final = {
    "len": "size",
    "length": "size",
    "str": "string",
    "float": "double",
    "any": "exists",
    "some": "exists",
}
_CALLABLE: Final = (*sorted(name for name in FUNCTIONS if name.isidentifier()), "has", "exists", "all")


def _unknown_function(name: str, offset: int) -> ExpressionError:
    if name in _LEFT_OUT:
        message, advice = _LEFT_OUT[name]
        return ExpressionError(LEFT_OUT, message, advice, offset)
    known = _RENAMED.get(name)
    advice = f"write {known}()" if known else nearest(name, _CALLABLE)
    return ExpressionError(UNKNOWN, f"there is no function {quoted(name)}", advice, offset)


def _unknown_name(issue: Issue, source: str) -> ExpressionError:
    name, _, _ = issue.undeclared.partition(".")
    start = source.rfind(name, 0, issue.offset + len(name))  # CEL points at the last dot of a path
    return unknown_root(name, max(start, 0))


# ------------------------------------------------------------------------------- types

_MISPLACED: Final = (
    (re.compile(r"expected type '(.+)' but found '(.+)'"), "%s is wanted here, not %s", "leave out the ?"),
    (re.compile(r"type '(.+)' cannot be the operand of a select"), "%s has no named parts", ""),
    (re.compile(r"type '(.+)' cannot be the range of a comprehension"), "%s cannot be gone through", ""),
)


def _mistyped(issue: Issue) -> ExpressionError:
    function, applied = issue.overload or ("", "")
    types = types_in(applied)
    if function == "_+_" and {"string", "list", "bytes"}.intersection(types):
        advice = "texts are joined by writing ${a}${b}; a list is written as [a, b]"
        return ExpressionError(LEFT_OUT, "`+` adds numbers only", advice, issue.offset)
    return ExpressionError(MISTYPED, unfit(function, types), fitting(function, types), issue.offset)


def _misplaced(issue: Issue) -> ExpressionError | None:
    for pattern, sentence, advice in _MISPLACED:
        if match := pattern.search(issue.text):
            said = sentence % tuple(map(type_in_words, match.groups()))
            return ExpressionError(MISTYPED, said, advice or fitting("", types_in(match[1])), issue.offset)
    return None


# ------------------------------------------------------------------------------- syntax

_UNEXPECTED: Final = re.compile(r"Syntax error: (?:mismatched|extraneous) input '(.*?)' expecting", re.DOTALL)
_UNREADABLE: Final = re.compile(
    r"Syntax error: (?:token recognition error at|no viable alternative at input):? '(.*?)'?$"
)
_MISSING: Final = re.compile(r"Syntax error: missing '(.*?)' at")
_ADVICE: Final = (
    ("${", "write the expression bare here, without ${…}"),
    ("??", "write .orValue(…) behind an optional path"),
    ("?.", "an optional part is written .?name"),
    ("===", "write =="),
    (" and ", "write &&"),
    (" or ", "write ||"),
    ("not ", "write !"),
    (" if ", "write condition ? one : other"),
    (" is ", "write =="),
    (" | ", "there are no filters: let a step do it"),
    (" = ", "write =="),
)


def _syntax(issue: Issue, source: str) -> ExpressionError:
    advice = next((advice for mark, advice in _ADVICE if mark in source), "")
    return ExpressionError(SYNTAX, _syntax_message(issue.text), advice, issue.offset)


def _syntax_message(text: str) -> str:
    if match := _UNEXPECTED.search(text):
        return "the expression ends too early" if match[1] == "<EOF>" else f"{quoted(match[1])} is not expected here"
    if match := _MISSING.search(text):
        return f"{quoted(match[1])} is missing here"
    if match := _UNREADABLE.search(text):
        return f"{quoted(match[1].strip())} cannot be read here"
    plain = text.removeprefix("Syntax error: ").removesuffix(" [INVALID_ARGUMENT]")
    return shown(plain, 200)

"""CEL's messages, said as ours: what is wrong, where, and what to write instead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from perdure.plan.expr.errors import (
    LEFT_OUT,
    MISTYPED,
    NO_VALUE,
    SYNTAX,
    TOO_MUCH,
    UNKNOWN,
    ExpressionError,
    nearest,
    quoted,
    shown,
)
from perdure.plan.expr.functions import FUNCTIONS
from perdure.plan.expr.path import unknown_root

_ISSUE: Final = re.compile(r"^(?:[A-Z_]+: )?ERROR: <input>:(-?\d+):(-?\d+): (.*)$", re.MULTILINE)
_MOST_ISSUES: Final = 50
_OVERLOAD: Final = re.compile(r"found no matching overload for '(.+?)' applied to '\((.*)\)'")
_UNDECLARED: Final = re.compile(r"undeclared reference to '(.*?)' \(in container")
_COMPARED_NUMBERS: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in"})
_NUMERIC: Final = frozenset({"int", "int64", "uint", "uint64", "double"})
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
        return function in _COMPARED_NUMBERS and words <= _NUMERIC | {"list"}

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


# ------------------------------------------------------------------------------- before it runs


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
    return _mistyped(typed[0]) if typed else _syntax(issues[0], source)


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

_WORDS: Final = {
    "string": "a text",
    "int": "an integer",
    "int64": "an integer",
    "uint": "an unsigned integer",
    "uint64": "an unsigned integer",
    "double": "a decimal number",
    "bool": "true or false",
    "null_type": "null",
    "dyn": "something",
    "bytes": "bytes",
    "map": "an object",
    "list": "a list",
    "optional_type": "an optional value",
}
_OPERATORS: Final = {"_[_]": "[…]", "_?_:_": "? :", "@in": "in"}


def type_in_words(name: str) -> str:
    """A CEL type as people say it."""
    plain, _, _ = name.lower().partition("(")
    plain, _, _ = plain.partition("<")
    return _WORDS.get(plain, f"a value of type {plain}")


def types_in(text: str) -> list[str]:
    """The types in `int, list(map(string, dyn))`, without what is in them."""
    while text != (outer := re.sub(r"\([^()]*\)", "", text)):
        text = outer
    return [word.strip() for word in text.split(",")] if text else []


def _operator(function: str) -> str:
    return _OPERATORS.get(function, function.strip("_").replace("_", " ") or function)


def _mistyped(issue: Issue) -> ExpressionError:
    function, applied = issue.overload or ("", "")
    types = types_in(applied)
    if function == "_+_" and {"string", "list", "bytes"}.intersection(types):
        advice = "texts are joined by writing ${a}${b}; a list is written as [a, b]"
        return ExpressionError(LEFT_OUT, "`+` adds numbers only", advice, issue.offset)
    return ExpressionError(MISTYPED, _unfit(function, types), _fitting(function, types), issue.offset)


def _unfit(function: str, types: list[str]) -> str:
    return f"`{_operator(function)}` cannot be used with {' and '.join(type_in_words(each) for each in types)}"


def _fitting(function: str, types: list[str]) -> str:
    if "optional_type" in types:
        return "end it with .orValue(…)"
    if function == "_?_:_":
        return "the condition must be true or false, and both results of one type: write dyn(…) around them"
    if _NUMERIC.issuperset(types):
        return "integers and decimal numbers do not mix: write double(a) and double(b), or 2.0 for 2"
    return ""


# ------------------------------------------------------------------------------- syntax

_UNEXPECTED: Final = re.compile(r"Syntax error: (?:mismatched|extraneous) input '(.*?)' expecting", re.DOTALL)
_UNREADABLE: Final = re.compile(r"Syntax error: (?:token recognition error at|no viable alternative at input):? '(.*)'")
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
    if match := _UNREADABLE.search(text):
        return f"{quoted(match[1].strip())} cannot be read here"
    plain = text.removeprefix("Syntax error: ").removesuffix(" [INVALID_ARGUMENT]")
    return shown(plain, 200)


# ------------------------------------------------------------------------------- while it runs

_STATUS: Final = re.compile(r"^[A-Z_]+: |\s*\[[A-Z_]+\]$")
_LONGEST: Final = 500
_NO_KEY: Final = re.compile(r"Key not found in map : (.*)", re.DOTALL)
_NO_INDEX: Final = re.compile(r"Index error: index=(-?\d+) size=(\d+)")
_NO_OVERLOAD: Final = re.compile(r"No matching overloads found : (?:\((.*?)\)\.)?([^(]*)(?:\((.*)\))?")
_SAID: Final = {
    "divide by zero": "a number is divided by zero",
    "modulus by zero": "a number is divided by zero",
    "Applying SELECT to non-message type": "a part is looked for in a value that has no parts",
    "optional.none() dereference": "value() is asked of something that is missing",
}


_PLACES: Final = {
    "<jump_condition>": "the condition before `?` is not true or false",
    "<iter_range>": "what is to be gone through is not a list or an object",
}
_ABSENT: Final = ("Key not found", "Index error", "non-message type", "Invalid container", "No value with name")


def is_about_absence(message: str) -> bool:
    """Whether CEL missed a value."""
    return any(sign in message for sign in _ABSENT)


def run_time_error(message: str) -> ExpressionError:
    """The error for what CEL says when it cannot evaluate an expression."""
    text = _STATUS.sub("", message[:_LONGEST])
    if "budget exceeded" in text:
        return ExpressionError(TOO_MUCH, "the expression goes through too many elements", "let a step do it")
    if match := _NO_KEY.search(text):
        key = quoted(match[1].strip('"'))
        return ExpressionError(NO_VALUE, f"there is no key {key}", "test it with has()")
    if match := _NO_INDEX.search(text):
        return ExpressionError(NO_VALUE, f"there is no [{match[1]}] in a list of {match[2]}")
    if match := _NO_OVERLOAD.search(text):
        return _unfit_values(match)
    said = next((ours for theirs, ours in _SAID.items() if theirs in text), shown(text, 200))
    return ExpressionError(NO_VALUE, said)


def _unfit_values(match: re.Match[str]) -> ExpressionError:
    function = match[2].strip()
    if function in _PLACES:
        return ExpressionError(NO_VALUE, _PLACES[function])
    types = [word for group in (match[1], match[3]) if group for word in types_in(group)]
    said = _unfit(function, types) if types else f"`{_operator(function)}` cannot be used with these values"
    return ExpressionError(NO_VALUE, said, _fitting(function, types) if types else "")

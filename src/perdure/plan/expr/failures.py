"""What CEL says when an expression cannot be evaluated, said as ours."""

import re
from typing import Final

from perdure.plan.expr.errors import NO_VALUE, TOO_MUCH, ExpressionError, quoted, shown
from perdure.plan.expr.words import fitting, types_in, unfit

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
    "Invalid container type": "a part is looked for in a value that has no parts",
    "Invalid map key type": "a part is looked for by something that is not a text",
    "expected integer type": "an item of a list is looked for by something that is not a number",
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
    return ExpressionError(NO_VALUE, unfit(function, types), fitting(function, types))

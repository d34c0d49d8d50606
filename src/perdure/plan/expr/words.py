"""Types and operators of CEL in the words of a sentence."""

import re
from typing import Final

NUMERIC: Final = frozenset({"int", "int64", "uint", "uint64", "double"})
_WORDS: Final = {
    "string": "a text",
    "int": "an integer",
    "int64": "an integer",
    "uint": "an unsigned integer",
    "uint64": "an unsigned integer",
    "double": "a decimal number",
    "bool": "true or false",
    "null_type": "null",
    "dyn": "a value of unknown type",
    "bytes": "bytes",
    "map": "an object",
    "list": "a list",
    "optional_type": "an optional value",
}
_OPERATORS: Final = {"_[_]": "[…]", "_[?_]": "[?…]", "_?._": ".?", "_?_:_": "? :", "@in": "in"}


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


def unfit(function: str, types: list[str]) -> str:
    """The sentence for an operator that does not go with its operands."""
    return f"`{_operator(function)}` cannot be used with {' and '.join(map(type_in_words, types)) or 'these values'}"


def fitting(function: str, types: list[str]) -> str:
    """What to write instead, where that is known."""
    if "optional_type" in types:
        return "end it with .orValue(…)"
    if function == "_?_:_":
        return "the condition must be true or false, and both results of one type: write dyn(…) around them"
    if len(set(types)) > 1 and NUMERIC.issuperset(types):
        return "integers and decimal numbers do not mix: write double(a) and double(b), or 2.0 for 2"
    return ""

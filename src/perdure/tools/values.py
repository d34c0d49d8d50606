"""Plain JSON out of what Python functions return: models, dataclasses, tuples, dates and paths have a form there."""

from typing import Any, Final

from pydantic_core import from_json, to_json, to_jsonable_python

MESSAGE: Final = 2_000
"""Letters of a message that are kept."""


class NotJson(ValueError):
    """A value has no form in JSON; the text says why."""


def as_json(value: Any) -> Any:
    """The value as plain JSON, in fresh lists and dictionaries that nobody else can change."""
    return json_and_text(value)[0]


def json_and_text(value: Any) -> tuple[Any, bytes]:
    """The value as plain JSON, and the text that it was read from."""
    text = as_json_text(value, is_plain=True)
    if b"null" in text:  # it may stand for a model's NaN
        text = as_json_text(value)
    try:
        return from_json(text, allow_inf_nan=False), text
    except ValueError as error:
        deep = "recursion" in str(error)
        raise NotJson("it is nested too deep" if deep else "NaN and Infinity are not JSON") from None


def as_json_text(value: Any, *, is_plain: bool = False) -> bytes:
    """The value as JSON text; what is not a number is written so that reading it will be refused."""
    try:  # in two steps, unless it is plain: on its own, the second would write null for a model's NaN
        return to_json(value if is_plain else to_jsonable_python(value), inf_nan_mode="constants")
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def kept(text: object) -> str:
    """A message that can be stored: well-formed and not too long."""
    whole = str(text)[: MESSAGE + 1].encode("utf-8", "backslashreplace").decode()
    return whole if len(whole) <= MESSAGE else whole[: MESSAGE - 1] + "…"

"""What a model of Pydantic refuses, in plain words: the same for plans, arguments, settings and replies."""

import re
from typing import Final

from pydantic_core import ErrorDetails

from perdure.plan.problems import written

_LISTS: Final = ("list", "tuple", "set", "frozen_set", "deque", "iterable", "named_tuple")
_MAPPINGS: Final = ("dict", "mapping", "model", "model_attributes", "dataclass", "ordered_dict", "frozen_dict")
_DATE: Final = "must be a date, as in 2024-02-29"
_MOMENT: Final = "must be a date with a time, as in 2024-02-29T12:00:00Z"
SAYINGS: Final[dict[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "none_required": "must be null",
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "must be a text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type", "decimal_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys((f"{each}_type" for each in _LISTS), "must be a list"),
    **dict.fromkeys((f"{each}_type" for each in _MAPPINGS), "must be a mapping"),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), _DATE),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), _MOMENT),
    **dict.fromkeys(("time_type", "time_parsing"), "must be a time of day, as in 12:00:00"),
    **dict.fromkeys(("time_delta_type", "time_delta_parsing"), "must be a duration, as in PT1H30M"),
    **dict.fromkeys(("uuid_type", "uuid_parsing"), "must be a UUID"),
    **dict.fromkeys(("url_type", "url_parsing"), "must be a URL"),
    **dict.fromkeys(("bytes_type",), "must be a text"),
}
"""By the word that Pydantic has for it."""
_SHOULD: Final = re.compile(r"^(?:\w+ )?\w+ should ")


def saying(error: ErrorDetails) -> str:
    """What is wrong with a value, to be said after its name: `must be a whole number`."""
    return _plain(error) or f"is wrong: {_own(error)}"


def sentence(error: ErrorDetails) -> str:
    """The same with its name, or in the words of whoever wrote the rule."""
    return f"{written(error['loc']) or 'it'} {said}" if (said := _plain(error)) else _own(error)


def _plain(error: ErrorDetails) -> str:
    if known := SAYINGS.get(error["type"]):
        return known
    message = error["msg"]
    plain = _SHOULD.sub("must ", message).replace("a valid ", "a ").replace(" after validation", "")
    return plain if _SHOULD.match(message) else ""


def _own(error: ErrorDetails) -> str:
    return error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")

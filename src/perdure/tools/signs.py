"""Signs: what can be seen of a failure before anybody says what kind it is.

They are read from an exception with care: it may be anybody's, and whatever it does when it is looked at, there are
signs. Nothing here decides.
"""

import signal
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar, cast

import msgspec

from perdure.core.calls import Failure
from perdure.plan.raw import is_mapping
from perdure.tools.values import kept

WORD: Final = 120
"""Letters of a word that names an error."""
DEEP: Final = 4
"""Causes of causes that are looked at."""
MANY: Final = 64
"""Exceptions of a group that are looked at."""
SHELL: Final = 128
"""What a shell adds to the number of the signal that ended a command."""
_STATUS: Final = ("status_code", "status", "response.status_code", "response.status",
                  "response.ResponseMetadata.HTTPStatusCode")  # fmt: skip
_ERRORS: Final = ("code", "type", "body.code", "body.type", "body.error.code", "body.error.type", "body.error.status",
                  "error.code", "error.type", "response.Error.Code")  # fmt: skip
"""Where clients of HTTP and of models keep the words that the other side names an error with."""
_HEADERS: Final = ("response.headers", "headers", "response.ResponseMetadata.HTTPHeaders")
_RPC: Final = range(-32_999, -31_999)
T = TypeVar("T")


class Signs(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What can be seen of a failure."""

    exceptions: tuple[str, ...] = ()
    """The qualified name of the exception, and those of its bases. Built-in ones have no module."""
    errno: int = 0
    """The number that the system has for it."""
    status: int | None = None
    """Of HTTP."""
    exit_code: int | None = None
    """Of a command; 128 and the number of the signal, if one ended it."""
    signal: str = ""
    """What ended a command: `SIGKILL`."""
    rpc: int | None = None
    """The code of a JSON-RPC error, as MCP has them."""
    errors: tuple[str, ...] = ()
    """Words that the other side names the error with: `rate_limit_exceeded`."""
    message: str = ""
    at: str = ""
    """Where it was raised: module, line, function."""
    cause: "Signs | None" = None
    """Those of the exception that it was raised from."""

    def chain(self) -> "Iterator[Signs]":
        """These, and those of what lies behind."""
        found: Signs | None = self
        while found is not None:
            yield found
            found = found.cause


class Told(Failure, frozen=True):
    """A failure as it was told, with its signs, until somebody has looked who knows all rules.

    An empty kind: whoever failed did not say.
    """

    signs: Signs = Signs()


def signs_of(error: BaseException, deep: int = DEEP) -> Signs:
    """What can be seen of an exception."""
    status = _first(error, _STATUS, int)
    code, ended_by = ended(_first(error, ("returncode",), int))
    return Signs(
        exceptions=tuple(dict.fromkeys(_names(error))),
        errno=_first(error, ("errno",), int) or 0,
        status=status if status is not None and 100 <= status < 600 else None,  # noqa: PLR2004  as RFC 9110 has them
        exit_code=code,
        signal=ended_by,
        rpc=next((each for each in _all(error, ("code", "error.code"), int) if each in _RPC), None),
        errors=tuple(dict.fromkeys(each for each in _all(error, _ERRORS, str) if 0 < len(each) <= WORD)),
        message=text_of(error),
        at=safely(lambda: _place(error), ""),
        cause=safely(lambda: _cause(error, deep), None),
    )


def ended(code: int | None) -> tuple[int | None, str]:
    """How a command ended, by what its parent or its shell was told: its code, and the signal if one ended it."""
    if code is None:
        return None, ""
    number = -code if code < 0 else code - SHELL if code > SHELL else 0
    name = safely(lambda: signal.Signals(number).name, "") if number else ""
    return (SHELL - code if code < 0 else code), name


def text_of(error: BaseException) -> str:
    """What an exception says; nothing, if it cannot be printed."""
    return kept(safely(lambda: str(error), ""))


def safely(look: Callable[[], T], otherwise: T) -> T:
    """What is found by looking at something that may be anybody's."""
    try:
        return look()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  what breaks when it is looked at has nothing to say
        return otherwise


# ------------------------------------------------------------------------------- exceptions


def name_of(kind: type) -> str:
    """The qualified name of an exception, without the module of the built-in ones."""
    module, name = str(kind.__module__), str(kind.__qualname__)
    return kept(name if module == "builtins" else f"{module}.{name}")


def _names(error: BaseException) -> Iterator[str]:
    """Names of an exception, of its bases, and of those that it is a group of."""
    yield from (name_of(each) for each in type(error).__mro__ if issubclass(each, BaseException))
    for each in _leaves(error):
        yield from (name_of(base) for base in type(each).__mro__ if issubclass(base, BaseException))


def _leaves(error: BaseException) -> list[BaseException]:
    found, todo = list[BaseException](), list[BaseException]()
    if isinstance(error, BaseExceptionGroup):
        todo.append(cast("BaseException", error))
    while todo and len(found) < MANY:
        each = todo.pop()
        if isinstance(each, BaseExceptionGroup):
            todo += cast("BaseExceptionGroup[BaseException]", each).exceptions[:MANY]
        else:
            found.append(each)
    return found


def _cause(error: BaseException, deep: int) -> Signs | None:
    """Of what it was raised from, or of what it is a group of; `URLError` and others keep it as a reason."""
    leaves = _leaves(error)
    reason = safely(lambda: getattr(error, "reason", None), None)
    found = error.__cause__ or (leaves[0] if leaves else reason)
    return signs_of(found, deep - 1) if deep and isinstance(found, BaseException) else None


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "?")
    return kept(f"{str(module)[:WORD]}:{trace.tb_lineno} in {trace.tb_frame.f_code.co_name[:WORD]}")


# ------------------------------------------------------------------------------- what clients keep in them


def _all(error: BaseException, paths: tuple[str, ...], kind: type[T]) -> Iterator[T]:
    for path in paths:
        found = safely(lambda path=path: _at(error, path), None)
        if isinstance(found, kind) and not isinstance(found, bool):
            yield found


def _first(error: BaseException, paths: tuple[str, ...], kind: type[T]) -> T | None:
    return next(_all(error, paths, kind), None)


def _at(value: Any, path: str) -> Any:
    for word in path.split("."):
        if value is None:
            return None
        value = value.get(word) if is_mapping(value) else getattr(value, word, None)
    return value


def pause_in(error: BaseException) -> float | None:
    """Seconds that the other side asks us to stay away, as far as an exception says so."""
    for path in _HEADERS:
        headers = safely(lambda path=path: _at(error, path), None)
        asked = safely(lambda headers=headers: pause_of(headers), None)
        if asked is not None:
            return asked
    return safely(lambda: seconds_of(getattr(error, "retry_after", None)), None)


def pause_of(headers: Any) -> float | None:
    """Seconds that the headers of an answer ask us to stay away."""
    exactly = _header(headers, "retry-after-ms")
    if exactly is not None and (asked := seconds_of(exactly)) is not None:
        return asked / 1000
    return seconds_of(_header(headers, "retry-after"))


def _header(headers: Any, name: str) -> Any:
    found = headers.get(name) if headers is not None else None
    return headers.get(name.title()) if headers is not None and found is None else found


def seconds_of(asked: object) -> float | None:
    """Seconds, from a number, or as `Retry-After` has them: a number of them, or a date."""
    if isinstance(asked, (int, float)) and not isinstance(asked, bool):
        return float(asked) if 0 <= asked < float("inf") else None
    text = str(asked).strip() if isinstance(asked, (str, bytes)) else ""
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return min(float(text[:32]), 1e9)
    return safely(lambda: _until(text), None) if text else None


def _until(date: str) -> float:
    from datetime import UTC, datetime  # noqa: PLC0415  few failures have a date
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  few failures have a date

    when = parsedate_to_datetime(date)
    return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())

"""What a tool can say about its failing, and what an exception says without wanting to."""

import math
from typing import Any, Final, get_args

from perdure.core.calls import Failure
from perdure.plan.model.parts import FailureKind as Kind
from perdure.tools.values import NotJson, as_json

MESSAGE: Final = 2_000
"""Letters of a message that are kept."""
KINDS: Final = frozenset(get_args(Kind))


class ToolFailure(Exception):
    """Raised by a tool that knows why it failed. What follows from it is decided by its kind."""

    def __init__(self, kind: Kind, message: str, retry_after: float | None = None, detail: Any = None) -> None:
        if kind not in KINDS:
            raise ValueError(f"there is no kind of failure {kind!r}; it is one of: {', '.join(sorted(KINDS))}")
        super().__init__(message)
        self.failure: Final = Failure(kind, kept(message), _seconds(retry_after), _detail(detail))


def failure_of(error: BaseException) -> Failure:
    """What an exception that came out of a tool means."""
    match error:
        case ToolFailure():
            return error.failure
        case TimeoutError():
            return Failure("timeout", _told(error))
        case ConnectionError():
            return Failure("transient", _told(error))
        case _:
            return Failure("unknown", _told(error))


def kept(text: object) -> str:
    """A message that can be stored: well-formed and not too long."""
    whole = str(text)[: MESSAGE + 1].encode("utf-8", "backslashreplace").decode()
    return whole if len(whole) <= MESSAGE else whole[: MESSAGE - 1] + "…"


def _told(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  an exception that cannot even be printed is still only a failure
        text = ""
    return kept(f"{name}: {text}" if text else name)


def _seconds(retry_after: float | None) -> float | None:
    return retry_after if retry_after is not None and math.isfinite(retry_after) and retry_after >= 0 else None


def _detail(detail: Any) -> Any:
    try:
        return as_json(detail)
    except NotJson:
        return kept(repr(detail))

"""What a tool can say about its failing, and what an exception says without wanting to."""

import math
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, get_args

from msgspec.structs import replace

from perdure.core.calls import Failure
from perdure.plan.model.parts import FailureKind as Kind
from perdure.tools.values import NotJson, as_json, kept

if TYPE_CHECKING:
    from perdure.tools.signs import Signs

KINDS: Final = frozenset(get_args(Kind))


class ToolFailure(Exception):
    """Raised by a tool that knows why it failed. What follows from it is decided by its kind."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        retry_after: float | None = None,
        detail: Any = None,
        *,
        signs: "Signs | None" = None,
    ) -> None:
        """`signs`: what was seen of it, for those who have rules of their own."""
        if kind not in KINDS:
            raise ValueError(f"there is no kind of failure {kind!r}; it is one of: {', '.join(sorted(KINDS))}")
        super().__init__(message)
        self.failure: Final = Failure(kind, kept(message), _seconds(retry_after), _detail(detail))
        self.signs: Final = signs


@contextmanager
def unchanged() -> Generator[None]:
    """As long as nothing has changed, a disk that fails is all there is to tell, and a later try may succeed."""
    try:
        yield
    except OSError as error:
        raise ToolFailure("unavailable", f"nothing was changed: {error}") from error


def failure_of(error: BaseException) -> Failure:
    """An exception that came out of a tool, as a failure with its signs; what kind it is, rules say."""
    from perdure.tools.signs import Told, safely  # noqa: PLC0415  few calls fail

    return safely(lambda: _seen(error), Told("", kept(type(error).__name__)))


def _seen(error: BaseException) -> Failure:
    from perdure.tools.signs import Told, pause_in, signs_of  # noqa: PLC0415  few calls fail

    seen = signs_of(error)
    if not isinstance(error, ToolFailure):
        return Told("", _told(type(error).__name__, seen.message), pause_in(error), signs=seen)
    said = error.failure
    signs = replace(error.signs or seen, message=said.message, exceptions=seen.exceptions, at=seen.at, cause=seen.cause)
    return Told(said.kind, said.message, said.retry_after, said.detail, signs=signs)


def _told(name: str, text: str) -> str:
    return kept(f"{name}: {text}" if text else name)


def _seconds(retry_after: float | None) -> float | None:
    return retry_after if retry_after is not None and math.isfinite(retry_after) and retry_after >= 0 else None


def _detail(detail: Any) -> Any:
    try:
        return as_json(detail)
    except NotJson:
        return kept(repr(detail))

"""Asking the web on behalf of a tool: what is sent, and what a status means for a plan."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from perdure.tools.classifying import told_by
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Guard
from perdure.tools.net.answer import Answer
from perdure.tools.net.asking import Asking, Bounds
from perdure.tools.net.following import followed
from perdure.tools.net.gate import Gate
from perdure.tools.net.url import url_of, with_query
from perdure.tools.signs import Signs, pause_of

LARGEST: Final = 10_000_000
"""Bytes that are sent."""
EXCERPT: Final = 1_000
"""Letters of an answer that a failure shows."""
NOT_MODIFIED: Final = 304
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE: Final = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_OURS: Final = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
        "accept-encoding", "proxy-authorization", "proxy-connection",
    }
)  # fmt: skip
"""Headers that say how a message is laid out; whoever sets them can make two messages of one."""
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
"""Methods that need not say that they send nothing."""


@dataclass(frozen=True, slots=True)
class Result:
    """The last answer, and why it was not followed further although it is a redirect."""

    answer: Answer
    unfollowed: str = ""


def asked(guard: Guard, asking: Asking, url: str, query: dict[str, Any], bounds: Bounds) -> Result:
    """Ask, and follow where it leads."""
    return Result(*followed(Gate(guard), asking, url_of(with_query(url, query)), bounds))


def foreseen(guard: Guard, url: str, query: dict[str, Any]) -> None:
    """Have the first connection judged. Where it is redirected to is known only by asking."""
    there = url_of(with_query(url, query))
    Gate(guard).foresee(there.host, there.port)


def result(found: Result, asking: Asking, *, strict: bool, doubtful: bool = False) -> dict[str, Any]:
    """What a tool gives. `strict`: only what was done is a result. `doubtful`: nobody can tell a repetition."""
    if strict and not _is_done(found, asking):
        raise _failure_of(found, asking, doubtful=doubtful)
    return {**found.answer.data(), **({"unfollowed": found.unfollowed} if found.unfollowed else {})}


def _is_done(found: Result, asking: Asking) -> bool:
    """Whether what was asked for was done. A redirect that comes after it was done says so too."""
    status = found.answer.status
    is_good = 200 <= status < 300 or status == NOT_MODIFIED  # noqa: PLR2004  as RFC 9110 has them
    return is_good or (bool(found.unfollowed) and not asking.is_safe)


# ------------------------------------------------------------------------------- what is sent


def asking_of(
    method: str, headers: Mapping[str, str], value: Any = None, body: str | None = None, *, key: str = ""
) -> Asking:
    """A request; the caller's headers count before ours."""
    sent, kind = _sent(value, body)
    ours = {**kind, **({"Idempotency-Key": key} if key else {})}
    given = _checked(headers)
    named = {name.lower() for name in given}
    empty = None if method in _WITHOUT_BODY else b""
    kept = {name: said for name, said in ours.items() if name.lower() not in named}
    return Asking(method, {**kept, **given}, empty if sent is None else sent)


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers as a caller gives them. `ToolFailure` names the one that cannot be sent."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ToolFailure("invalid", f"headers: {name[:100]!r} has letters that no header can have")
        if name.lower() in _OURS:
            raise ToolFailure("invalid", f"headers: {name} is set by the tool itself; leave it out")
    if len({name.lower() for name in headers}) < len(headers):
        raise ToolFailure("invalid", "headers: the same name stands there twice")
    return dict(headers)


def _sent(value: Any, body: str | None) -> tuple[bytes | None, dict[str, str]]:
    """The bytes of a value or a text, and the header that says what they are."""
    if value is not None and body is not None:
        raise ToolFailure("invalid", "json and body: give one of them")
    if value is None and body is None:
        return None, {}
    data = (json.dumps(value, ensure_ascii=False) if body is None else body).encode()
    if len(data) > LARGEST:
        raise ToolFailure("invalid", f"what is sent has more than {LARGEST:,} bytes")
    return data, {"Content-Type": "application/json" if body is None else "text/plain; charset=utf-8"}


# ------------------------------------------------------------------------------- what a status means


def _failure_of(found: Result, asking: Asking, *, doubtful: bool) -> ToolFailure:
    answer = found.answer
    why = f"; {found.unfollowed}" if found.unfollowed else ""
    message = f"{asking.method} {answer.url.scheme}://{answer.url.authority} gave {answer.status}{why}"
    detail = {"status": answer.status, "url": str(answer.url)[:EXCERPT], "excerpt": answer.excerpt(EXCERPT)}
    repeat, pause = "never" if doubtful else "safe", pause_of(answer.headers)
    signs = Signs(status=answer.status)
    return told_by(signs, message, repeat=repeat, otherwise="invalid", retry_after=pause, detail=detail)

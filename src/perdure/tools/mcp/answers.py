"""What comes of a call: a value that plans can use, or a failure of the right kind."""

import math
from collections.abc import Mapping
from typing import Any, Final

from perdure.core.calls import Repeat
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.visible import visible
from perdure.tools.failure import Kind, ToolFailure
from perdure.tools.values import NotJson, json_and_text

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a result, pictures and sounds in it as base64."""
MESSAGE: Final = 1_000
PARSE, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32_700, -32_600, -32_601, -32_602, -32_603
CLOSED, TIMEOUT, NEEDS_URL = -32_000, -32_001, -32_042
NOT_SENT, LOST, STATUS, REFUSED = -32_990, -32_991, -32_992, -32_993
"""Ours: it cannot have reached the server; nobody knows; a status and nothing else came (`data` has it); the gate has
refused to connect."""
_DOUBT: Final = frozenset({PARSE, CLOSED, LOST})
"""The request has left, and no answer to it came that could be read."""
_KINDS: Final[Mapping[int, Kind]] = {
    NOT_SENT: "unavailable",
    REFUSED: "denied",
    TIMEOUT: "timeout",
    INVALID_REQUEST: "invalid",
    INVALID_PARAMS: "invalid",
    NO_METHOD: "invalid",
    NEEDS_URL: "denied",
    INTERNAL: "unknown",
}
_STATUSES: Final[Mapping[int, Kind]] = {
    401: "denied", 403: "denied", 404: "transient", 408: "transient", 429: "rate_limited", 503: "unavailable"
}  # fmt: skip
_SERVER_ERROR: Final = 500


def value_of(raw: Mapping[str, Raw]) -> Any:
    """The result of a call as JSON; `ToolFailure` if the tool says that it failed, or says too much."""
    content = raw.get("content")
    parts = [each for each in content if is_mapping(each)] if is_list(content) else []
    if raw.get("isError") is True:
        raise ToolFailure("logic", _said(parts) or "the tool failed and did not say why", detail=_detail(raw))
    found = raw.get("structuredContent")
    return _bounded(found if found is not None else _content(parts))


def _content(parts: list[Mapping[str, Raw]]) -> Any:
    """Text as text; anything else as the list that came."""
    if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
        return "\n".join(part["text"] for part in parts)
    return [{key: value for key, value in part.items() if key not in ("_meta", "annotations")} for part in parts]


def _bounded(value: Any) -> Any:
    try:
        plain, text = json_and_text(value)
    except NotJson as error:
        raise ToolFailure("invalid", f"the result is not JSON: {error}") from None
    if len(text) > LARGEST:
        raise ToolFailure("invalid", f"the result is larger than {LARGEST:,} bytes")
    return plain


def _said(parts: list[Mapping[str, Raw]]) -> str:
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return visible(" ".join(texts), MESSAGE)


def _detail(raw: Mapping[str, Raw]) -> Any:
    """What a failed tool gave beside its words, if it is not much."""
    found = raw.get("structuredContent")
    return found if found is not None and len(str(found)) <= MESSAGE else None


def failure_from(code: int, message: str, data: Raw, repeat: Repeat) -> ToolFailure:
    """What an error means. After a request has left, nobody knows what came of it, unless it may be done again."""
    told = visible(message, MESSAGE)
    if code == STATUS and is_mapping(data):
        return _by_status(data, told, repeat)
    if code in _DOUBT:
        return doubt(f"no answer came to the call: {told}", repeat)
    return ToolFailure(_KINDS.get(code, "logic"), told or f"error {code}")


def doubt(message: str, repeat: Repeat) -> ToolFailure:
    """A failure after which nobody knows whether the call had its effect."""
    return ToolFailure("in_doubt" if repeat == "never" else "transient", message)


def _by_status(data: Mapping[str, Raw], told: str, repeat: Repeat) -> ToolFailure:
    status = data.get("status", 0)
    if status in _STATUSES:
        return ToolFailure(_STATUSES[status], told, _seconds(data.get("after")))
    return doubt(told, repeat) if status >= _SERVER_ERROR else ToolFailure("invalid", told)


def _seconds(text: Raw) -> float | None:
    try:
        found = float(text)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) and found >= 0 else None

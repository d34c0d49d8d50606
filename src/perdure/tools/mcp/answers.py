"""What comes of a call: a value that plans can use, or a failure of the right kind."""

from collections.abc import Mapping
from typing import Any, Final

from perdure.core.calls import Repeat
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.visible import visible
from perdure.tools.classifying import told_by
from perdure.tools.failure import ToolFailure
from perdure.tools.rulebook import CLOSED, LOST, PARSE, STATUS
from perdure.tools.signs import Signs, seconds_of
from perdure.tools.values import NotJson, json_and_text

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a result, pictures and sounds in it as base64."""
MESSAGE: Final = 1_000
_UNANSWERED: Final = frozenset({PARSE, CLOSED, LOST})
"""The request has left, and no answer to it came that could be read."""


def value_of(raw: Mapping[str, Raw]) -> Any:
    """The result of a call as JSON; `ToolFailure` if the tool says that it failed, or says too much."""
    content = raw.get("content")
    parts = [each for each in content if is_mapping(each)] if is_list(content) else []
    if raw.get("isError") is True:
        said = _said(parts) or "the tool failed and did not say why"
        raise ToolFailure("logic", said, detail=_detail(raw), signs=Signs(errors=("isError",)))
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
    known: Mapping[str, Raw] = data if is_mapping(data) else {}
    status = known.get("status") if code == STATUS else None
    signs = Signs(rpc=code, status=status if isinstance(status, int) else None)
    said = f"no answer came to the call: {told}" if code in _UNANSWERED else told or f"error {code}"
    return told_by(signs, said, repeat=repeat, otherwise="logic", retry_after=seconds_of(known.get("after")))


def doubt(message: str, repeat: Repeat) -> ToolFailure:
    """A failure after which nobody knows whether the call had its effect."""
    return told_by(Signs(rpc=LOST), message, repeat=repeat)

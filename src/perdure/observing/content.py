"""What was given back, for traces that are to show it. Facts hold no secrets, so neither does this."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from perdure.errors import PerdureError
from perdure.observing.spans import Span
from perdure.plan.raw import is_mapping
from perdure.ports import Arrived

_MOST: Final = 32 * 1024
"""Bytes of JSON; what is larger is left out."""


def content_of(span: Span, turn: Arrived, fetch: Callable[[str], bytes]) -> dict[str, Any]:
    """What a tool or a model gave."""
    operation = span.attributes.get("gen_ai.operation.name")
    entry = next((each for each in turn.entries if each.seq == span.seq), None)
    if operation not in {"execute_tool", "chat"} or entry is None or entry.type != "attempt_ended":
        return {}
    output = _output(entry.body, fetch)
    if output is None:
        return {}
    if operation == "execute_tool":
        return {"gen_ai.tool.call.result": output}
    text = output if isinstance(output, str) else msgspec.json.encode(output).decode()
    return {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": text}]}]}


def _output(body: bytes, fetch: Callable[[str], bytes]) -> Any:
    try:
        output = msgspec.json.decode(body).get("output")
        data = fetch(output["sha256"]) if is_mapping(output) and "sha256" in output else b""
        found: Any = msgspec.json.decode(data) if data else output.get("data") if is_mapping(output) else None
        return found if len(msgspec.json.encode(found)) <= _MOST else None
    except (PerdureError, ValueError, TypeError, AttributeError, RecursionError):
        return None

"""What goes in and out of an agent's loop, as facts hold it: JSON, and the same whenever it is said again."""

import hashlib
import json
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import TypeAdapter
from pydantic_ai import ModelRetry, ToolReturn
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
from pydantic_ai.messages import (
    BinaryContent,
    FileUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_core import to_jsonable_python

from perdure.agents.adapted.errors import NotAdapted
from perdure.models.answering import written
from perdure.plan.tokens import FRAME, size_of, tokens_in

ODD: Final = "pydantic_ai"
"""The word under which it stands that a result is no plain value."""
FLEETING: Final = frozenset({"timestamp", "run_id", "conversation_id", "metadata", "usage", "provider_response_id"})
"""What is other each time, and says nothing about what is asked."""
_RETURN: Final = TypeAdapter[Any](ToolReturn)

# ------------------------------------------------------------------------------- results of tools


async def result_of(call: Awaitable[Any]) -> Any:
    """What a tool gives, also that it wants to be called otherwise."""
    try:
        return _result(await call)
    except ModelRetry as again:
        return {ODD: "retry", "message": again.message}
    except ToolFailed as failed:
        return {ODD: "failed", "message": failed.message}
    except (ApprovalRequired, CallDeferred) as later:
        told = f"a tool puts its work off ({type(later).__name__}), and nobody would take it up"
        raise NotAdapted(told, "let a policy `ask` before the tool is called") from later


def _result(value: Any) -> Any:
    if not isinstance(value, ToolReturn) and _has_files(value):
        value = ToolReturn(return_value=value)
    if isinstance(value, ToolReturn):
        return {ODD: "return", "value": _RETURN.dump_python(value, mode="json")}
    plain: Any = to_jsonable_python(value)
    is_odd = isinstance(plain, dict) and ODD in plain
    return {ODD: "plain", "value": plain} if is_odd else plain  # pyright: ignore[reportUnknownVariableType]


def _has_files(value: Any) -> bool:
    parts = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else (value,)
    return any(isinstance(each, (BinaryContent, FileUrl)) for each in parts)


def told_to_agent(result: Mapping[str, Any]) -> Any:
    """What came of a call, as the agent's loop takes it."""
    if "refused" in result:
        raise ToolFailed(f"it may not be done: {result['refused']}")
    found: Any = result["output"]
    odd = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if ODD not in odd:
        return cast("Any", found)
    match odd[ODD]:
        case "retry":
            raise ModelRetry(odd["message"])
        case "failed":
            raise ToolFailed(odd["message"])
        case "return":
            return _RETURN.validate_python(odd["value"])
        case _:
            return odd["value"]


# ------------------------------------------------------------------------------- questions to models


class Digests:
    """What messages are known by. They are said again with every question, and looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ModelMessage, str]] = {}

    def of(self, messages: Sequence[ModelMessage]) -> str:
        """What all of them are known by."""
        known = {id(each): self._one(each) for each in messages}
        self._known = known
        return digest([known[id(each)][1] for each in messages])

    def _one(self, message: ModelMessage) -> tuple[ModelMessage, str]:
        found = self._known.get(id(message))
        if found is not None and found[0] is message:
            return found
        return message, digest(ModelMessagesTypeAdapter.dump_python([message], mode="json"))


def question_of(  # noqa: PLR0913, PLR0917  all that a model is asked
    number: int,
    messages: Sequence[ModelMessage],
    settings: Any,
    form: ModelRequestParameters,
    said: int,
    digests: Digests,
) -> dict[str, Any]:
    """A question as a fact. `said`: how many of the messages were there the last time, with the answer."""
    last = messages[-1]
    parts = {
        "messages": digests.of(messages),
        "instructions": digest(last.instructions if isinstance(last, ModelRequest) else ""),
        "tools": {each.name: digest(each) for each in (*form.function_tools, *form.output_tools)},
        "settings": digest([settings, form]),
    }
    new = messages[said:] if said < len(messages) else messages[-1:]
    size = size_of(_plain(list(new))) + (0 if said else size_of(_plain(form)))
    told = {"prompt": _prompt(new), "kind": "model", "id": f"m{number}", "size": tokens_in(size) + FRAME}
    return {**told, "parts": parts}


def _prompt(messages: Sequence[ModelMessage]) -> str:
    """What is new, for people; what tools gave stands with them."""
    found = [each for message in messages if isinstance(message, ModelRequest) for each in message.parts]
    texts = [text for each in found if (text := _text(each))]
    return "\n\n".join(texts) or "Go on."


def _text(part: Any) -> str:
    if isinstance(part, ToolReturnPart):
        return f"what {part.tool_name} gave" if part.outcome == "success" else f"{part.tool_name}: {part.content}"
    if isinstance(part, UserPromptPart):
        return part.content if isinstance(part.content, str) else "a text with files"
    return written(to_jsonable_python(part.content)) if isinstance(part, RetryFeedbackPart) else ""


def digest(value: Any) -> str:
    """What a value is known by."""
    text = json.dumps(_plain(value), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """As JSON; of what is none, the type."""
    return _lasting(to_jsonable_python(value, fallback=lambda each: type(each).__name__))


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {word: _lasting(each) for word, each in found.items() if word not in FLEETING}
    return [_lasting(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def response_of(result: Mapping[str, Any]) -> ModelResponse:
    """What a model has answered, from its fact."""
    try:
        output = {word: value for word, value in result["output"].items() if word != "usd"}
        found = ModelMessagesTypeAdapter.validate_python([output])[0]
    except (AttributeError, KeyError, ValueError) as error:
        raise NotAdapted(f"what was recorded is no answer of a model: {error}") from None
    if not isinstance(found, ModelResponse):
        raise NotAdapted("what was recorded is no answer of a model")
    return found


def fact_of(response: ModelResponse, usd: float | None) -> dict[str, Any]:
    """What a model has answered, as a fact, with what it cost."""
    dumped: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    parts = [_lean(each) for each in dumped["parts"]]
    return {**_lean(dumped), "parts": parts, "usage": _lean(dumped["usage"]), "usd": usd}


def _lean(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without fields that say nothing; what is in them stays as it is."""
    return {word: each for word, each in fields.items() if each is not None and each != 0}

"""Conversations as the library has them, and its answers as we have them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from perdure.core.values import from_json, well_formed
from perdure.models.naming import outer
from perdure.ports import Answered, Offer, Remark, Request, Returned, Wish

KEPT: Final = ("kind", "parts", "model_name", "provider_name", "canonical_system")
"""What a provider needs to know its own thoughts again."""
SPOKEN: Final = (TextPart, ThinkingPart, ToolCallPart)
LONGEST_ID: Final = 40
"""Of the name of a call; some providers take no longer ones."""


# ------------------------------------------------------------------------------- there


def tools_of(offers: Sequence[Offer]) -> list[ToolDefinition]:
    """Tools, under names that providers take."""
    return [
        ToolDefinition(name=outer(each.name), parameters_json_schema=dict(each.schema), description=each.description)
        for each in offers
    ]


def messages_of(request: Request, instructions: str) -> list[ModelMessage]:
    """The conversation: what belongs to one turn is one message, and the last has the instructions."""
    found: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    ids = _Ids()
    for each in request.remarks:
        if isinstance(each, Answered):
            _close(found, asked)
            found.append(_answered(each, ids))
        else:
            asked.append(_asked(each, ids))
    _close(found, asked)
    if instructions and found and isinstance(found[-1], ModelRequest):
        found[-1].instructions = instructions
    return found


def _close(found: list[ModelMessage], asked: list[ModelRequestPart]) -> None:
    if asked:
        found.append(ModelRequest(parts=list(asked)))
        asked.clear()


def _asked(remark: Remark, ids: "_Ids") -> ModelRequestPart:
    if isinstance(remark, Returned):
        outcome = "failed" if remark.is_error else "success"
        name, text = outer(remark.wish.tool), well_formed(remark.text)
        return ToolReturnPart(name, text, ids.of_result(remark.wish), outcome=outcome)
    return UserPromptPart(well_formed(remark.text))


def _answered(remark: Answered, ids: "_Ids") -> ModelResponse:
    names = [ids.of_wish(each) for each in remark.wishes]
    if thought := recalled(remark.thoughts, remark.wishes):
        return thought
    parts: list[ModelResponsePart] = [TextPart(remark.text)] if remark.text or not remark.wishes else []
    parts += [
        ToolCallPart(outer(each.tool), _arguments(each), name)
        for each, name in zip(remark.wishes, names, strict=True)
    ]  # fmt: skip
    return ModelResponse(parts=parts)


def _arguments(wish: Wish) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", wish.arguments)) if isinstance(wish.arguments, Mapping) else {}


class _Ids:
    """Names of calls, the same for a call and for what came of it; one that has none gets one by its place."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: list[tuple[Wish, str]] = []

    def of_wish(self, wish: Wish) -> str:
        self._count += 1
        fits = 0 < len(wish.id) <= LONGEST_ID and wish.id.replace("_", "a").replace("-", "a").isalnum()
        name = wish.id if fits and wish.id.isascii() else f"call_{self._count}"
        self._waiting.append((wish, name))
        return name

    def of_result(self, wish: Wish) -> str:
        for n, (each, name) in enumerate(self._waiting):
            if each == wish:
                del self._waiting[n]
                return name
        return wish.id or "call_0"


def recalled(thoughts: Any, wishes: Sequence[Wish]) -> ModelResponse | None:
    """What the provider said, with its thoughts; None if there are none, or they are not about these calls."""
    if not isinstance(thoughts, Mapping):
        return None
    try:
        found = ModelMessagesTypeAdapter.validate_python([dict(cast("Mapping[str, Any]", thoughts))])[0]
    except ValueError:
        return None
    if not isinstance(found, ModelResponse) or not all(isinstance(each, SPOKEN) for each in found.parts):
        return None
    called = [each.tool_call_id for each in found.parts if isinstance(each, ToolCallPart)]
    return found if called == [each.id for each in wishes] else None


# ------------------------------------------------------------------------------- and back


def text_of(response: ModelResponse) -> str:
    """All that it says."""
    return well_formed("".join(str(each.content) for each in response.parts if isinstance(each, TextPart)))


def wishes_of(response: ModelResponse, names: Mapping[str, str]) -> tuple[Wish, ...]:
    """The calls it asks for, by our names. A name that was not offered stays as it is, and is refused later."""
    return tuple(_wish(each, names) for each in response.parts if isinstance(each, ToolCallPart))


def _wish(part: ToolCallPart, names: Mapping[str, str]) -> Wish:
    name = well_formed(str(part.tool_name))
    return Wish(names.get(name, name), _read(part.args), well_formed(str(part.tool_call_id)))


def _read(given: Any) -> Any:
    """Arguments as they were meant; what is no JSON stays a text, which says what is wrong with it."""
    if not isinstance(given, str):
        return {} if given is None else given
    try:
        return _whole(from_json(given)) if given.strip() else {}
    except (ValueError, RecursionError):
        return well_formed(given)


def _whole(value: Any) -> Any:
    """A value without halves of Unicode pairs, which no provider takes back."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_whole(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {well_formed(word): _whole(each) for word, each in cast("dict[str, Any]", value).items()}
    return value


def thoughts_of(response: ModelResponse) -> Any:
    """What the provider wants to hear again, as JSON; None if a text and calls are all."""
    if not any(_is_thought(each) for each in response.parts):
        return None
    spoken = [each for each in response.parts if isinstance(each, SPOKEN)]
    whole: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    parts = ModelMessagesTypeAdapter.dump_python([ModelResponse(parts=spoken)], mode="json")[0]["parts"]
    return {**{word: whole[word] for word in KEPT if whole.get(word) is not None}, "parts": list(_lean(parts))}


def _is_thought(part: ModelResponsePart) -> bool:
    return isinstance(part, ThinkingPart) or bool(isinstance(part, ToolCallPart) and part.provider_details)


def _lean(parts: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in parts:
        yield {word: value for word, value in each.items() if value is not None}

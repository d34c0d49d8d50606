"""A tier of Perdure's as a model of pydantic-ai: for agents that have no model of their own, or shall ask another."""

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, cast

from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage
from pydantic_core import to_jsonable_python

from perdure.agents.adapted.errors import NotAdapted
from perdure.models.answering import written
from perdure.models.messages import SPOKEN, recalled, text_of, thoughts_of
from perdure.models.performing import USUAL_TOKENS, Listener
from perdure.ports import Answer, Answered, Attempt, Offer, Remark, Request, Returned, Said, Wish
from perdure.ports import Model as Port

ASKING: Final[ContextVar[Attempt]] = ContextVar("perdure.adapted.asking")
"""The attempt by which a model is asked just now."""
PRICE: Final = "usd"
FINISHES: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "refused": "content_filter",
    "calls": "tool_call",
}


PROFILE: Final = ModelProfile(supports_inline_system_prompts=True)  # they go into the instructions


class Tier(Model):
    """Asks whoever is configured for a tier, with texts and calls."""

    def __init__(self, name: str, port: Port, names: Mapping[str, str]) -> None:
        """`names`: what our tools are called, by the agent's names for them."""
        super().__init__(profile=PROFILE)
        self._name: Final = name
        self._port: Final = port
        self._ours: Final = names
        self._theirs: Final = {ours: theirs for theirs, ours in names.items()}

    @property
    def model_name(self) -> str:
        """The tier."""
        return self._name

    @property
    def system(self) -> str:
        """Who provides it."""
        return "perdure"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Ask once."""
        settings, form = self.prepare_request(model_settings, model_request_parameters)
        attempt = ASKING.get()
        request = self._request(messages, cast("Mapping[str, Any]", settings or {}), form, attempt)
        answer = await self._port.ask(request, Listener(attempt, request.tokens or USUAL_TOKENS))
        return self._response(answer)

    def _request(
        self,
        messages: Sequence[ModelMessage],
        settings: Mapping[str, Any],
        form: ModelRequestParameters,
        attempt: Attempt,
    ) -> Request:
        told = [each.instructions for each in messages if each.kind == "request" and each.instructions][-1:]
        return Request(
            self._name,
            list(self._remarks(messages)),
            "\n\n".join([*_system(messages), *told]),
            [self._offer(each) for each in (*form.function_tools, *form.output_tools)],
            form.output_object.json_schema if form.output_object and form.output_mode == "native" else None,
            tokens=settings.get("max_tokens", USUAL_TOKENS),
            temperature=settings.get("temperature"),
            seconds=attempt.seconds,
            digest=attempt.digest,
        )

    def _offer(self, tool: ToolDefinition) -> Offer:
        return Offer(self._named(tool.name), tool.description or "", tool.parameters_json_schema)

    def _named(self, name: str) -> str:
        return self._ours.get(name, name)

    def _remarks(self, messages: Sequence[ModelMessage]) -> Iterator[Remark]:
        wishes: dict[str, Wish] = {}
        for message in messages:
            if isinstance(message, ModelResponse):
                found = [self._wish(each) for each in message.parts if isinstance(each, ToolCallPart)]
                wishes |= {each.id: each for each in found}
                yield Answered(text_of(message), tuple(found), _thoughts(message))
            else:
                yield from (remark for each in message.parts for remark in self._said(each, wishes))

    def _wish(self, part: ToolCallPart) -> Wish:
        return Wish(self._named(part.tool_name), part.args_as_dict(), part.tool_call_id)

    def _said(self, part: Any, wishes: Mapping[str, Wish]) -> Iterator[Remark]:
        if isinstance(part, ToolReturnPart):
            wish = wishes.get(part.tool_call_id) or Wish(self._named(part.tool_name), {}, part.tool_call_id)
            yield Returned(wish, part.model_response_str(), is_error=part.outcome != "success")
        elif isinstance(part, RetryFeedbackPart):
            yield Said(written(to_jsonable_python(part.content)))
        elif isinstance(part, UserPromptPart):
            yield Said(_only_text(part))

    def _response(self, answer: Answer) -> ModelResponse:
        used = RequestUsage(input_tokens=answer.tokens_in, output_tokens=answer.tokens_out)
        thought = recalled(answer.thoughts, answer.wishes)
        return ModelResponse(
            parts=list(self._parts(answer, thought)),
            usage=used,
            model_name=answer.model or self._name,
            provider_name=None if thought is None else thought.provider_name,
            provider_details={PRICE: answer.usd},
            finish_reason=FINISHES.get(answer.finish),
        )

    def _parts(self, answer: Answer, thought: ModelResponse | None) -> Iterator[ModelResponsePart]:
        """What was said, in the provider's own words where it wants to hear them again, and by the agent's names."""
        if thought is None:
            yield from [TextPart(answer.text)] if answer.text or not answer.wishes else []
            yield from (self._call(each) for each in answer.wishes)
            return
        wishes = iter(answer.wishes)
        for each in thought.parts:
            yield replace(each, tool_name=self._their(next(wishes))) if isinstance(each, ToolCallPart) else each

    def _call(self, wish: Wish) -> ToolCallPart:
        called = ToolCallPart(self._their(wish), wish.arguments)
        return replace(called, tool_call_id=wish.id) if wish.id else called

    def _their(self, wish: Wish) -> str:
        return self._theirs.get(wish.tool, wish.tool)


def _thoughts(message: ModelResponse) -> Any:
    return thoughts_of(message) if all(isinstance(each, SPOKEN) for each in message.parts) else None


def _system(messages: Sequence[ModelMessage]) -> list[str]:
    parts = (each for message in messages if message.kind == "request" for each in message.parts)
    return [each.content for each in parts if isinstance(each, SystemPromptPart)]


def _only_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    texts = [each for each in part.content if isinstance(each, str)]
    if len(texts) < len(part.content):
        told = "the agent says something with files in it, and a tier takes texts alone"
        raise NotAdapted(told, "give the agent a model of its own")
    return "\n\n".join(texts)

"""One request to a provider, once, as a stream; and what came of it.

The library does not try again: the engine does, so that every try is a fact. Where a provider does not take a form that
is asked for (a schema, log-probabilities), that is remembered, and the next try goes without.
"""

from collections.abc import Callable
from typing import Any, Final

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse, infer_model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from perdure.models.chances import chances_of
from perdure.models.failing import failed, settled
from perdure.models.messages import messages_of, text_of, thoughts_of, tools_of, wishes_of
from perdure.models.naming import inner_by_outer
from perdure.models.places import Place
from perdure.models.prices import price_of
from perdure.models.schemas import Wanted, is_whole, told_of, wanted_of
from perdure.models.wire import opened
from perdure.plan.tokens import pieces_in, tokens_in, tokens_of
from perdure.ports import Answer, ModelFailed, Request

FINISHES: Final = {"stop": "stop", "length": "length", "content_filter": "refused", "tool_call": "calls"}
MOST_TOKENS: Final = 100_000_000
"""More has nobody ever counted in one call."""
TOP: Final = 10
"""Other tokens that are asked for, where a choice is to be weighed."""
OLDER, CHANCES, SCHEMA = "`max_tokens`", "log-probabilities", "a schema"
EXTRAS: Final = (
    ("max_completion_tokens", OLDER),
    ("logprob", CHANCES),
    ("response_format", SCHEMA),
    ("json_schema", SCHEMA),
)
"""Words in a refusal, and what it is that a provider does not take."""
PROFILE: Final = OpenAIModelProfile(
    openai_chat_streaming_requires_finish_reason=True,  # an answer that does not end was broken off
    openai_chat_supports_max_completion_tokens=False,  # the older word is known everywhere but at OpenAI's
    native_output_requires_schema_in_instructions=True,  # a small server holds a model to a schema that it never saw
)


class Direct:
    """The line to one model."""

    def __init__(self, place: Place, name: str) -> None:
        self._place: Final = place
        self._name: Final = name
        self._key: Final = place.key()
        self._client: Final = opened(here=place.is_here)
        self._model: Final = _model_or_failure(place, name, self._key, self._client)
        self._untaken: Final[set[str]] = set()
        """What the provider does not take."""

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def ask(self, request: Request, heard: Callable[[str], None]) -> Answer:
        """Ask once. `ModelFailed` if there is no answer."""
        wanted, begun = wanted_of(request), list[StreamedResponse]()
        try:
            response = await self._streamed(request, wanted, heard, begun)
            return self._answer(request, response, wanted)
        except Exception as error:  # noqa: BLE001  whatever a stranger's answer does to the library is a failure of the call
            found = self._failed(error)  # what it came from holds the request, and the key with it
            raise (settled(found, self._told(begun[0])) if begun else found) from None

    async def _streamed(
        self, request: Request, wanted: Wanted | None, heard: Callable[[str], None], begun: list[StreamedResponse]
    ) -> ModelResponse:
        told = "\n\n".join(filter(None, (request.instructions, told_of(request))))
        messages = messages_of(request, told)
        settings, form = self._settings(request), self._form(request, wanted)
        async with model_request_stream(
            self._model, messages, model_settings=settings, model_request_parameters=form, instrument=False
        ) as stream:
            begun.append(stream)
            async for event in stream:
                piece = _piece(event)
                if isinstance(piece, str) and piece:
                    heard(piece)
            return stream.get()

    def _settings(self, request: Request) -> ModelSettings:
        found = OpenAIChatModelSettings(max_retries=0)
        if request.tokens is not None and self._takes(OLDER):
            found["max_tokens"] = request.tokens
        elif request.tokens is not None:
            found["extra_body"] = {"max_completion_tokens": request.tokens}
        if request.temperature is not None:
            found["temperature"] = request.temperature
        if request.choices and not request.offers and self._takes(CHANCES):
            found["openai_logprobs"] = True
            found["openai_top_logprobs"] = TOP
        return found

    def _takes(self, extra: str) -> bool:
        if extra == CHANCES and self._model.profile.get("openai_supports_reasoning", False):
            return False
        return extra not in self._untaken

    def _form(self, request: Request, wanted: Wanted | None) -> ModelRequestParameters:
        found = ModelRequestParameters(function_tools=tools_of(request.offers))
        if wanted is None:
            return found
        native = self._model.profile.get("supports_json_schema_output", False) and self._takes(SCHEMA)
        found.output_mode = "native" if native else "prompted"
        found.output_object = OutputObjectDefinition(dict(wanted.schema), name="answer")
        return found

    # ------------------------------------------------------------ what came of it

    def _failed(self, error: Exception) -> ModelFailed:
        found = error if isinstance(error, ModelFailed) else failed(error, self._key)
        told = found.failure.message
        extra = next((each for word, each in EXTRAS if word in told.lower()), "")
        if found.failure.kind != "invalid" or not extra or not self._takes(extra):
            return found
        self._untaken.add(extra)
        return ModelFailed("unavailable", f"the provider does not take {extra}, so the next try goes without: {told}")

    def _answer(self, request: Request, response: ModelResponse, wanted: Wanted | None) -> Answer:
        said, names = text_of(response), inner_by_outer(each.name for each in request.offers)
        wishes = wishes_of(response, names)
        text = wanted.unwrapped(said) if wanted else said
        tokens_in, tokens_out, cached = self._tokens(request, response)
        who = self._who(response)
        return Answer(
            text or self._refusal(response),
            wishes,
            _finish(response, calls=bool(wishes), whole=wanted is not None and is_whole(said)),
            tokens_in,
            tokens_out,
            self._usd(who, tokens_in, tokens_out, cached),
            who,
            self._chances(request, response, text),
            thoughts_of(response),
        )

    def _tokens(self, request: Request, response: ModelResponse) -> tuple[int, int, int]:
        """Tokens in and out, and those in that were cached. Where a provider does not count, letters are."""
        counts = _counts(response)
        if counts[0] or counts[1]:
            return counts
        size = pieces_in(request.instructions) + sum(pieces_in(each.text) for each in request.remarks)
        return tokens_in(size) or 1, tokens_of(text_of(response)) or 1, 0

    def _told(self, stream: StreamedResponse) -> Answer | None:
        """What an answer took that is of no use; None: the provider did not come to tell."""
        try:
            response = stream.get()
            tokens_in, tokens_out, cached = _counts(response)
            if not (tokens_in or tokens_out):
                return None
            if response.finish_reason is None:  # it broke off, and more was said since this was counted
                tokens_out = max(tokens_out, tokens_of(text_of(response)))
            who = self._who(response)
            return Answer("", (), "stop", tokens_in, tokens_out, self._usd(who, tokens_in, tokens_out, cached), who)
        except Exception:  # noqa: BLE001  as above
            return None

    def _who(self, response: ModelResponse) -> str:
        return response.model_name if isinstance(response.model_name, str) else self._name

    def _usd(self, who: str, tokens_in: int, tokens_out: int, cached: int) -> float | None:
        """As the user says; else by the name of who answered, which may be a dated one, or that was asked."""
        own = self._place.own_price(self._name, tokens_in, tokens_out)
        if own is not None:
            return own
        for name in dict.fromkeys((who, self._name)):
            found = price_of(self._place, name, tokens_in, tokens_out, cached)
            if found is not None:
                return found
        return None

    def _refusal(self, response: ModelResponse) -> str:
        return str((response.provider_details or {}).get("refusal", ""))

    def _chances(self, request: Request, response: ModelResponse, chosen: str) -> dict[str, float] | None:
        if chosen not in request.choices:
            return None
        return chances_of(_tokens_in(response), request.choices, chosen)


def _model_or_failure(place: Place, name: str, key: str, client: Any) -> Model:
    try:
        return _model(place, name, key, client)
    except Exception as error:  # noqa: BLE001  some names are refused before anything is sent
        raise failed(error, key) from None


def _model(place: Place, name: str, key: str, client: Any) -> Model:
    if place.url:
        provider = OpenAICompatibleProvider(
            place.provider, base_url=place.url, api_key=key or None, http_client=client, profile=PROFILE
        )
        return OpenAIChatModel(name, provider=provider)

    def known(provider: str) -> Any:
        return infer_provider_class(provider)(api_key=key, http_client=client)  # pyright: ignore[reportCallIssue]

    return infer_model(f"{place.provider}:{name}", known)


def _piece(event: Any) -> Any:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _finish(response: ModelResponse, *, calls: bool, whole: bool) -> str:
    """Why it ended: by what it holds, where that and what it says differ. `whole`: nothing is missing in it."""
    said = FINISHES.get(response.finish_reason or "", "")
    if said == "refused" or (said == "length" and not whole):
        return said
    if "error" in (response.finish_reason, (response.provider_details or {}).get("finish_reason")):
        raise ModelFailed("unavailable", "the provider broke the answer off with an error")
    return "calls" if calls else "stop"


def _counts(response: ModelResponse) -> tuple[int, int, int]:
    """Tokens in, out and cached, as far as they are told."""
    used = response.usage
    return _count(used.input_tokens), _count(used.output_tokens), _count(used.cache_read_tokens)


def _count(value: Any) -> int:
    """A number of tokens, if it can be one."""
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else 0


def _tokens_in(response: ModelResponse) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = list((response.provider_details or {}).get("logprobs") or ())
    for each in response.parts:
        if isinstance(each, TextPart):
            found += (each.provider_details or {}).get("logprobs") or ()
    return found

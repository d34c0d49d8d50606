"""Where an agent's loop is held: at every question to a model and at every call of a tool."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestContext,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from perdure.agents.adapted.errors import NotAdapted
from perdure.agents.adapted.held import HeldLoop
from perdure.agents.adapted.recording import Digests, question_of, response_of, result_of, told_to_agent

Ask = Callable[[Model, list[ModelMessage], ModelSettings | None, ModelRequestParameters], Any]
"""Asks a model, and gives what it answers as JSON."""
ODD: Final = frozenset("\"'\\\r\n")
"""What the name of an argument cannot have, if it is to stand in a path."""


@dataclass
class Holding(AbstractCapability[Any]):
    """Holds the loop of one run of an agent. It stands next to the model and the tools, inside of all others."""

    loop: HeldLoop
    names: Mapping[str, str]
    """What tools are called in steps, by the agent's names for them."""
    ask: Ask
    given: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    """What models gave to calls, by the names of the calls. Some give the same name again and again."""
    calls: Counter[str] = field(default_factory=Counter[str])
    """How often each name was there."""
    digests: Digests = field(default_factory=Digests)
    asked: int = 0
    said: int = 0

    def get_ordering(self) -> CapabilityOrdering:
        """Nothing comes between it and what it holds."""
        return CapabilityOrdering(position="innermost")

    async def prepare_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002  the hook has it
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Whichever model is asked, it is asked by a step."""
        if not isinstance(request_context.model, HeldModel):
            request_context.model = HeldModel(request_context.model, self)
        return request_context

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],  # noqa: ARG002  the hook has it
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,  # noqa: ARG002  as above
        args: Any,
        handler: Any,
    ) -> Any:
        """Note what the model gave, in its own words: what a tool is given may be no JSON."""
        self.given.setdefault(call.tool_call_id, []).append(call.args_as_dict())
        return await handler(args)

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Whatever is called, it is called by a step."""
        return HeldTools(toolset, self)

    def call_of(self, name: str, id_: str, read: Mapping[str, Any]) -> dict[str, Any]:
        """A call as a fact. `read`: what the tool is given, which counts where no model has said it."""
        self.calls[id_] += 1
        noted = self.given.get(id_)
        given: Mapping[str, Any] = noted.pop(0) if noted else to_jsonable_python(read)
        called = self.names.get(name)
        if called is None:
            told = f'the agent calls "{name}", which nobody knew of when it was adapted'
            raise NotAdapted(told, "give it its tools before, or tools of Perdure by `tools=`")
        if odd := next((each for each in given if ODD & set(each)), None):
            raise ModelRetry(f"no tool has an argument {odd!r}")
        return {"tool": called, "with": dict(given), "kind": "tool", "id": f"{id_}~{self.calls[id_]}"}


@dataclass
class HeldTools(WrapperToolset[Any]):
    """Tools that are called by steps."""

    holding: Holding

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Want it called."""
        told = self.holding.call_of(name, ctx.tool_call_id or "", tool_args)
        call = partial(self.wrapped.call_tool, name, tool_args, ctx, tool)
        return told_to_agent(await self.holding.loop.want(told, lambda: result_of(call())))


class HeldModel(WrapperModel):
    """A model that is asked by a step."""

    def __init__(self, wrapped: Model, holding: Holding) -> None:
        super().__init__(wrapped)
        self._holding: Final = holding

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Want an answer."""
        holding = self._holding
        holding.asked += 1
        said, holding.said = holding.said, len(messages) + 1
        told = question_of(holding.asked, messages, model_settings, model_request_parameters, said, holding.digests)
        asked = (self.wrapped, messages, model_settings, model_request_parameters)
        return response_of(await holding.loop.want(told, lambda: holding.ask(*asked)))

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,  # noqa: ARG002  models have it
    ) -> AsyncGenerator[StreamedResponse]:
        """As `request`: whoever listens hears all of it at once."""
        response = await self.request(messages, model_settings, model_request_parameters)
        form = model_request_parameters
        yield CompletedStreamedResponse(response, model_request_parameters=form, replay_events=True)

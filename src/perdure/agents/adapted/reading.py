"""What can be told of an agent without running it: its tools, and what it is known again by."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_ai import Tool
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.toolsets import (
    AbstractToolset,
    ApprovalRequiredToolset,
    CombinedToolset,
    FunctionToolset,
    PrefixedToolset,
    RenamedToolset,
    WrapperToolset,
)

from perdure.agents.adapted.errors import NotAdapted
from perdure.agents.adapted.recording import digest

AnyAgent = AbstractAgent[Any, Any]
INSTEAD = "write them as tools of Perdure, or connect the MCP server to Perdure, and name them in `tools=`"


def tools_of(agent: AnyAgent) -> dict[str, Tool[Any]]:
    """The functions that an agent may call, by its names for them. `NotAdapted` if there are others."""
    return {name: tool for each in agent.toolsets for name, tool in _tools_in(each)}


def _tools_in(toolset: AbstractToolset[Any]) -> Iterator[tuple[str, Tool[Any]]]:
    match toolset:
        case FunctionToolset():
            yield from ((name, _checked(tool)) for name, tool in toolset.tools.items())
        case CombinedToolset():
            for each in toolset.toolsets:
                yield from _tools_in(each)
        case PrefixedToolset():
            yield from ((f"{toolset.prefix}_{name}", tool) for name, tool in _tools_in(toolset.wrapped))
        case RenamedToolset() | ApprovalRequiredToolset():
            raise NotAdapted(f"its tools are in a {type(toolset).__name__}, which cannot be looked into", INSTEAD)
        case WrapperToolset():
            yield from _tools_in(toolset.wrapped)
        case _:
            told = f"the agent has a {type(toolset).__name__}, of which nobody knows beforehand what is in it"
            raise NotAdapted(told, INSTEAD)


def _checked(tool: Tool[Any]) -> Tool[Any]:
    if tool.requires_approval:
        told = f'its tool "{tool.name}" waits for an approval that nobody would be asked for'
        raise NotAdapted(told, "leave that out, and let a policy `ask` before it is called")
    return tool


def who_is(agent: AnyAgent, tools: Mapping[str, Tool[Any]]) -> dict[str, Any]:
    """What an agent is known again by, part for part."""
    return {
        "model": _model_of(agent),
        "instructions": digest(list(_instructions_of(agent))),
        "output": digest(agent.output_json_schema()),
        "tools": {name: digest([each.description, each.function_schema.json_schema]) for name, each in tools.items()},
    }


def _model_of(agent: AnyAgent) -> str:
    model = agent.model
    return model if isinstance(model, str) else "" if model is None else model.model_name


def _instructions_of(agent: AnyAgent) -> Iterator[str]:
    """Those that are written down; what functions say is seen when a model is asked."""
    yield from (each for each in getattr(agent, "_system_prompts", ()) if isinstance(each, str))
    for each in getattr(agent, "_instructions", ()):
        found = getattr(each, "instruction", each)
        if isinstance(found, str):
            yield found

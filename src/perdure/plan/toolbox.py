"""What is known of tools, agents and named plans when a plan is checked: names and schemas."""

from collections.abc import Mapping
from typing import Final, Self

from pydantic import Field, model_validator

from perdure.plan.model.parts import JsonSchema, Many, Name, Part, ToolName
from perdure.plan.raw import Raw, is_list, is_mapping

LISTED: Final = "perdure.tools/1"
"""The schema of what `perdure tools ls --json` prints; it is a toolbox too."""


class ToolFacts(Part):
    """What a plan may rely on when it calls a tool."""

    inputs: JsonSchema | None = None
    """JSON Schema of its arguments, an object; left out: anything goes."""
    returns: JsonSchema | None = None
    """JSON Schema of its output; left out: unknown."""


class Toolbox(Part):
    """The names a plan may use. What is left out (`agents`, `plans`) is not checked."""

    tools: Mapping[ToolName, ToolFacts] = Field(default_factory=dict)
    """Tools by name."""
    agents: Many[Name] | None = None
    """Names of agents."""
    plans: Many[Name] | None = None
    """Names of plans."""

    @model_validator(mode="before")
    @classmethod
    def _read_names(cls, raw: Raw) -> Raw:
        if not is_mapping(raw) or not is_list(listed := raw.get("tools")):
            return raw
        kept: Mapping[str, Raw] = {} if raw.get("schema") == LISTED else raw
        return {**kept, "tools": dict(map(_named, listed))}

    @classmethod
    def of(cls, *tools: str) -> Self:
        """A toolbox that knows these tools by name only."""
        return cls(tools={name: ToolFacts() for name in tools})


def _named(listed: Raw) -> tuple[Raw, Raw]:
    """A tool in a list: its name, or what `perdure tools ls --json` says of it."""
    if is_mapping(listed) and isinstance(name := listed.get("name"), str):
        return name, {word: listed.get(word) for word in ToolFacts.model_fields}
    if not isinstance(listed, str):
        told = f"a tool in a list is a name, or what `perdure tools ls --json` prints, and not {str(listed)[:60]}"
        raise ValueError(told)  # noqa: TRY004  Pydantic tells of it
    return listed, {}

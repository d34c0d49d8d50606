"""An agent: who it is, what it is told, what it may call, and how it works."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import Field

from perdure.core.calls import Call, Outcome
from perdure.plan.model.parts import Count, JsonObject, Line, Many, Name, Number, Part
from perdure.ports import Attempt
from perdure.tools import AnyTool

if TYPE_CHECKING:
    from perdure.models import Models


class Loop(Protocol):
    """The loop of an agent that another framework has made. Whatever it wants done is done by steps."""

    @property
    def tools(self) -> Sequence[AnyTool]:
        """What its steps call."""
        ...

    def meet(self, tools: Mapping[str, AnyTool], models: "Callable[[], Models]") -> None:
        """Learn what there is beside it: tools that it may call, and models that it may ask."""
        ...

    async def ask(self, attempt: Attempt) -> Outcome:
        """Ask its model what it wants to know."""
        ...

    def expected(self, call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
        """What such a question may take, with what its step says of that."""
        ...

    def leave(self, run: str) -> None:
        """Let go of what is kept for a run, which is over or does not go on here."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


class Agent(Part):
    """Somebody who can be given work."""

    name: Name
    """What plans call it."""
    instructions: Line = ""
    """What its model is told before all else. It is data: `${…}` in it is text."""
    model: Annotated[Line, Field(min_length=1)] = "default"
    """A tier (`weak`, `default`, `strong`) or `provider:model`."""
    tools: Many[Line] = ()
    """What it may call, as in `files.*`."""
    replans: bool = True
    """Whether it is offered `planning.replan`, where plans may change by themselves."""
    skills: Many[Name] = ()
    """What it is good at; a step that names no agent finds one by these."""
    strategy: Name = "react"
    """How it works, where a step does not say."""
    options: JsonObject = {}
    """What its strategy is told: how wide, how deep, how often."""
    tokens: Count | None = None
    """The most one answer may have."""
    temperature: Number | None = None
    """How freely its model chooses its words."""
    price: Number | None = None
    """What one task is expected to cost, in US dollars."""
    limit: Count | None = None
    """How many tasks it does at once."""
    fallbacks: Many[Name] = ()
    """Who does its work when it cannot."""
    role: Line = ""
    """Who it is, for people and for its model."""
    goal: Line = ""
    """What it is after."""
    backstory: Line = ""
    """Where it comes from."""

    @property
    def loop(self) -> Loop | None:
        """What it works by, if that is not ours."""
        return None

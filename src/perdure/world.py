"""What a face is given besides an engine: the tools, agents and templates there are, and plans for goals.

A command line knows the user's settings; a program of somebody's own knows its own. Neither `server` nor `mcp` asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from perdure.agents.planners import Made, NoPlanner
from perdure.agents.templates import Template
from perdure.documents.agents import Known
from perdure.engine import Engine
from perdure.tools import AnyTool


@dataclass(frozen=True, slots=True)
class Goal:
    """What somebody wants a plan for."""

    text: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    planner: str = "auto"
    template: str = ""


class World(Protocol):
    """What there is around an engine."""

    @property
    def workspace(self) -> Path | None:
        """The directory that is worked on."""
        ...

    def tools(self) -> Sequence[AnyTool]:
        """What plans may use."""
        ...

    def agents(self) -> Sequence[Known]:
        """Whom plans may give work to."""
        ...

    def templates(self) -> Sequence[Template]:
        """Plans with blanks, for goals that are known."""
        ...

    async def made(self, engine: Engine, goal: Goal) -> Made:
        """The plan for a goal; where a model is asked, in a run of the engine. `NoPlanner` if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Alone:
    """An engine with nothing around it: it carries out the plans that it is given."""

    workspace: Path | None = None

    def tools(self) -> Sequence[AnyTool]:
        """None that are shown."""
        return ()

    def agents(self) -> Sequence[Known]:
        """None that are shown."""
        return ()

    def templates(self) -> Sequence[Template]:
        """None."""
        return ()

    async def made(self, engine: Engine, goal: Goal) -> Made:  # noqa: ARG002  the signature of all
        """None: `NoPlanner`."""
        raise NoPlanner("nobody makes plans here", "send a plan, or serve with: perdure serve")

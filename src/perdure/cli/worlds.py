"""The world of whoever uses the command line, as faces that stay open are given it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from perdure.agents.planners import Made, NoPlanner
from perdure.agents.templates import Template
from perdure.cli.carrying import Carry
from perdure.cli.driving import Manner
from perdure.cli.goals import planned, templates_here
from perdure.cli.heads import known_agents
from perdure.cli.kits import provided
from perdure.documents.agents import Known
from perdure.engine import Engine, Result
from perdure.plan import Plan
from perdure.tools import AnyTool
from perdure.world import Goal

ASKED: Final = ("auto", "template", "tools", "model")
"""Who makes plans for those who are elsewhere. For contracts a goal is a file of this machine, which is not theirs."""


class Yours:
    """What the settings of this user name, and what comes along."""

    def __init__(self, manner: Manner, carry: Callable[[Engine], Carry] | None = None) -> None:
        self._manner = manner
        self._carry = carry
        """How the runs of a model are carried out that makes a plan; None: by the engine."""

    @property
    def workspace(self) -> Path | None:
        """Where the command was given, unless it says where."""
        return self._manner.workspace or Path.cwd()

    @cached_property
    def _known(self) -> tuple[AnyTool, ...]:
        servers = self._manner.toolset
        known = (*provided(), *self._manner.tools, *(servers.tools() if servers else ()))
        return tuple({each.name: each for each in known}.values())

    def tools(self) -> Sequence[AnyTool]:
        """Those that come along, those that were named or that distributions offer, and those of MCP servers."""
        return self._known

    def agents(self) -> Sequence[Known]:
        """Those of the user and of the project, and those that come along."""
        return known_agents(self.workspace or Path.cwd())

    def templates(self) -> Sequence[Template]:
        """Those of the user and of the project, and those that come along."""
        return templates_here()

    async def made(self, engine: Engine, goal: Goal) -> Made:
        """As `perdure plan` makes it; a model works in a run of the engine."""
        planner = "template" if goal.template else goal.planner
        if planner not in ASKED:
            raise NoPlanner(f'nobody called "{goal.planner}" makes plans here', f"say one of: {', '.join(ASKED)}")
        given = {
            "values": dict(goal.inputs),
            "template": goal.template,
            "addresses": self._manner.addresses,
            "db": str(self._manner.settings.db),
        }
        carry = self._carry(engine) if self._carry else _carried_by(engine, asyncio.get_running_loop())
        return await asyncio.to_thread(planned, goal.text, self._known, given, cast("Any", planner), carry)


def _carried_by(engine: Engine, loop: asyncio.AbstractEventLoop) -> Carry:
    """Carries runs out in an engine whose event loop is another thread's."""

    async def carried(plan: Plan, inputs: Mapping[str, Any]) -> tuple[str, Result]:
        run = await engine.start(plan, inputs)
        return run.id, await run.result()

    def carry(plan: Plan, inputs: Mapping[str, Any]) -> tuple[str, Result]:
        return asyncio.run_coroutine_threadsafe(carried(plan, inputs), loop).result()

    return carry

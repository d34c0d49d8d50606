"""Runs that another piece of work waits for: a model makes a plan, or finds a value, in a run that is remembered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from perdure.cli.driving import Manner
from perdure.cli.interrupts import carried_out
from perdure.config import Settings
from perdure.engine.result import Result
from perdure.plan import Plan
from perdure.tools import AnyTool

Carry = Callable[[Plan, Mapping[str, Any]], tuple[str, Result]]
"""Carries out a plan with its inputs and waits for the end: the run's id, and what came of it."""


def carried_here(settings: Settings, own: Sequence[AnyTool]) -> Carry:
    """By an engine of our own, which is there for that run alone. `own`: the tools that do not come with us."""

    def carry(plan: Plan, inputs: Mapping[str, Any]) -> tuple[str, Result]:
        return carried_out(_carried(Manner(settings, tuple(own)), plan, inputs))

    return carry


async def _carried(manner: Manner, plan: Plan, inputs: Mapping[str, Any]) -> tuple[str, Result]:
    async with manner.engine() as engine:
        run = await engine.start(plan, inputs)
        return run.id, await run.result()

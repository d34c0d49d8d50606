"""Perdure. Every deed is declared as one that may never be repeated blindly: half of them can be looked up afterwards, the
other half nobody can look up, so that a person is asked; who is asked here looks into the file."""

from __future__ import annotations

import asyncio

from deeds import CHAIN, FAN, data, deed, note, numbers, was_done

from perdure import Context, Engine, Happened, NotHappened, Plan, tool
from perdure.ports import Filter

OVER = {"succeeded", "failed", "cancelled", "rolled_back"}


def look(run: int, step: str):
    return Happened({"step": step}) if was_done(run, step) else NotHappened()


@tool(name="shop.order", repeat="never", probe=look)
async def order(run: int, step: str) -> dict:
    """A deed that can be looked up."""
    return await deed(run, step)


@tool(name="shop.pay", repeat="never")
async def pay(run: int, step: str, context: Context) -> dict:
    """A deed that cannot."""
    return await deed(run, step)


def step(name: str) -> dict:
    with_ = {"run": "${inputs.run}", "step": name}
    return {"id": name, "tool": "shop.pay" if name[-1] in "t13" else "shop.order", "with": with_}


PLAN = Plan.model_validate(
    {
        "inputs": {"run": {"type": "integer"}},
        "steps": [step("first"), {"id": "several", "parallel": [*map(step, FAN)]}, *map(step, ["join", *CHAIN])],
    }
)


async def see_through(engine: Engine, handle, run: int) -> None:
    """To its end, as a person who tells what is in the file."""
    while (result := await handle.rested()).status not in OVER:
        for question in await engine.journal.questions(handle.id):
            name = question.id.split("_")[1]
            note("asked", run, name)
            happened = {"choice": "happened", "output": {"step": name}} if was_done(run, name) else "not_happened"
            await engine.answer(handle.id, question.id, happened)
    assert result.status == "succeeded", result.failure


async def main() -> None:
    async with Engine.open(data() / "runs.db", tools=[order, pay], resume=True) as engine:
        begun = [each.id for each in await engine.journal.runs(Filter(), None, 10_000)][::-1]
        for run in numbers():
            handle = engine.run(begun[run]) if run < len(begun) else await engine.start(PLAN, {"run": run})
            await see_through(engine, handle, run)


asyncio.run(main())

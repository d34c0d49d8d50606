"""DBOS Transact with its own SQLite database, as shipped; it goes on with what is pending when it is launched."""

from __future__ import annotations

import asyncio

from dbos import DBOS, SetWorkflowID
from deeds import CHAIN, FAN, data, deed, numbers


@DBOS.step()
async def step(run: int, name: str) -> dict:
    return await deed(run, name)


@DBOS.workflow()
async def plan(run: int) -> int:
    await step(run, "first")
    await asyncio.gather(*(step(run, name) for name in FAN))
    await step(run, "join")
    for name in CHAIN:
        await step(run, name)
    return run


async def main() -> None:
    same = {"name": "kills", "application_version": "kills", "executor_id": "kills"}
    DBOS(config={**same, "system_database_url": f"sqlite:///{data() / 'dbos.sqlite'}", "log_level": "ERROR"})
    DBOS.launch()
    for run in numbers():
        if await DBOS.get_workflow_status_async(f"r{run}") is None:
            with SetWorkflowID(f"r{run}"):
                await plan(run)
        else:
            await (await DBOS.retrieve_workflow_async(f"r{run}")).get_result()


asyncio.run(main())

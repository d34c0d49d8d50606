"""LangGraph with its SQLite checkpointer: `durability="sync"`, and SQLite's own default, `synchronous=FULL`."""

from __future__ import annotations

import asyncio
from typing import Annotated, TypedDict

from deeds import CHAIN, FAN, data, deed, numbers
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    run: int
    results: Annotated[dict, lambda one, other: {**one, **other}]


def node(step: str):
    async def work(state: State) -> dict:
        return {"results": {step: await deed(state["run"], step)}}

    return work


def graph(saver):
    made = StateGraph(State)
    for step in ["first", *FAN, "join", *CHAIN]:
        made.add_node(step, node(step))
    made.add_edge(START, "first")
    for step in FAN:
        made.add_edge("first", step)
    made.add_edge(FAN, "join")
    for before, after in zip(["join", *CHAIN], [*CHAIN, END]):
        made.add_edge(before, after)
    return made.compile(checkpointer=saver)


async def main() -> None:
    async with AsyncSqliteSaver.from_conn_string(str(data() / "lg.db")) as saver:
        await saver.setup()
        [synchronous] = await (await saver.conn.execute("PRAGMA synchronous")).fetchone()
        assert synchronous == 2, "FULL"
        made = graph(saver)
        for run in numbers():
            config = {"configurable": {"thread_id": f"r{run}"}, "recursion_limit": 100}
            seen = await made.aget_state(config)
            begun = seen.values or seen.tasks  # not `next`: it is empty too while what a step gave is kept and not merged
            await made.ainvoke(None if begun else {"run": run, "results": {}}, config, durability="sync")


asyncio.run(main())

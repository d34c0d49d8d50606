"""Perdure itself: durable (a file) and in memory."""

import asyncio
import time

from common import Bench, chunk4k, layered_dag, main, small

from perdure.engine import Engine
from perdure.plan import Plan
from perdure.runtime.room import Limits
from perdure.tools import tool


def tools(bench: Bench):
    """The steps of every workload. They may be repeated, as those of the other engines are."""

    @tool(name="bench.step", repeat="safe")
    async def small_step(i: int) -> dict:
        bench.hit(i)
        return small(i)

    @tool(name="bench.chunk", repeat="safe")
    async def large_step(i: int) -> dict:
        bench.hit(i)
        return chunk4k(i)

    return [small_step, large_step]


def step(i, tool="bench.step", **more):
    return {"id": f"s{i}", "kind": "tool", "tool": tool, "with": {"i": i}, **more}


def opened(b: Bench, resume=False):
    path = ":memory:" if b.args.workload == "w7" else b.data / "runs.db"
    return Engine.open(path, tools=tools(b), limits=Limits(10_000, 10_000), resume=resume)


def forget_ballast(b: Bench) -> None:
    """Two megabytes are held back on the disk once for a journal; they are not the price of a step."""
    for path in b.data.glob("*ballast*"):
        b.out["ballast_bytes"] = path.stat().st_size
        path.unlink()


async def timed(b: Bench, plan, steps):
    t = time.perf_counter()
    async with opened(b) as engine:
        b.mark("setup_s", t)
        t = time.perf_counter()
        engine.prepare(plan)
        b.mark("build_s", t)
        with b.timed(steps):
            run = await engine.start(plan)
            result = await run.result()
        assert result.ok, result.failure
    forget_ballast(b)


async def w1(b: Bench):
    await timed(b, Plan.model_validate({"steps": [step(i) for i in range(b.n)]}), b.n)


async def w2(b: Bench):
    group = {"id": "g", "kind": "group", "mode": "graph", "steps": [step(i) for i in range(1, b.n + 1)]}
    await timed(b, Plan.model_validate({"steps": [step(0), group, step(b.n + 1)]}), b.n + 2)


async def w3(b: Bench):
    plan = Plan.model_validate({"steps": [step(i) for i in range(10)]})
    async with opened(b) as engine:
        engine.prepare(plan)
        with b.timed(b.n * 10):

            async def one():
                return await (await engine.start(plan)).result()

            results = await asyncio.gather(*(one() for _ in range(b.n)))
        assert all(r.ok for r in results)
    forget_ballast(b)


async def w4(b: Bench):
    steps = [step(i, needs=[f"s{d}" for d in deps]) for i, deps in layered_dag(b.n).items()]
    await timed(b, Plan.model_validate({"mode": "graph", "steps": steps}), b.n)


async def w5(b: Bench):
    await timed(b, Plan.model_validate({"steps": [step(i) for i in range(b.n)]}), b.n)


async def w5resume(b: Bench):
    async with opened(b, resume=True) as engine:
        with b.timed(b.n):
            result = await (await engine.find("@last")).result()
        assert result.ok, result.failure


async def w8(b: Bench):
    await timed(b, Plan.model_validate({"steps": [step(i, "bench.chunk") for i in range(b.n)]}), b.n)


if __name__ == "__main__":
    main({"w1": w1, "w2": w2, "w3": w3, "w4": w4, "w5": w5, "w5resume": w5resume, "w7": w1, "w8": w8})

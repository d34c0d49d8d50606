"""E14, A6, X7, X8: what a run does when things go wrong, told end to end on a clock that jumps."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.core.calls import Failure
from perdure.journal import MemoryJournal
from perdure.testing.clock import FakeClock, run
from perdure.testing.crashes import Disk, crashing
from perdure.testing.scripted import Scripted


def carried_out(plan, script, **settings):
    """The result of a run in which time passes at once."""

    async def all_of_it():
        async with Engine.open(clock=FakeClock(), performer=Scripted(script), **settings) as engine:
            handle = await engine.start(Plan.model_validate(plan))
            return await handle.result()

    return run(all_of_it())


GONE = Failure("unavailable", "nobody answers")


def test_the_weather_is_down_and_the_timer_is_still_set():
    plan = {
        "steps": [
            {
                "id": "both",
                "parallel": [
                    {"id": "weather", "agent": "weather", "recovery": {"unavailable": ["continue"]}},
                    {"id": "timer", "agent": "timer"},
                ],
            },
            {
                "id": "tell",
                "agent": "writer",
                "with": {"timer": "${steps.timer.output}", "missing": "${steps.weather.failure.message}"},
            },
        ]
    }
    found = carried_out(
        plan, {"weather": GONE, "timer": "at seven", "writer": lambda attempt: attempt.call.arguments["with"]}
    )
    assert (found.ok, found.partial, found.missing) == (True, True, ("weather",))
    assert found.output == {"timer": "at seven", "missing": "nobody answers"}


def test_a_tool_that_wants_to_be_left_alone_for_a_minute_is():
    began = []

    def answer(attempt):
        began.append(asyncio.get_running_loop().time())
        return Failure("rate_limited", "slow down", retry_after=60.0) if len(began) == 1 else "here"

    assert carried_out({"steps": [{"id": "a", "agent": "x"}]}, {"a": answer}).output == "here"
    assert began[1] - began[0] >= 60


def test_source_a_is_gone_so_source_b_is_asked():
    plan = {
        "steps": [{"id": "data", "agent": "a", "with": {"of": 1}, "alternates": [{"agent": "b", "with": {"of": 2}}]}]
    }
    found = carried_out(plan, {"a": GONE, "b": lambda attempt: attempt.call.arguments["with"]})
    assert (found.output, found.steps["data"].ways) == ({"of": 2}, ("alternate",))


def test_back_to_the_savepoint_and_then_another_way():
    undo = {"undo": {"agent": "undo", "task": "take ${output} back"}}
    plan = {
        "steps": [
            {"id": "before", "agent": "x", **undo},
            {"id": "save", "checkpoint": True},
            {"id": "first", "agent": "x", **undo},
            {"id": "risky", "agent": "risky", "on": {"failure": "back"}},
            {"id": "end", "done": True},
            {"id": "back", "rollback": "save"},
            {"id": "second", "agent": "y"},
        ]
    }
    undone = []
    script = {"x": 1, "risky": Failure("logic", "no"), "y": "another way", "first!": lambda a: undone.append(a.step)}
    found = carried_out(plan, script)
    assert (found.output, undone) == ("another way", ["first"])


def test_a_loop_that_makes_no_progress_is_stopped_after_three_rounds_and_asks():
    plan = {
        "steps": [
            {"id": "fix", "agent": "fixer", "max_visits": 50},
            {"id": "tests", "agent": "tester", "on": {"failure": "fix"}},
        ]
    }
    script = Scripted({"fixer": "patched", "tester": Failure("logic", "2 failed")})

    async def asked():
        async with Engine.open(clock=FakeClock(), performer=script) as engine:
            handle = await engine.start(Plan.model_validate(plan))
            status, rounds = (await handle.rested()).status, len(script.of("fix"))
            await handle.answer("q_run_1_stalled3_tests", "fail", by="anna")
            return status, rounds, await handle.result()

    status, rounds, result = run(asked())
    assert (status, rounds) == ("waiting", 3)
    assert (result.status, result.failure.kind) == ("failed", "stalled")


@pytest.mark.parametrize("dies_at", range(1, 6))
def test_a_process_that_dies_between_two_rungs_leaves_the_rest_to_the_next(dies_at):
    """Each way is gone once, and no way is gone twice, but for the try that was cut off."""
    plan = Plan.model_validate(
        {
            "steps": [
                {
                    "id": "a",
                    "agent": "usual",
                    "retry": {"attempts": 2, "wait": "5s"},
                    "simpler": {"agent": "light"},
                    "alternates": [{"agent": "one"}, {"agent": "two"}],
                }
            ]
        }
    )
    tried, disk, clock, enough = [], MemoryJournal(), FakeClock(), asyncio.Event()

    def answer(attempt):
        tried.append(attempt.call.name)
        if len(tried) == dies_at:
            enough.set()
        return "done" if attempt.call.name == "two" else Failure("transient", "no")

    async def both():
        async with crashing(disk, clock=clock, performer=Scripted(default=answer)) as engine:
            handle = await engine.start(plan)
            await enough.wait()
        async with Engine.open(
            journal=Disk(disk), clock=clock, performer=Scripted(default=answer), resume=True
        ) as engine:
            return await engine.run(handle.id).result()

    result = run(both())
    assert (result.output, result.steps["a"].ways) == ("done", ("simplify", "alternate", "alternate"))
    again = [name for n, name in enumerate(tried) if n == 0 or name != tried[n - 1]]
    assert again == ["usual", "light", "one", "two"]
    assert len(tried) <= 6


@pytest.mark.parametrize("dies", [False, True])
def test_a_tool_judges_what_a_step_gives_also_after_a_crash(dies):
    asked, disk, clock, begun = [], MemoryJournal(), FakeClock(), asyncio.Event()

    @tool(name="shop.draft", repeat="never")
    async def draft() -> str:
        asked.append("draft")
        return "x" * len(asked)

    @tool(name="shop.judge", repeat="safe")
    async def judge(text: str) -> dict:
        asked.append(text)
        begun.set()
        await asyncio.sleep(10)
        return {"met": len(text) > 1, "why": "too short"}

    step = {"id": "a", "tool": "shop.draft", "retry": {"attempts": 2}}
    plan = Plan.model_validate({"steps": [step | {"accept": [{"tool": "shop.judge", "with": {"text": "${output}"}}]}]})

    async def both():
        settings = {"clock": clock, "tools": [draft, judge]}
        if dies:
            async with crashing(disk, **settings) as engine:
                handle = await engine.start(plan)
                await begun.wait()
            async with Engine.open(journal=Disk(disk), resume=True, **settings) as engine:
                return await engine.run(handle.id).result()
        async with Engine.open(journal=Disk(disk), **settings) as engine:
            return await (await engine.start(plan)).result()

    result = run(both())
    assert result.ok
    assert asked.count("draft") == 2
    assert len(asked) == (5 if dies else 4)

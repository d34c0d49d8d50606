"""E14, A6, X7, X8: what a run does when things go wrong, told end to end on a clock that jumps."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.core.calls import Failure
from perdure.journal import MemoryJournal
from perdure.plan.model.parts import Policy
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


def source(name, answer, **declared):
    """A tool that asks one source for the weather."""

    @tool(name=name, repeat="safe", **{"effects": ["network"], **declared})
    async def asked(town: str) -> str:
        if isinstance(answer, Exception):
            raise answer
        return f"{answer} in {town}"

    return asked


@pytest.mark.parametrize("dies", [False, True])
def test_source_a_is_gone_so_a_tool_with_the_same_skills_is_asked(dies):
    """The plan names one tool; the other was installed beside it. Which one it was is known after a crash, too."""
    enough = asyncio.Event()

    @tool(name="archive.weather", repeat="safe", effects=[], skills=["weather"])
    async def archive(town: str) -> str:
        if dies and not enough.is_set():
            enough.set()
            await asyncio.sleep(1000)
        return f"as ever in {town}"

    tools = [
        source("station.weather", ConnectionRefusedError("gone")),
        source("shop.weather", "sold", skills=["weather"], effects=["network", "costs"]),
        source("dear.weather", ConnectionRefusedError("gone"), skills=["weather"], estimate={"usd": 0.1}),
        archive,
    ]
    step = {"id": "sky", "tool": "station.weather", "with": {"town": "Ulm"}, "retry": {"attempts": 1}}
    plan = Plan.model_validate({"steps": [step | {"skills": ["weather"]}]})
    disk, clock = MemoryJournal(), FakeClock()

    async def all_of_it():
        if dies:
            async with crashing(disk, clock=clock, tools=tools) as engine:
                handle = await engine.start(plan)
                await enough.wait()
            async with Engine.open(journal=Disk(disk), clock=clock, tools=tools, resume=True) as engine:
                return await engine.run(handle.id).result()
        async with Engine.open(journal=Disk(disk), clock=clock, tools=tools) as engine:
            return await (await engine.start(plan)).result()

    found = run(all_of_it())
    assert (found.output, found.steps["sky"].attempts) == ("as ever in Ulm", 4 if dies else 3)
    assert found.steps["sky"].ways == ("alternate:dear.weather", "alternate:archive.weather")
    without = carried_out({"steps": [step]}, {}, tools=tools)
    assert (without.ok, without.failure.kind) == (False, "unavailable")


@pytest.mark.parametrize("whose", ["plan", "user"])
def test_what_is_denied_is_not_had_by_another_tool_and_hides_no_failure(whose):
    tools = [
        source("station.weather", ConnectionRefusedError("gone")),
        source("other.weather", "fine", skills=["weather"]),
    ]
    step = {"id": "sky", "tool": "station.weather", "with": {"town": "Ulm"}, "retry": {"attempts": 1}}
    denied = {"tools": {"deny": ["other.*"]}}
    step |= {"skills": ["weather"]} | ({"policy": denied} if whose == "plan" else {})
    policy = {"policy": Policy.model_validate(denied)} if whose == "user" else {}
    found = carried_out({"steps": [step]}, {}, tools=tools, **policy)
    assert (found.failure.kind, found.steps["sky"].ways) == ("unavailable", ())
    also = carried_out(
        {"steps": [step]}, {}, tools=[*tools, source("third.weather", "fine", skills=["weather"])], **policy
    )
    assert (also.ok, also.steps["sky"].ways) == (True, ("alternate:third.weather",))


@pytest.mark.parametrize("dies", [False, True])
def test_a_group_is_left_for_another_way_with_nothing_done_twice(dies):
    """What was done in it is taken back first, by the process that began that or by the next one."""
    world, disk, clock, enough = [], MemoryJournal(), FakeClock(), asyncio.Event()

    async def free(output: str) -> None:
        if dies and not enough.is_set():
            enough.set()
            await asyncio.sleep(1000)
        if output in world:
            world.remove(output)

    @tool(name="hotel.book", repeat="keyed", undo=free, effects=["network"])
    async def book(hotel: str) -> str:
        world.append(hotel)
        return hotel

    @tool(name="train.book", repeat="never", effects=["network"])
    async def train() -> str:
        raise ConnectionRefusedError("no trains")

    plan = Plan.model_validate(
        {
            "steps": [
                {
                    "id": "trip",
                    "steps": [
                        {"id": "room", "tool": "hotel.book", "with": {"hotel": "Anchor"}},
                        {"id": "seat", "tool": "train.book", "retry": {"attempts": 1}},
                    ],
                    "alternates": [{"tool": "hotel.book", "with": {"hotel": "at home"}}],
                }
            ]
        }
    )

    async def all_of_it():
        settings = {"clock": clock, "tools": [book, train]}
        if dies:
            async with crashing(disk, **settings) as engine:
                handle = await engine.start(plan)
                await enough.wait()
            async with Engine.open(journal=Disk(disk), resume=True, **settings) as engine:
                return await engine.run(handle.id).result()
        async with Engine.open(journal=Disk(disk), **settings) as engine:
            return await (await engine.start(plan)).result()

    found = run(all_of_it())
    assert (found.output, found.steps["trip"].ways, world) == ("at home", ("alternate",), ["at home"])


def test_a_judge_that_has_to_be_allowed_waits_for_a_person():
    looked = []

    @tool(name="shop.judge", repeat="safe", effects=["costs"])
    async def judge(text: str) -> bool:
        looked.append(text)
        return True

    accept = [{"tool": "shop.judge", "with": {"text": "${output}"}}]
    plan = Plan.model_validate({"steps": [{"id": "a", "agent": "x", "accept": accept}], "policy": {"ask": ["costs"]}})

    async def asked():
        async with Engine.open(clock=FakeClock(), performer=Scripted({"x": "text"}), tools=[judge]) as engine:
            handle = await engine.start(plan)
            resting = await handle.rested()
            before = (resting.status, list(looked))
            ((question, text),) = resting.questions.items()
            assert "To judge a by shop.judge" in text
            await handle.answer(question, True, by="anna")
            return before, await handle.result()

    before, result = run(asked())
    assert (before, result.ok, looked) == (("waiting", []), True, ["text"])


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

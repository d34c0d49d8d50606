"""T8: what a run shows its models and agents is recorded, and is the same after a crash and when it is decided again."""

import asyncio

from perdure import Engine, Plan
from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.growth import Finish, Move
from perdure.core.values import digest_of
from perdure.journal import MemoryJournal
from perdure.testing.clock import FakeClock, run
from perdure.testing.crashes import Disk, crashing
from perdure.testing.replays import assert_replays
from perdure.testing.scripted import Scripted

PLAN = Plan.model_validate(
    {
        "steps": [
            {"id": "plan", "agent": "planner", "task": "Plan it"},
            {"id": "parts", "parallel": [{"id": "one", "agent": "coder"}, {"id": "two", "agent": "coder"}]},
            {"id": "write", "agent": "coder", "context": {"tokens": 500}, "max_visits": 2},
            {"id": "test", "agent": "tester", "on": {"failure": "write"}},
            {"id": "tell", "model": "weak", "prompt": "Tell", "context": "needs"},
        ]
    }
)


def script():
    answers = {"plan": {"parts": ["one", "two"]}, "one": "1" * 50, "two": "2" * 20_000, "write": ["bad", "good"]}
    return Scripted({**answers, "test": [Failure("logic", "it is bad"), "passed"], "tell": later})


async def later(_):
    await asyncio.sleep(10)
    return "told"


def shown(attempt):
    return [(each["step"], each.get("output", each.get("failure", each.get("summary"))))
            for each in attempt.call.arguments["context"]]  # fmt: skip


def test_t8_models_and_agents_are_shown_what_was_done_and_it_is_recorded():
    async def story():
        disk, clock, made = MemoryJournal(), FakeClock(), script()
        async with crashing(disk, performer=made, clock=clock) as engine:
            handle = await engine.start(PLAN)
            await asyncio.sleep(5)
        async with Engine.open(journal=Disk(disk), performer=made, clock=clock, resume=True) as engine:
            assert (await engine.run(handle.id).result()).ok
            assert (await engine.redecide(handle.id)).difference is None
        await assert_replays(disk, handle.id)
        facts = [e.decode(each.type, each.body) for each in await disk.read(handle.id)]
        return made, [each for each in facts if isinstance(each, e.AttemptStarted)]

    made, starts = run(story())
    first, again = made.of("write")
    assert dict(shown(first))["plan"] == {"parts": ["one", "two"]}
    assert "characters left out" in dict(shown(first))["two"]
    assert shown(again)[:2] == [("test", {"kind": "logic", "message": "it is bad"}), ("write", "bad")]
    told, retold = made.of("tell")
    assert shown(told) == shown(retold) == [("test", "passed")]
    recorded = {(each.step, each.visit, each.attempt): each.call for each in starts}
    for attempt in made.made:
        assert recorded[attempt.step, attempt.visit, attempt.number] == digest_of(attempt.call.data) == attempt.digest


def test_t8_an_agent_that_grows_hands_its_context_on_without_copying_it():
    def strategy(view):
        if view.first:
            return Move(add=[{"agent": "hand", "with": {"known": "${inputs.context}"}}] * 3)
        return None if view.live else Finish(output=len(view.context))

    plan = Plan.model_validate(
        {"steps": [{"id": "read", "agent": "reader"}, {"id": "work", "agent": "boss", "context": "all"}]}
    )

    async def story():
        disk, made = MemoryJournal(), Scripted({"read": "x" * 5_000}, default="done")
        async with Engine.open(journal=disk, performer=made, strategies={"agent:boss": strategy}) as engine:
            handle = await engine.start(plan)
            result = await handle.result()
            assert (await engine.redecide(handle.id)).difference is None
        return result.output, made, sum(len(each.body) for each in await disk.read(handle.id))

    output, made, size = run(story())
    assert output == 1
    assert [made.of(f"work/1.{n}")[0].call.arguments["with"]["known"][0]["step"] for n in (1, 2, 3)] == ["read"] * 3
    assert size < 8_000, "the output is written down once"

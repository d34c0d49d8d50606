"""E4: a plan is carried out once more with what an earlier run has recorded; nothing is executed, nothing is written.

E9.
"""

import asyncio
from pathlib import Path

import pytest
from golden_runs import NEW_NAMES, RUNS, STRATEGIES, TOOLS, adjusted, forked, revised, takes

from perdure import Engine, Plan
from perdure.core.calls import Failure
from perdure.engine.starting import BadInputs
from perdure.journal import MemoryJournal
from perdure.testing.clock import FakeClock
from perdure.testing.clock import run as in_no_time
from perdure.testing.scripted import Scripted

STEPS = [
    {"id": "a", "agent": "x", "with": {"n": "${inputs.n}"}},
    {"id": "q", "ask": "Go on with ${inputs.n}?"},
    {"id": "b", "agent": "x", "with": {"n": "${steps.a.output}"}, "retry": {"attempts": 2, "wait": "1h"}},
]
BASE = {"inputs": {"n": {"type": "integer", "default": 3}}, "steps": STEPS, "output": "${steps.b.output}"}
PLAN = Plan.model_validate(BASE)
SCRIPT = {"a": 7, "b": [Failure("transient", "busy"), 8]}


def changed(**parts):
    return Plan.model_validate({**BASE, **parts})


def with_recorded(check, plan=PLAN, script=SCRIPT, answer="approved"):
    """A run that was carried out, and then a check of what comes of its recording; nothing may be called any more."""

    async def story():
        disk, performer = MemoryJournal(), Scripted(script, default=0)
        async with Engine.open(journal=disk, clock=FakeClock(), performer=performer) as engine:
            run = await engine.start(plan)
            if answer:
                await run.rested()
                await run.answer("q_q_1", answer)
            await run.result()
            made, facts = len(performer.made), (await disk.run(run.id)).head_seq
            await check(engine, run.id)
            assert len(performer.made) == made
            assert [each.head_seq for each in await disk.runs()] == [facts]

    in_no_time(story())


def test_the_same_plan_comes_to_the_same_end():
    async def check(engine, run):
        found = await engine.stub(run)
        assert (found.is_same, found.status, found.output, found.calls) == (True, "succeeded", 8, 3)

    with_recorded(check)


def test_a_changed_plan_is_carried_out_with_what_was_recorded():
    async def check(engine, run):
        found = await engine.stub(run, changed(output={"twice": "${steps.b.output * 2}"}))
        assert (found.status, found.output, found.missing) == ("succeeded", {"twice": 16}, None)
        assert (found.difference.where, found.difference.now["output"]) == ("", {"twice": 16})
        fewer = await engine.stub(run, changed(steps=STEPS[::2]))
        assert fewer.is_same
        impatient = await engine.stub(run, changed(steps=[*STEPS[:2], {**STEPS[2], "retry": {"attempts": 1}}]))
        assert (impatient.status, impatient.difference.where) == ("failed", "b")

    with_recorded(check)


def test_a_call_that_was_not_recorded_stops_it_and_says_which():
    async def check(engine, run):
        other = {**STEPS[2], "with": {"n": "${steps.a.output + 1}"}}
        found = await engine.stub(run, changed(steps=[*STEPS[:2], other]))
        missing = found.missing
        assert (missing.step, missing.times, missing.nearest_step) == ("b", 0, "b")
        assert missing.call.arguments["with"] == {"n": 8}
        assert missing.nearest.arguments["with"] == {"n": 7}
        twice = await engine.stub(run, changed(steps=[*STEPS, {**STEPS[0], "id": "c"}]))
        assert (twice.missing.step, twice.missing.times) == ("c", 1)

    with_recorded(check)


def test_what_was_cancelled_is_cancelled_again_and_pauses_are_passed_over():
    steps = [
        {"id": "slow", "agent": "x", "on": {"cancelled": "q"}},
        {"id": "never", "agent": "x"},
        {"id": "q", "ask": "Well?"},
        {"id": "wait", "wait": "10s"},
    ]

    async def story():
        performer = Scripted({"slow": takes(1_000)})
        async with Engine.open(journal=MemoryJournal(), clock=FakeClock(), performer=performer) as engine:
            run = await engine.start(Plan.model_validate({"steps": steps}))
            await asyncio.sleep(20)
            await run.cancel("slow")
            await run.rested()
            await run.pause()
            await asyncio.sleep(3_600)
            await run.resume()
            await run.answer("q_q_1", True)
            assert (await run.result()).steps["slow"].exit == "cancelled"
            found = await engine.stub(run.id)
            assert (found.is_same, found.status, found.missing) == (True, "succeeded", None)
            assert found.unanswered == ()

    in_no_time(story())


def test_other_inputs():
    async def check(engine, run):
        assert (await engine.stub(run, inputs={"n": 3})).is_same
        found = await engine.stub(run, inputs={"n": 4})
        assert (found.missing.step, found.missing.nearest.arguments["with"]) == ("a", {"n": 3})
        with pytest.raises(BadInputs):
            await engine.stub(run, inputs={"n": "four"})

    with_recorded(check)


def test_another_question_has_no_answer():
    async def check(engine, run):
        found = await engine.stub(run, changed(steps=[STEPS[0], {"id": "q", "ask": "Really?"}, STEPS[2]]))
        assert (found.status, found.unanswered) == ("waiting", ("Really?",))
        moved = await engine.stub(run, changed(steps=[STEPS[0], {**STEPS[1], "id": "q2"}, STEPS[2]]))
        assert moved.is_same

    with_recorded(check)


def test_who_was_first_is_first_again():
    race = {"id": "r", "join": "any", "parallel": [{"id": "slow", "agent": "x"}, {"id": "fast", "agent": "y"}]}
    plan = Plan.model_validate(
        {"steps": [race, {"id": "late", "agent": "z", "timeout": "5s", "on": {"failure": "next"}}]}
    )
    script = {"slow": takes(20, "slow"), "fast": takes(10, "fast"), "late": takes(60, "late")}

    async def check(engine, run):
        found = await engine.stub(run)
        assert found.is_same
        patient = Plan.model_validate({"steps": [race, {"id": "late", "agent": "z", "timeout": "5m"}]})
        assert (await engine.stub(run, patient)).status == "failed"

    with_recorded(check, plan, script, answer="")


GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", [recipe.__name__ for recipe in RUNS if recipe not in (adjusted, forked, revised)])
async def test_golden_journals_come_to_their_ends(name):
    """But for those that did not go by one plan: a fork that was taken back, and runs that were revised."""
    world = {"tools": TOOLS, "performer": Scripted(), "strategies": STRATEGIES.get(name, {})}
    world |= {"agent_planning": name == "replanned", **(NEW_NAMES if name == "renamed" else {})}
    async with Engine.open(journal=MemoryJournal(), idle=True, **world) as engine:
        run = await engine.journal.take_in((GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True))
        found = await engine.stub(run.id)
        assert found.missing is None, found.missing
        assert found.difference is None, found.difference

"""A5: how far a run is, made anew as its facts come; steps that say how far they are count."""

import asyncio

import pytest

from perdure import Engine, Plan
from perdure.documents.progress import paced, progress_document
from perdure.estimates.history import History, gather
from perdure.estimates.progress import Pace
from perdure.testing.clock import FakeClock, run
from perdure.testing.scripted import Scripted


def step(id_, seconds=10.0, **more):
    return {"id": id_, "tool": f"x.{id_}", "estimate": {"seconds": seconds}, **more}


LASTS = {"a": 10, "b": 10, "c": 10, "d": 40}
SERIAL = {"name": "s", "steps": [step("a"), step("b"), step("c")]}
MIXED = {
    "name": "m",
    "steps": [
        step("a"),
        {"id": "g", "limit": 2, "parallel": [step("b"), step("c"), step("d", 40)]},
        {"id": "each", "map": [1, 2, 3, 4], "limit": 2, "steps": [step("e", 5)]},
    ],
}


async def answer(attempt):
    await asyncio.sleep(LASTS.get(attempt.step.rpartition(".")[2], 5))


async def seen_at(plan, moments, script=None, before=0):
    """How far a run is at some seconds after its beginning, and how long it takes."""
    clock, found = FakeClock(), []
    async with Engine.open(clock=clock, performer=Scripted(script or {}, default=answer)) as engine:
        for _ in range(before):
            await (await engine.start(Plan.model_validate(plan))).result()
        history = await gather(engine.journal)
        run_ = await engine.start(Plan.model_validate(plan))
        began = clock.now()
        for moment in moments:
            await asyncio.sleep(moment - (clock.now() - began) / 1000)
            _, pace = await paced(engine.journal, run_.id, history)
            found.append(pace.progress(clock.now()))
        assert (await run_.result()).ok
        _, pace = await paced(engine.journal, run_.id, history)
        return [*found, pace.progress(clock.now())], (clock.now() - began) / 1000


@pytest.mark.parametrize("before", [0, 8])
@pytest.mark.parametrize("plan", [SERIAL, MIXED])
def test_a5_what_is_left_shrinks_to_nothing_and_is_about_right(plan, before):
    moments = [1, 9, 11, 21, 29]
    found, whole = run(seen_at(plan, moments, before=before))
    *under_way, over = found
    assert [each.fraction for each in found] == sorted(each.fraction for each in found)
    off = 0.4 if before == 0 else 0.15
    assert [each.left.p50 for each in under_way] == [pytest.approx(whole - at, rel=off, abs=3) for at in moments]
    assert all(each.left.p50 <= each.left.p90 for each in under_way)
    assert (over.fraction, over.left.p90, over.status) == (1, 0, "succeeded")


def test_a5_a_step_that_says_how_far_it_is_is_believed():
    async def reporting(attempt):
        await asyncio.sleep(1)
        attempt.report(0.01, "begun")
        await asyncio.sleep(19)
        attempt.report(0.2, "a fifth")
        await asyncio.sleep(80)

    found, _ = run(seen_at({"steps": [step("a", 10)]}, [15, 25], {"a": reporting}))
    assert found[0].left.p50 < 20, "it was to take ten seconds"
    assert found[1].left.p50 == pytest.approx(100, rel=0.2), "a fifth in 25 seconds"
    assert found[1].fraction == pytest.approx(0.2, abs=0.05)


def test_a5_loops_tries_and_questions_under_way_are_gone_on_with():
    plan = {
        "name": "l",
        "steps": [
            step("a", on={"failure": "mend"}, max_visits=3),
            {"id": "ok", "ask": "Go on?"},
            {"id": "end", "done": True},
            step("mend", on={"success": "a"}),
        ],
    }

    async def look():
        clock = FakeClock()
        async with Engine.open(clock=clock, performer=Scripted({}, default=answer)) as engine:
            run_ = await engine.start(Plan.model_validate(plan))
            asked = (await run_.rested()).questions
            _, pace = await paced(engine.journal, run_.id, History())
            waiting = pace.progress(clock.now())
            await engine.answer(run_.id, next(iter(asked)), "approved")
            await run_.result()
            return waiting

    found = run(look())
    assert (found.status, found.waits, found.at_work, found.left.p90) == ("waiting", 1, 0, 0)


def test_a5_it_is_made_anew_only_now_and_then_and_never_goes_back_a_little():
    async def look():
        clock = FakeClock()
        async with Engine.open(clock=clock, performer=Scripted({}, default=answer)) as engine:
            run_ = await engine.start(Plan.model_validate(SERIAL))
            await asyncio.sleep(5)
            view, pace = await paced(engine.journal, run_.id, History())
            first = pace.progress(clock.now())
            assert pace.progress(clock.now() + 100) is first
            later = pace.progress(clock.now() + 2_000)
            assert later is not first
            assert later.fraction >= first.fraction
            document = progress_document(run_.id, later, clock.now())
            await run_.result()
            assert Pace(view.state, History()).progress(clock.now()) is not None
            return document

    found = run(look())
    assert (found["schema"], found["status"], found["over"]["p50"] < found["over"]["p90"]) == (
        "perdure.progress/1",
        "running",
        True,
    )
    assert progress_document("r", None, 0)["over"] is None

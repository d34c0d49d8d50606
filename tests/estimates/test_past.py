"""A7: what runs took is folded from their facts alone."""

import asyncio

from perdure import Engine, Plan
from perdure.core.calls import Failure, Outcome, Usage
from perdure.estimates.history import History, gather
from perdure.estimates.past import Sample, step_key
from perdure.ports import Turn
from perdure.testing.clock import FakeClock, run
from perdure.testing.scripted import Scripted


def takes(seconds, answer=None):
    async def one(_):
        await asyncio.sleep(seconds)
        return answer

    return one


async def history_after(plan, script, times=1, meanwhile=None):
    """What runs of a plan took."""
    async with Engine.open(clock=FakeClock(), performer=Scripted(script)) as engine:
        for _ in range(times):
            run_ = await engine.start(Plan.model_validate(plan))
            if meanwhile is not None:
                await meanwhile(engine, run_)
            await run_.result()
        return await gather(engine.journal)


def test_every_try_is_a_sample_with_what_it_took_and_how_it_ended():
    plan = {
        "name": "p",
        "steps": [
            {"id": "a", "tool": "x.y", "retry": {"attempts": 2, "wait": 5, "jitter": 0}},
            {"id": "b", "model": "weak", "prompt": "?"},
        ],
    }
    script = {
        "a": [takes(2, Failure("transient", "busy")), takes(3)],
        "b": takes(4, Outcome("yes", usage=Usage(tokens=70, usd=0.5, calls=1))),
    }

    found = run(history_after(plan, script))
    past = found.pasts[0]
    tries = [Sample(2000, "failure", "transient"), Sample(3000)]
    said = [Sample(4000, tokens=70, usd=0.5, calls=1)]
    assert past.samples == {step_key("p", "a"): tries, "tool x.y": tries, step_key("p", "b"): said, "model weak": said}
    assert (past.worked, past.took, past.tokens, past.usd, past.calls) == (9_000, 14_000, 70, 0.5, 1)
    assert (past.plan, past.status) == ("p", "succeeded")


def test_what_was_not_good_enough_counts_as_a_failure():
    plan = {"steps": [{"id": "a", "tool": "x.y", "accept": ["output > 1"], "retry": {"attempts": 2, "wait": 0}}]}
    found = run(history_after(plan, {"a": [1, 2]}))
    assert [(each.exit, each.kind) for each in found.of("tool x.y")] == [("failure", "unmet"), ("success", "")]


def test_answers_of_people_and_agents_at_work_are_samples_too():
    async def answer(engine, run_):
        asked = (await run_.rested()).questions
        await asyncio.sleep(60)
        await engine.answer(run_.id, next(iter(asked)), "approved")

    plan = {"name": "q", "steps": [{"id": "ok", "ask": "Go on?"}, {"id": "w", "agent": "smith", "task": "x"}]}
    found = run(history_after(plan, {"smith": takes(8)}, meanwhile=answer))
    assert [each.exit for each in found.of("people")] == ["approved"]
    assert 60_000 <= found.of("people")[0].took <= 70_000
    assert found.of("agent smith")[0].took == 8_000
    assert found.pasts[0].worked == 8_000, "nobody works while people are waited for"


def test_maps_and_conditions_are_counted():
    plan = {
        "name": "m",
        "steps": [
            {"id": "each", "map": [1, 2, 3], "steps": [{"id": "a", "tool": "x.y"}]},
            {"id": "never", "when": "false", "tool": "x.y"},
        ],
    }
    found = run(history_after(plan, {"x.y": takes(1)}, times=2))
    assert found.items("m", "each") == [3, 3]
    assert found.share_passed("m", "never") == 1
    assert found.share_passed("m", "a") == 0
    assert found.share_passed("m", "nowhere") is None
    assert len(found.of(step_key("m", "a"))) == 6


def test_only_so_many_runs_are_read_the_newest_first():
    async def some():
        async with Engine.open(clock=FakeClock(), performer=Scripted({"x.y": 1})) as engine:
            ids = []
            for _ in range(5):
                run_ = await engine.start(Plan.model_validate({"steps": [{"id": "a", "tool": "x.y"}]}))
                await run_.result()
                ids.append(run_.id)
            return ids, await gather(engine.journal, runs=3)

    ids, found = run(some())
    assert [past.run for past in found.pasts] == ids[:1:-1]
    assert [past.run for past in found.before(found.pasts[1].over).pasts] == [
        past.run for past in found.pasts if past.over <= found.pasts[1].over
    ]


def test_a_run_whose_facts_do_not_fit_is_left_out():
    async def broken():
        async with Engine.open(clock=FakeClock(), performer=Scripted({"x.y": 1})) as engine:
            run_ = await engine.start(Plan.model_validate({"steps": [{"id": "a", "tool": "x.y"}]}))
            await run_.result()
            found, entries = await engine.journal.load(run_.id)
            odd = [each._replace(run="r_odd") for each in entries if each.type != "run_started"]
            odd = [each._replace(seq=n + 1) for n, each in enumerate(odd)]
            await engine.journal.append(Turn("r_odd", 1, odd, summary=found.summary))
            return await gather(engine.journal)

    found = run(broken())
    assert (len(found.pasts), found.left_out) == (1, 1)


def test_nothing_is_known_without_runs():
    assert (History().of("tool x.y"), History().runs_of("p"), History().items("p", "a")) == ((), [], [])

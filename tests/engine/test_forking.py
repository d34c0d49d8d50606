"""E4 E9: new runs from old ones: shared history, finished work reused, the old run untouched."""

import asyncio

import pytest

from perdure import Context, Engine, Plan, tool
from perdure.core.calls import Failure
from perdure.core.refusing import NoStep, NotRevised
from perdure.engine import View
from perdure.engine.forking import NoPoint
from perdure.engine.starting import BadInputs
from perdure.journal import MemoryJournal, SqliteJournal
from perdure.ports import UnknownRun
from perdure.testing.clock import FakeClock
from perdure.testing.clock import run as in_no_time
from perdure.testing.crashes import Disk, crashing
from perdure.testing.replays import assert_replays
from perdure.testing.scripted import Scripted

ABC = Plan.model_validate(
    {
        "goal": "Count to ${inputs.n}",
        "inputs": {"n": {"type": "integer", "default": 3}},
        "steps": [{"id": each, "agent": "x", "with": {"n": "${inputs.n}"}} for each in "abc"],
        "output": ["${steps.a.output}", "${steps.b.output}", "${steps.c.output}"],
    }
)


def given(attempt):
    return attempt.call.arguments["with"]["n"]


async def lines(engine, run):
    return [line async for line in engine.journal.export(run)]


async def test_the_fork_of_a_failed_run_begins_before_what_failed():
    script = Scripted({"a": 1, "b": [Failure("denied", "no"), 2]}, default=given)
    async with Engine.open(performer=script) as engine:
        old = await engine.start(ABC)
        assert (await old.result()).cause == "b"
        before = await lines(engine, old.id)
        new = await old.fork(inputs={"n": 7}, by="anna")
        result = await new.result()
        assert (result.status, result.output) == ("succeeded", [1, 2, 7])
        assert [each.step for each in script.made] == ["a", "b", "b", "c"]
        assert await lines(engine, old.id) == before
        await assert_replays(engine.journal, new.id)
        shown = await engine.journal.run(new.id)
        assert shown.summary.goal == "Count to 7"


@pytest.mark.parametrize(
    ("where", "calls"),
    [({"step": "a"}, "abc"), ({"step": "c"}, "c"), ({"at": 1}, "abc"), ({"at": 3}, "bc"), ({"at": 2}, "abc")],
)
async def test_a_fork_begins_where_it_is_said(where, calls):
    script = Scripted(default=given)
    async with Engine.open(performer=script) as engine:
        old = await engine.start(ABC)
        await old.result()
        script.made.clear()
        new = await engine.fork(old.id, **where)
        assert (await new.result()).ok
        assert "".join(each.step for each in script.made) == calls
        await assert_replays(engine.journal, new.id)


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ({}, NoPoint, "is over: succeeded"),
        ({"at": 8}, NoPoint, "was over after fact 8"),
        ({"at": 99}, NoPoint, "no fact 99"),
        ({"at": 0}, NoPoint, "no fact 0"),
        ({"at": 3, "step": "b"}, NoPoint, "not both"),
        ({"step": "z"}, NoStep, "no visit of 'z'"),
        ({"at": 3, "inputs": {"n": "four"}}, BadInputs, "n"),
        ({"at": 3, "inputs": {"m": 4}}, BadInputs, "m"),
    ],
)
async def test_a_fork_that_cannot_be_says_why_and_leaves_nothing(where, error, message):
    async with Engine.open(performer=Scripted(default=1)) as engine:
        old = await engine.start(ABC)
        await old.result()
        with pytest.raises(error, match=message):
            await engine.fork(old.id, **where)
        assert [run.id for run in await engine.journal.runs()] == [old.id]


async def test_the_fork_of_an_unknown_run():
    async with Engine.open() as engine:
        with pytest.raises(UnknownRun):
            await engine.fork("r_none")


async def test_items_that_came_from_the_inputs_are_not_changed_under_way():
    plan = {
        "inputs": {"of": {"type": "array", "default": [1, 2]}},
        "steps": [{"id": "m", "map": "${inputs.of}", "limit": 1, "steps": [{"id": "i", "agent": "x"}]}],
    }
    async with Engine.open(performer=Scripted(default=1)) as engine:
        old = await engine.start(Plan.model_validate(plan))
        await old.result()
        with pytest.raises(NoPoint, match="under way"):
            await engine.fork(old.id, step="m/1[1].i", inputs={"of": [1]})
        new = await engine.fork(old.id, step="m", inputs={"of": [1]})
        assert (await new.result()).steps["m"].output == [1]
        assert (await (await engine.fork(old.id, step="m/1[1].i")).result()).ok


async def test_questions_are_asked_again_and_answered_apart():
    plan = Plan.model_validate({"steps": [{"id": "q", "ask": "May I?"}, {"id": "b", "agent": "x"}]})
    async with Engine.open(performer=Scripted(default=1)) as engine:
        old = await engine.start(plan)
        await old.rested()
        new = await engine.fork(old.id)
        asked = await engine.journal.questions()
        assert {(each.run, each.id) for each in asked} == {(old.id, "q_q_1"), (new.id, "q_q_1")}
        await new.answer("q_q_1", "approved")
        assert (await new.result()).ok
        assert (await old.rested()).status == "waiting"
        again = await engine.fork(new.id, step="b")
        assert (await again.result()).ok
        await old.cancel()
        assert (await (await engine.fork(old.id)).rested()).status == "waiting"


async def test_values_that_are_kept_apart_are_shared_and_outlive_the_old_run():
    plan = Plan.model_validate(
        {
            "steps": [{"id": "a", "agent": "x"}, {"id": "q", "ask": "?"}],
            "output": "${size(steps.a.output)}",
        }
    )
    async with Engine.open(performer=Scripted(default="x" * 50_000)) as engine:
        old = await engine.start(plan)
        await old.rested()
        new = await engine.fork(old.id)
        await old.cancel()
        await old.result()
        assert (await engine.journal.sweep(2**60)).runs == 1
        await new.answer("q_q_1", "approved")
        assert (await new.result()).output == 50_000
        carried = MemoryJournal()
        await carried.take_in(await lines(engine, new.id))
        assert (await carried.verify(new.id)).bad_seq is None


KEYS = []


@tool(name="fork.keep", repeat="keyed")
async def keep(context: Context) -> str:
    """Keep something, which takes a while."""
    KEYS.append(context.key)
    await asyncio.sleep(10)
    return "kept"


@tool(name="fork.pay", repeat="never")
async def pay() -> str:
    """Pay, which takes a while."""
    await asyncio.sleep(10)
    return "paid"


def test_what_was_under_way_keeps_its_key_and_what_must_not_be_repeated_is_asked():
    async def story():
        KEYS.clear()
        plan = {"parallel": [{"id": "keep", "tool": "fork.keep"}, {"id": "pay", "tool": "fork.pay"}]}
        async with Engine.open(clock=FakeClock(), tools=[keep, pay]) as engine:
            old = await engine.start(Plan.model_validate(plan))
            await asyncio.sleep(5)
            new = await engine.fork(old.id)
            found = await new.rested()
            assert list(found.questions) == ["q_pay_1_doubt1"]
            assert KEYS[0] == KEYS[1]
            await new.answer("q_pay_1_doubt1", "happened")
            assert (await new.result()).ok
            assert (await old.result()).ok
            await assert_replays(engine.journal, new.id)
            again = await engine.fork(old.id, step="keep")
            await again.rested()
            assert KEYS[2] not in KEYS[:2]

    in_no_time(story())


def test_a_lock_is_never_held_by_two():
    at_work = []

    async def alone(attempt):
        at_work.append(attempt.run)
        assert len(at_work) == 1
        await asyncio.sleep(10)
        at_work.remove(attempt.run)

    async def story():
        steps = [{"id": "a", "agent": "x"}, {"id": "b", "agent": "x"}]
        plan = Plan.model_validate({"steps": [{"id": "g", "steps": steps, "locks": ["door"]}]})
        async with Engine.open(clock=FakeClock(), performer=Scripted(default=alone)) as engine:
            old = await engine.start(plan)
            await asyncio.sleep(5)
            one, two = await asyncio.gather(engine.fork(old.id), engine.fork(old.id))
            results = [await each.result() for each in (old, one, two)]
            assert [each.status for each in results] == ["succeeded"] * 3

    in_no_time(story())


def test_a_fork_that_needs_a_lock_no_longer_goes_on_while_the_old_run_holds_it():
    """Seed 300006813 of the simulation: it was left out of the line, and nobody woke it."""
    group = {"id": "g", "locks": ["door"], "steps": [{"id": "q", "ask": "Shall we?"}]}
    plan = Plan.model_validate({"steps": [group, {"id": "after", "agent": "x"}], "output": "${steps.after.output}"})

    async def both():
        async with Engine.open(clock=FakeClock(), performer=Scripted({"after": 7})) as engine:
            old = await engine.start(plan)
            await old.rested()
            new = await engine.fork(old.id)
            await new.answer("q_q_1", "approved")
            return (await new.result()).output, (await old.rested()).status

    assert in_no_time(both()) == (7, "waiting")


async def test_a_fork_can_be_forked_and_a_long_history_is_taken_over():
    many = {"id": "m", "map": list(range(300)), "steps": [{"id": "i", "agent": "x"}]}
    plan = Plan.model_validate({"steps": [many, {"id": "last", "agent": "x"}]})
    script = Scripted(default=1)
    async with Engine.open(performer=script) as engine:
        old = await engine.start(plan)
        await old.result()
        script.made.clear()
        new = await engine.fork((await engine.fork(old.id, step="last")).id, step="last")
        assert (await new.result()).ok
        assert {each.step for each in script.made} == {"last"}
        state = await assert_replays(engine.journal, new.id)
        assert state.forked.of != old.id


async def test_a_run_as_it_stood():
    async with Engine.open(performer=Scripted({"b": Failure("denied", "no")}, default=1)) as engine:
        run = await engine.start(ABC)
        await run.result()
        found = await engine.at(run.id, 4)
        assert (found.status, list(found.steps), found.steps["a"].output) == ("running", ["a", "b"], 1)


@pytest.mark.parametrize("kept", [True, False])
def test_a_crash_leaves_no_fork_or_a_whole_one(kept, monkeypatch):
    """The process dies while the fork is written: just before, or just after."""

    async def story():
        disk, clock, script = MemoryJournal(), FakeClock(), Scripted({"b": [Failure("denied", "no"), 2]}, default=1)
        async with crashing(disk, clock=clock, performer=script) as engine:
            old = await engine.start(ABC)
            await old.result()
            begin = engine.journal.begin

            async def dies(turns):
                if kept:
                    await begin(turns)
                raise asyncio.CancelledError

            engine.journal.begin = dies
            with pytest.raises(asyncio.CancelledError):
                await engine.fork(old.id)
        async with Engine.open(journal=Disk(disk), clock=clock, performer=script, resume=True) as engine:
            found = [run.id for run in await engine.journal.runs() if run.id != old.id]
            assert len(found) == kept
            for run in found:
                assert (await engine.run(run).result()).ok
                await assert_replays(engine.journal, run)

    in_no_time(story())


async def test_in_a_file(tmp_path):
    script = Scripted({"b": [Failure("denied", "no"), 2]}, default=1)
    async with Engine.open(tmp_path / "runs.db", performer=script) as engine:
        old = await engine.start(ABC)
        await old.result()
        new = await engine.fork(old.id)
        assert (await new.result()).ok
    async with await SqliteJournal.open(tmp_path / "runs.db", read_only=True) as journal:
        assert (await journal.verify(new.id)).bad_seq is None
        assert (await View.of(journal, new.id)).state.forked.of == old.id


async def test_with_another_plan_from_there_on():
    script = Scripted({"b": [Failure("denied", "no"), 2]}, default=given)
    async with Engine.open(performer=script) as engine:
        old = await engine.start(ABC)
        await old.result()
        raw = ABC.canonical()
        steps = [raw["steps"][0], {"id": "between", "agent": "x", "with": {"n": 9}}, *raw["steps"][1:2]]
        plan = Plan.model_validate({**raw, "steps": steps, "output": "${steps.between.output}"})
        new = await old.fork(plan=plan, by="anna")
        assert (await new.result()).output == 9
        assert [each.step for each in script.made] == ["a", "b", "between", "b"]
        await assert_replays(engine.journal, new.id)
        assert (await engine.redecide(new.id)).difference is None
        assert (await engine.stub(new.id)).is_same
        assert (await (await old.fork(step="b", plan=ABC)).result()).ok
        with pytest.raises(NotRevised, match="is over"):
            await old.fork(plan=Plan.model_validate({"steps": [{"id": "z", "agent": "x"}]}))


async def plans_of_forks(engine, old):
    """The plan of forks of a run at every fact at which it was not over: its revision, and who does its steps."""
    _, entries = await engine.journal.load(old)
    found = {}
    for at in range(1, len(entries) + 1):
        try:
            new = await engine.fork(old, at=at)
        except NoPoint:
            continue
        await new.result()
        view = await View.of(engine.journal, new.id)
        found[at] = (
            view.state.revision,
            [node.step.agent for node in view.state.cells[""].scope.outline.index.nodes if node.step],
        )
    return [each.type for each in entries], found


async def test_a_fork_has_the_plan_that_a_mended_run_had_at_that_point():
    script = Scripted({"bad": Failure("denied", "no"), "good": 2, "c": Failure("denied", "no")}, default=1)
    async with Engine.open(performer=script) as engine:
        agents = {"a": "x", "b": "bad", "c": "x"}
        old = await engine.start(Plan.from_steps([{"id": each, "agent": agents[each]} for each in agents]))
        await old.result()
        await engine.retry(old.id, edits=[{"amend": "b", "fields": {"agent": "good"}}])
        assert (await old.result()).cause == "c"
        types, found = await plans_of_forks(engine, old.id)
        mended = types.index("run_reopened") + 1
        assert types[mended] == "run_revised"
        assert {at for at, (revision, _) in found.items() if revision == 0} == set(range(1, mended - 1))
        assert all(agents == ["x", "good" if revision else "bad", "x"] for revision, agents in found.values())
        assert {at for at, (revision, _) in found.items() if revision} == set(range(mended, len(types)))
        for where in ({}, {"step": "b"}, {"step": "c"}):
            new = await old.fork(**where)
            await new.result()
            assert (await View.of(engine.journal, new.id)).state.revision == 1
        first = await old.fork(step="a")
        assert (await View.of(engine.journal, first.id)).state.revision == 0
        await first.result()


async def test_a_fork_of_a_fork_has_the_plan_that_was_given_to_that():
    script = Scripted({"bad": Failure("denied", "no"), "good": 2}, default=1)
    async with Engine.open(performer=script) as engine:
        old = await engine.start(Plan.from_steps([{"id": "a", "agent": "x"}, {"id": "b", "agent": "bad"}]))
        await old.result()
        fork = await old.fork(plan=Plan.from_steps([{"id": "a", "agent": "x"}, {"id": "b", "agent": "good"}]))
        await fork.result()
        types, found = await plans_of_forks(engine, fork.id)
        forked = types.index("run_forked") + 1
        assert found[forked] == found[forked + 1] == (1, ["x", "good"])
        assert found[forked - 1] == (0, ["x", "bad"])

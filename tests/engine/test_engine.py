"""The front door: what a program can do with an engine. T12, E2, E3, E8, E9, E17, M10."""

import asyncio
import json

import pytest

from perdure import Engine, Limits, Plan, PlanError, run_sync, tool
from perdure.core.calls import Failure, Outcome
from perdure.core.refusing import Answered, BadAnswer, NoQuestion, Refused
from perdure.engine.starting import BadInputs
from perdure.engine.upgrading import Gone
from perdure.journal.memory import MemoryJournal
from perdure.ports import Locked, UnknownRun
from perdure.testing.crashes import Disk
from perdure.testing.scripted import Scripted
from perdure.tools import Context

pytestmark = pytest.mark.anyio
ECHO = {"id": "say", "tool": "flow.echo", "with": {"value": "${inputs.word}"}}
WORD = {"word": {"type": "string", "minLength": 2}}


def a_plan(*steps, **more):
    return Plan.model_validate({"steps": list(steps), **more})


async def until(holds):
    while not holds():  # noqa: ASYNC110  there is nothing to wait on but the state itself
        await asyncio.sleep(0.001)


async def test_a_run_is_started_watched_and_has_a_result():
    async with Engine.open() as engine:
        run = await engine.start(a_plan(ECHO, inputs=WORD, goal="Say ${inputs.word}"), {"word": "tide"})
        seen = [entry.type async for entry in run.watch()]
        result = await run.result()
    assert seen == ["run_started", "attempt_started", "attempt_ended", "run_ended"]
    assert (result.status, result.ok, result.output, result.failure) == ("succeeded", True, "tide", None)
    assert (result.steps["say"].exit, result.steps["say"].visits, result.steps["say"].attempts) == ("success", 1, 1)
    assert (result.usage.steps, result.usage.attempts) == (1, 1)


def test_a_script_needs_no_event_loop():
    assert run_sync(a_plan(ECHO, inputs=WORD), {"word": "tide"}).output == "tide"


@pytest.mark.parametrize("inputs", [{}, {"word": 3}, {"word": "x"}, {"word": "tide", "other": 1}])
async def test_inputs_that_do_not_fit_are_refused_before_anything_is_written(inputs):
    async with Engine.open() as engine:
        with pytest.raises(BadInputs, match="inputs"):
            await engine.start(a_plan(ECHO, inputs=WORD), inputs)
        assert await engine.journal.runs() == []


async def test_a_plan_with_unknown_tools_is_refused_with_all_its_problems():
    async with Engine.open() as engine:
        with pytest.raises(PlanError) as refusal:
            await engine.start(a_plan({"id": "a", "tool": "flow.eco"}, {"id": "b", "tool": "no.such"}))
    assert len(refusal.value.problems) == 2
    assert "flow.echo" in str(refusal.value)


async def test_a_plan_by_name_is_a_step_and_may_call_itself():
    down = a_plan(
        {"id": "enough", "decide": "inputs.n > 0 ? 'more' : 'no'", "choices": ["more", "no"], "on": {"no": "done"}},
        {"id": "more", "plan": "down", "with": {"n": "${inputs.n - 1}"}},
        inputs={"n": {"type": "integer"}},
        output="${inputs.n}",
    )
    async with Engine.open(plans={"down": down}) as engine:
        result = await (await engine.start(a_plan({"id": "top", "plan": "down", "with": {"n": 3}}))).result()
    assert (result.status, result.output) == ("succeeded", 3)
    assert "top/1.more/1.more/1.more" in result.steps


async def test_a_secret_reaches_its_tool_and_nothing_else(tmp_path):
    seen = []

    @tool(name="mail.send", repeat="safe")
    async def send(token: str) -> int:
        seen.append(token)
        return len(token)

    plan = a_plan({"id": "send", "tool": "mail.send", "with": {"token": "Bearer ${secrets.MAIL}"}})
    async with Engine.open(tmp_path / "runs.db", tools=[send], secrets={"MAIL": "s3cr3t-canary"}) as engine:
        result = await (await engine.start(plan)).result()
    assert (result.output, seen) == (20, ["Bearer s3cr3t-canary"])
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"s3cr3t-canary" in path.read_bytes()]


@pytest.mark.parametrize("secrets", [{}, {"OTHER": "x"}])
async def test_a_secret_that_is_not_there_fails_the_step_before_it_begins(secrets):
    plan = a_plan({"id": "send", "tool": "flow.echo", "with": {"value": "${secrets.MAIL}"}})
    async with Engine.open(secrets=secrets) as engine:
        result = await (await engine.start(plan)).result()
    assert (result.status, result.failure.kind) == ("failed", "invalid")
    assert "there is no secret MAIL" in result.failure.message


async def test_a_question_is_answered_once_and_by_whom_it_is_for():
    plan = a_plan({"id": "ok", "ask": "Really?", "to": ["ann"]}, {"id": "end", "done": "${steps.ok.exit}"})
    async with Engine.open() as engine:
        run = await engine.start(plan)
        waiting = await run.rested()
        assert (waiting.status, dict(waiting.questions)) == ("waiting", {"q_ok_1": "Really?"})
        for wrong, error in (
            (("q_ok_1", "maybe", "ann"), BadAnswer),
            (("q_ok_1", True, "bob"), BadAnswer),
            (("q_x", True, "ann"), NoQuestion),
        ):
            with pytest.raises(error):
                await run.answer(*wrong)
        await run.answer("q_ok_1", True, "ann")
        assert (await run.result()).output == "approved"
        with pytest.raises(Answered):
            await run.answer("q_ok_1", False, "ann")


async def test_a_signal_that_comes_first_is_kept():
    plan = a_plan(
        {"id": "work", "tool": "time.sleep", "with": {"seconds": 0.05}}, {"id": "wait", "wait": {"signal": "go"}}
    )
    async with Engine.open() as engine:
        run = await engine.start(plan)
        await run.signal("go", {"big": "x" * 5000})
        assert (await run.result()).output == {"big": "x" * 5000}


async def test_a_paused_run_begins_nothing_new_and_goes_on_when_told():
    plan = a_plan({"id": "a", "tool": "slow.step"}, {"id": "b", "tool": "slow.step"})
    gate = asyncio.Event()

    async def slow(attempt):
        await gate.wait()
        return Outcome(attempt.step)

    async with Engine.open(performer=Scripted({"a": slow, "b": slow})) as engine:
        run = await engine.start(plan)
        await run.pause("lunch", "ann")
        gate.set()
        result = await run.rested()
        assert (result.status, result.steps["a"].exit, result.steps["b"].attempts) == ("paused", "success", 0)
        with pytest.raises(Refused):
            await run.pause()
        await run.resume()
        assert (await run.result()).output == "b"


async def test_cancelling_stops_what_is_at_work_and_keeps_what_was_done():
    stopped = []

    async def forever(attempt):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            stopped.append(attempt.step)
            raise

    plan = a_plan(
        {"id": "a", "tool": "x.y"}, {"id": "b", "parallel": [{"id": "c", "tool": "x.y"}, {"id": "d", "tool": "x.y"}]}
    )
    async with Engine.open(performer=Scripted({"a": 1, "c": forever, "d": forever})) as engine:
        run = await engine.start(plan)
        await until(lambda: engine.host.at_work == 2)
        await run.cancel(reason="enough")
        result = await run.result()
    assert (result.status, result.steps["a"].output, sorted(stopped)) == ("cancelled", 1, ["c", "d"])


async def test_one_step_can_be_cancelled_and_the_rest_goes_on():
    async def forever(attempt):
        await asyncio.sleep(3600)

    plan = a_plan({"id": "a", "tool": "x.y", "on": {"cancelled": "next"}}, {"id": "b", "tool": "x.y"})
    async with Engine.open(performer=Scripted({"a": forever, "b": 2})) as engine:
        run = await engine.start(plan)
        await until(lambda: engine.host.at_work == 1)
        await run.cancel("a")
        assert (await run.result()).output == 2


async def test_a_failed_run_is_retried_where_it_failed():
    plan = a_plan({"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y", "retry": {"attempts": 1}})
    performer = Scripted({"a": 1, "b": [Failure("unavailable", "not yet"), 2]})
    async with Engine.open(performer=performer) as engine:
        run = await engine.start(plan)
        failed = await run.result()
        assert (failed.status, failed.cause, failed.failure.kind) == ("failed", "b", "unavailable")
        await engine.retry(run.id)
        assert (await run.result()).output == 2
        assert [entry.type async for entry in run.watch()].count("run_ended") == 2
    assert [attempt.step for attempt in performer.made] == ["a", "b", "b"]


async def test_progress_becomes_a_fact_but_not_too_often():
    @tool(name="long.work", repeat="safe")
    async def work(context: Context) -> int:
        for n in range(50):
            context.progress(n / 50, f"part {n}")
            await asyncio.sleep(0)
        return 1

    async with Engine.open(tools=[work]) as engine:
        run = await engine.start(a_plan({"id": "a", "tool": "long.work"}))
        bodies = [json.loads(entry.body) async for entry in run.watch() if entry.type == "attempt_progressed"]
    assert 1 <= len(bodies) <= 5
    assert bodies[0] == {"step": "a", "fraction": 0.0, "message": "part 0"}


@pytest.mark.parametrize("limits", [Limits(run=3), Limits(total=3), Limits(tools={"x.y": 3})])
async def test_no_more_attempts_at_once_than_the_limits_say(limits):
    now, most = 0, 0

    async def busy(attempt):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return Outcome(1)

    steps = [{"id": f"s{n}", "tool": "x.y"} for n in range(30)]
    async with Engine.open(performer=Scripted({f"s{n}": busy for n in range(30)}), limits=limits) as engine:
        result = await (await engine.start(a_plan({"id": "g", "parallel": steps}))).result()
    assert (result.ok, most) == (True, 3)


async def test_locks_hold_between_runs():
    inside, most = 0, 0

    async def print_it(attempt):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.001)
        inside -= 1
        return Outcome(1)

    plan = a_plan({"id": "p", "tool": "x.y", "locks": ["printer"]})
    async with Engine.open(performer=Scripted({"p": print_it})) as engine:
        runs = [await engine.start(plan) for _ in range(10)]
        results = [await run.result() for run in runs]
    assert (all(result.ok for result in results), most) == (True, 1)


async def test_the_kill_switch_stops_everything():
    async def forever(attempt):
        await asyncio.sleep(3600)

    async with Engine.open(performer=Scripted({"a": forever})) as engine:
        runs = [await engine.start(a_plan({"id": "a", "tool": "x.y"})) for _ in range(20)]
        assert sorted(await engine.stop()) == sorted(run.id for run in runs)
        assert {(await run.result()).status for run in runs} == {"cancelled"}


async def test_a_run_goes_on_in_another_engine_where_it_was(tmp_path):
    plan = a_plan({"id": "a", "tool": "x.y"}, {"id": "ok", "ask": "Go on?"}, {"id": "b", "tool": "x.y"})
    first, second = Scripted({"a": 1}), Scripted({"b": 2})
    async with Engine.open(tmp_path / "runs.db", performer=first) as engine:
        run = await engine.start(plan)
        await run.rested()
        with pytest.raises(Locked):
            async with Engine.open(tmp_path / "runs.db"):
                pass
    async with Engine.open(tmp_path / "runs.db", performer=second) as engine:
        again = await engine.find(run.id[:-3])
        await again.answer("q_ok_1", True)
        assert (await again.result()).output == 2
    assert [[attempt.step for attempt in each.made] for each in (first, second)] == [["a"], ["b"]]


async def test_whoever_cannot_do_the_work_takes_messages_and_begins_nothing(tmp_path):
    plan = a_plan({"id": "ok", "ask": "Go on?"}, {"id": "b", "tool": "x.y"})
    async with Engine.open(tmp_path / "runs.db", performer=Scripted({"b": 2})) as engine:
        run = await engine.start(plan)
        await run.rested()
    async with Engine.open(tmp_path / "runs.db") as engine:
        await engine.answer(run.id, "q_ok_1", True)
        result = await engine.result(run.id)
        assert (result.steps["ok"].exit, result.steps["b"].attempts) == ("approved", 0)
        with pytest.raises(Gone):
            await Engine.resume(engine, run.id)
    async with Engine.open(tmp_path / "runs.db", performer=Scripted({"b": 2}), resume=True) as engine:
        assert (await engine.run(run.id).result()).output == 2


async def test_a_run_that_is_not_there_is_said_so():
    async with Engine.open() as engine:
        for call in (engine.find("r_x"), engine.pause("r_x"), engine.run("r_x").result()):
            with pytest.raises(UnknownRun):
                await call


async def test_the_same_seed_draws_the_same_pauses():
    plan = a_plan({"id": "a", "tool": "x.y", "retry": {"attempts": 4, "wait": 0.001, "jitter": 1}})

    async def dues(seed):
        async with Engine.open(performer=Scripted({"a": Failure("transient", "again")})) as engine:
            run = await engine.start(plan, seed=seed)
            entries = [entry async for entry in run.watch()]
        ends = [entry.at for entry in entries if entry.type == "attempt_ended"]
        return [
            json.loads(entry.body)["due"] - at
            for entry, at in zip([e for e in entries if e.type == "retry_planned"], ends, strict=False)
        ]

    assert await dues(7) == await dues(7)


async def test_a_plan_is_made_ready_once():
    plan = a_plan({"id": "a", "tool": "flow.echo", "with": {"value": 1}})
    async with Engine.open() as engine:
        ready = engine.prepare(plan)
        assert engine.prepare(plan) is ready
        assert engine.prepare(Plan.model_validate(plan.model_dump(by_alias=True))) is ready, "an equal one is the same"
        assert (await (await engine.start(plan)).result()).output == 1


async def test_what_takes_a_call_back_has_the_key_of_the_call():
    keys = []

    def forget(key):
        keys.append(key)

    @tool(name="shop.put", repeat="keyed", undo=forget)
    async def put(context: Context) -> None:
        """Put something."""
        keys.append(context.key)

    async with Engine.open(tools=[put]) as engine:
        handle = await engine.start(Plan.model_validate({"steps": [{"id": "a", "tool": "shop.put"}]}))
        await handle.result()
        await handle.rollback()
        assert (await handle.result()).status == "rolled_back"
    assert len(keys) == 2
    assert keys[0] == keys[1]


ROUNDS = """
perdure: 1
steps:
  - id: round
    max_visits: 2
    steps:
      - {id: put, tool: shop.put, when: "steps.?said.?visits.orValue(0) < 1"}
    on: {success: said}
  - {id: said, tool: flow.echo, with: {value: 1}}
  - {id: more, decide: "steps.said.visits < 2 ? 'round' : 'end'", choices: [round, end]}
  - {id: end, done: true}
"""
"""In the second round, nothing is put."""


async def test_e18_what_was_done_in_a_round_is_taken_back_though_a_later_one_passed_it_by(tmp_path):
    (tmp_path / "rounds.yaml").write_text(ROUNDS)
    there = []

    @tool(name="shop.put", repeat="keyed", undo=lambda: there.remove("it"))
    async def put() -> None:
        """Put something."""
        there.append("it")

    async with Engine.open(tools=[put]) as engine:
        handle = await engine.start(Plan.load(tmp_path / "rounds.yaml"))
        assert (await handle.result()).status == "succeeded"
        assert there == ["it"]
        await handle.rollback()
        result = await handle.result()
    assert (result.status, result.failure, there) == ("rolled_back", None, [])


def test_nobody_hears_of_an_end_that_is_not_durable():
    async def go():
        disk = MemoryJournal()
        async with Engine.open(journal=Disk(disk, delay=lambda: 0.02)) as engine:
            run = await engine.start(Plan.model_validate({"steps": [{"id": "a", "done": 1}]}))
            result = await run.result()
            return result.status, (await disk.run(run.id)).summary.status

    assert asyncio.run(go()) == ("succeeded", "succeeded")

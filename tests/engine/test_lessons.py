"""T4, T9: what an agent has learned is remembered when its work is over, and later runs with the same task are told."""

import asyncio

import pytest

from perdure import Agent, Engine, Plan
from perdure.core.growth import Finish, Move
from perdure.core.lessons import LONGEST, MOST
from perdure.journal import MemoryJournal
from perdure.plan.model.parts import Policy
from perdure.testing.crashes import Disk, Fault, crashing
from perdure.testing.models import ScriptedModel

pytestmark = pytest.mark.anyio
OPTIONS = {"accept": [{"expr": "output.contains('butter')"}], "strategy": "single"}
LEARNER = Agent(name="learner", strategy="reflexion", options=OPTIONS)


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path):
    return ":memory:" if request.param == "memory" else tmp_path / "runs.db"


def said(request):
    news = request.remarks[-1].text
    if "what to do differently" in news:
        return {"lesson": "Take butter too."}
    return "bread and butter" if "butter" in news else "bread"


def plan(task="Buy what is needed"):
    return Plan.model_validate({"steps": [{"id": "go", "agent": "learner", "task": task}]})


def world(model=None, agent=LEARNER, **more):
    return {"agents": [agent], "models": {"default": model or ScriptedModel(said)}, **more}


async def carried_out(engine, document):
    run = await engine.start(document)
    result = await run.result()
    async with asyncio.timeout(60):
        while not (await engine.journal.run(run.id)).summary.over:  # noqa: ASYNC110  nothing else to wait on
            await asyncio.sleep(0.005)
    return result


async def lessons(engine):
    return await engine.memory.memories(["lesson"])


async def test_t4_lessons_are_remembered_with_the_task_and_where_they_come_from(place):
    async with Engine.open(place, **world()) as engine:
        result = await carried_out(engine, plan())
        (lesson,) = await lessons(engine)
        assert (lesson.text, lesson.about, lesson.by) == ("Take butter too.", "Buy what is needed", "agent")
        assert (lesson.run, lesson.step) == (result.id, "go/1.3")
        assert (await engine.memory.search("buying what was needed", ["lesson"])) == [lesson]


async def test_t4_later_runs_with_the_same_task_are_told_them_and_others_are_not(place):
    model = ScriptedModel(said)
    async with Engine.open(place, **world(model)) as engine:
        first = await carried_out(engine, plan())
        assert first.output["rounds"] == 2
        second = await carried_out(engine, plan())
        assert (second.output["rounds"], second.output["lessons"]) == (1, [])
        told = model.asked[-1].remarks[0].text
        assert told == "Buy what is needed\n\nThis was tried before. What was learned:\n- Take butter too."
        assert second.steps["go/1.1"].output["found"][0]["run"] == first.id  # it is a step, and in the journal
        other = await carried_out(engine, plan("Buy what is needed here"))
        assert other.output["rounds"] == 2
        assert [each.run for each in await lessons(engine)] == [other.id, first.id]


async def test_t4_a_lesson_that_was_learned_twice_is_told_once_and_only_so_many_are():
    async with Engine.open(**world(agent=LEARNER.model_copy(update={"options": {**OPTIONS, "recall": 2}}))) as engine:
        for text in ("One.", "One.", "Two.", "Three."):
            await engine.memory.note(text, about="Buy what is needed")
        model = engine._heads._models["default"]
        await carried_out(engine, plan())
        told = model.asked[0].remarks[0].text
        assert told.count("\n- ") == 2
        assert told.count("One.") <= 1


async def test_who_does_not_want_to_be_told_is_not():
    agent = LEARNER.model_copy(update={"options": {**OPTIONS, "recall": 0}})
    async with Engine.open(**world(agent=agent)) as engine:
        for _ in range(2):
            result = await carried_out(engine, plan())
            assert result.output["rounds"] == 2
            assert "go/1.1/1.1" in result.steps


async def test_t4_lessons_of_work_that_failed_are_remembered_too():
    never = LEARNER.model_copy(update={"options": {**OPTIONS, "accept": ["false"], "rounds": 3}})
    async with Engine.open(**world(agent=never)) as engine:
        result = await carried_out(engine, plan())
        assert result.failure.kind == "unmet"
        assert [each.step for each in await lessons(engine)] == ["go/1.5", "go/1.3"]


async def test_t4_a_memory_that_is_broken_is_never_in_the_way(tmp_path):
    async with Engine.open(tmp_path / "runs.db", **world()) as engine:
        engine.journal._store._db.execute("DROP TABLE memories")
        result = await carried_out(engine, plan())
        assert result.output["answer"] == "bread and butter"
        assert "PRD2205" in result.steps["go/1.1"].output["trouble"]


async def test_t4_where_the_memory_may_not_be_asked_the_work_goes_on():
    async with Engine.open(**world(policy=Policy(tools={"deny": ["memory.*"]}))) as engine:
        result = await carried_out(engine, plan())
        assert result.output["answer"] == "bread and butter"
        assert result.steps["go/1.1"].failure.kind == "denied"


@pytest.mark.parametrize("what", ["lose", "keep"])
async def test_t4_a_kill_at_any_turn_leaves_one_memory_of_each_lesson(what):
    for turn in range(1, 30):
        journal = MemoryJournal()
        dead = asyncio.Event()
        async with crashing(journal, lambda n, _, at=turn: Fault(what) if n == at else None, **world()) as engine:
            engine.journal.died = dead.set
            starting = asyncio.ensure_future(_begun(engine))
            waiting = asyncio.ensure_future(dead.wait())
            await asyncio.wait([starting, waiting], return_when="FIRST_COMPLETED", timeout=20)
            for each in (starting, waiting):
                each.cancel()
        async with Engine.open(journal=Disk(journal), resume=True, **world()) as engine:
            for run in await journal.runs():
                assert (await engine.run(run.id).result()).output["answer"] == "bread and butter"
                async with asyncio.timeout(20):
                    while not (await journal.run(run.id)).summary.over:  # noqa: ASYNC110  nothing else to wait on
                        await asyncio.sleep(0.002)
                assert [each.text for each in await journal.memories(["lesson"])] == ["Take butter too."]
        if not dead.is_set():
            break
    assert turn > 5


async def _begun(engine):
    return await (await engine.start(plan())).result()


async def test_a_strategy_of_ones_own_says_what_is_to_be_remembered():
    def mine(view):
        if view.first:
            steps = [{"tool": "flow.echo", "with": {"value": f"{n}: {'x' * 3_000}"}} for n in range(MOST + 5)]
            bad = {"tool": "flow.echo", "with": {"value": 7}}
            tags = {f"s{n}": "lesson" for n in range(1, MOST + 7)}
            return Move(add=[*steps, bad], tags=tags)
        return None if view.live else Finish(output="done")

    async with Engine.open(strategies={"mine": mine}) as engine:
        step = {"id": "go", "agent": "anybody", "strategy": "mine", "task": "t" * 3_000}
        assert (await carried_out(engine, Plan.model_validate({"steps": [step]}))).output == "done"
        found = await lessons(engine)
        assert len(found) == MOST - 1  # the last of those that were marked said nothing
        assert {len(each.text) for each in found} == {len(each.about) for each in found} == {LONGEST}

"""T4 and X10: what runs have taught is found by later ones, and no trouble with it stops a run."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from perdure import Context, Engine, Plan, tool
from perdure.journal import MemoryJournal, SqliteJournal
from perdure.ports import NoMemory, UnknownMemory
from perdure.testing.memories import HOSTILE
from perdure.tools.builtin.memory import note, search

pytestmark = pytest.mark.anyio
MEMORY = Plan.load(Path(__file__).parents[2] / "examples/runs/memory.yaml")
SECRET = "canary-Zq8Xv3Lw9TbN"  # noqa: S105  it is there to be looked for
NOW = 2**60


def plan(*steps, **more):
    return Plan.model_validate({"steps": list(steps), **more})


def step(id_, name, **given):
    return {"id": id_, "tool": name, "with": given}


def searching(query, **more):
    return plan(step("look", "memory.search", query=query, **more), output="${steps.look.output}")


def noting(text="Ring twice", **more):
    return plan(step("learn", "memory.note", text=text, **more), output="${steps.learn.output}")


DEED = {**step("deed", "flow.echo", value=1), "undo": {"tool": "flow.echo", "with": {"value": 0}}}
FAILING = plan(
    DEED, step("call", "flow.fail", message="the harbour is closed", kind="logic"), goal="Deliver the letters"
)


async def done(engine, document, inputs=None):
    return await ended(engine, await engine.start(document, inputs))


async def ended(engine, run):
    """What became of a run, once that is durable."""
    result = await run.result()
    async with asyncio.timeout(60):
        while not (await engine.journal.run(run.id)).summary.over:  # noqa: ASYNC110  nothing else to wait on
            await asyncio.sleep(0.005)
    return result


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path):
    return ":memory:" if request.param == "memory" else tmp_path / "runs.db"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


# ------------------------------------------------------------ what is remembered by itself


async def test_t4_a_run_that_is_over_is_remembered_with_its_goal_and_why_it_failed(place):
    async with Engine.open(place) as engine:
        failed = await done(engine, FAILING)
        (found,) = await engine.memory.search("delivering a letter")
        assert (found.kind, found.about, found.run) == ("outcome", "Deliver the letters", failed.id)
        assert (found.text, found.step, found.by) == ("failed: logic: the harbour is closed", "call", "run")
        assert await engine.memory.search("harbours") == [found]


async def test_a_run_that_goes_on_after_all_is_remembered_by_its_last_end(place):
    async with Engine.open(place) as engine:
        run = await engine.start(FAILING)
        await ended(engine, run)
        await engine.retry(run.id, edits=[{"replace": "call", "step": step("call", "flow.echo", value=1)}])
        assert (await ended(engine, run)).ok
        assert [each.text for each in await engine.memory.memories()] == ["succeeded"]
        await engine.rollback(run.id)
        await ended(engine, run)
        assert [each.text for each in await engine.memory.memories()] == ["rolled_back"]


async def test_a_run_that_is_not_over_is_not_remembered(place):
    async with Engine.open(place) as engine:
        run = await engine.start(plan({"id": "sure", "ask": "Sure?"}, goal="Ask"))
        await run.rested()
        assert await engine.memory.memories() == []
        await run.cancel()
        await ended(engine, run)
        assert [each.text for each in await engine.memory.memories()] == ["cancelled"]


async def test_swept_runs_take_along_how_they_ended_and_leave_what_they_taught(place):
    async with Engine.open(place) as engine:
        assert (await done(engine, noting(about="harbour"))).ok
        assert (await engine.sweep(NOW)).runs == 1
        assert [each.kind for each in await engine.memory.memories()] == ["lesson"]


# ------------------------------------------------------------ the plan that remembers first


async def test_t4_memories_come_first_and_planning_sees_them(place):
    async with Engine.open(place) as engine:
        first = await done(engine, MEMORY, {"place": "the harbour", "learned": "Ring twice"})
        assert first.output["memories"] == {"found": [], "trouble": ""}
        second = await done(engine, MEMORY, {"place": "harbours of the north"})
        found = second.output["memories"]["found"]
        assert {each["text"] for each in found} == {"Ring twice", "succeeded"}
        lesson = next(each for each in found if each["kind"] == "lesson")
        assert (lesson["run"], lesson["step"], lesson["by"], lesson["at"][:2]) == (first.id, "learn", "step", "20")


async def test_t4_a_broken_memory_leads_on_and_the_run_ends_well(path):
    async with Engine.open(path) as engine:
        engine.journal._store._db.execute("DROP TABLE memories")
        result = await done(engine, MEMORY, {"place": "the harbour", "learned": "Ring twice"})
        assert result.ok
        assert result.output["memories"]["found"] == []
        assert "PRD2205" in result.output["memories"]["trouble"]
        assert result.steps["learn"].output["noted"] is False
        assert (await done(engine, FAILING)).status == "failed"
    async with Engine.open(path) as engine:
        assert (await engine.journal.verify(result.id)).bad_seq is None


async def test_t4_a_journal_that_remembers_only_runs_is_enough():
    class Plain:
        """A journal as somebody else may have written it."""

        def __init__(self):
            self._kept = MemoryJournal()

        def __getattr__(self, name):
            if name in {"remember", "search", "memories", "forget"}:
                raise AttributeError(name)
            return getattr(self._kept, name)

    async with Engine.open(journal=Plain()) as engine:
        result = await done(engine, MEMORY, {"place": "the harbour", "learned": "Ring twice"})
        assert result.ok
        assert "nothing but runs" in result.output["memories"]["trouble"]
        with pytest.raises(NoMemory):
            await engine.memory.search("harbour")


async def test_t4_a_memory_that_does_not_answer_in_time_leads_on(monkeypatch):
    async def never(*_):
        await asyncio.sleep(3600)

    quick = Plan.model_validate(
        {"steps": [{**step("look", "memory.search", query="a"), "timeout": "50ms", "on": {"failure": "next"}},
                   step("go", "flow.echo", value="${steps.?look.output}")]}
    )  # fmt: skip
    async with Engine.open() as engine:
        monkeypatch.setattr(engine.journal, "search", never)
        assert (await done(engine, quick)).ok


# ------------------------------------------------------------ what steps put in


async def test_x10_a_note_has_where_it_comes_from_and_outlives_a_rollback(place):
    async with Engine.open(place) as engine:
        learn = step("learn", "memory.note", text="Ring twice", kind="fact", about="harbour")
        run = await engine.start(plan(DEED, learn))
        assert (await ended(engine, run)).ok
        await engine.rollback(run.id)
        assert (await ended(engine, run)).status == "rolled_back"
        (found,) = await engine.memory.search("rings", ["fact"])
        assert (found.run, found.step, found.by, found.about) == (run.id, "learn", "step", "harbour")


@tool(name="odd.note", repeat="keyed")
async def note_and_die(flag: str, context: Context) -> str:
    """Note something; the process ends before anybody hears of it, once."""
    noted = await note("Ring twice", context)
    _die_once(Path(flag))
    return noted["id"]


def _die_once(flag):
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), 9)


VICTIM = """
import asyncio, sys
sys.path[:0] = {paths!r}
from test_memory import note_and_die, plan, step
from perdure import Engine

async def main():
    async with Engine.open({path!r}, tools=[note_and_die]) as engine:
        await (await engine.start(plan(step("learn", "odd.note", flag={flag!r})))).result()

asyncio.run(main())
"""


async def test_x10_a_note_that_is_made_again_after_a_kill_is_one_note(path, tmp_path):
    flag = str(tmp_path / "flag")
    script = VICTIM.format(paths=[str(Path(__file__).parent), *sys.path], path=str(path), flag=flag)
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script], check=False)
    assert killed.returncode == -9
    async with Engine.open(path, tools=[note_and_die], resume=True) as engine:
        run = await engine.find("@last")
        result = await ended(engine, run)
        assert result.ok
        (found,) = await engine.memory.memories(["lesson"])
        assert (found.id, found.text) == (result.output, "Ring twice")
        assert len(await engine.memory.memories()) == 2, "the note, and how the run ended"


async def test_x10_the_same_step_visited_anew_notes_anew_and_is_told_once(place):
    async with Engine.open(place) as engine:
        for _ in range(3):
            assert (await done(engine, noting())).ok
        assert len(await engine.memory.memories(["lesson"])) == 3
        assert len(await engine.memory.search("ring", ["lesson"])) == 1


async def test_s6_no_secret_is_remembered(path):
    document = plan(
        step("learn", "memory.note", text="Use ${secrets.KEY} there", about="${secrets.KEY}"),
        step("call", "flow.fail", message="bad key ${secrets.KEY}", kind="logic"),
    )
    async with Engine.open(path, secrets={"KEY": SECRET}) as engine:
        assert (await done(engine, document)).status == "failed"
        await engine.memory.note(f"a person wrote {SECRET}")
        found = await engine.memory.memories()
        assert len(found) == 3
        assert all("«secret KEY»" in each.text for each in found)
    for each in path.parent.rglob("*"):
        assert not each.is_file() or SECRET.encode() not in each.read_bytes()


async def test_hostile_queries_do_not_fail_a_step(place):
    whole = [each for each in HOSTILE if "\ud800" not in each and len(each) <= 1_000_000]
    document = Plan.model_validate(
        {
            "inputs": {"q": {"type": "string"}},
            "steps": [step("look", "memory.search", query="${inputs.q}")],
            "output": "${steps.look.output}",
        }
    )
    async with Engine.open(place) as engine:
        for query in whole:
            result = await done(engine, document, {"q": query})
            assert result.ok, (query[:20], result.failure)
            assert result.output["trouble"] == ""


# ------------------------------------------------------------ programs


async def test_programs_note_list_and_forget(place):
    async with Engine.open(place) as engine:
        first = await engine.memory.note("Ring twice", about="harbour", by="Ann")
        second = await engine.memory.note("It is 3 km", "fact")
        found = await engine.memory.memories()
        assert [(each.id, each.by) for each in found] == [(second, ""), (first, "Ann")]
        await engine.memory.forget(first)
        with pytest.raises(UnknownMemory):
            await engine.memory.forget(first)
        assert [each.id for each in await engine.memory.search("ring 3 km")] == [second]


async def test_a_tool_of_ones_own_reaches_the_memory(place):
    @tool(name="own.look", repeat="safe")
    async def look(context: Context) -> list[str]:
        """What was learned."""
        return [each.text for each in await context.memory.search("ring")]

    async with Engine.open(place, tools=[look]) as engine:
        await engine.memory.note("Ring twice")
        assert (await done(engine, plan(step("a", "own.look"), output="${steps.a.output}"))).output == ["Ring twice"]


async def test_a_rehearsal_looks_things_up_and_notes_nothing(path):
    async with Engine.open(path) as engine:
        await engine.memory.note("Ring twice at the harbour")
        await engine.rehearse(MEMORY, {"place": "the harbour", "learned": "Ring once"})
        assert [each.text for each in await engine.memory.memories()] == ["Ring twice at the harbour"]


async def test_what_earlier_runs_taught_counts_as_from_outside():
    """S-rules: a person who approves a call is told that a value of it came from the memory."""
    assert (search.declared.outside, note.declared.outside) == ("earlier runs", "")


async def test_another_process_searches_while_the_engine_is_at_work(path):
    async with Engine.open(path) as engine:
        assert (await done(engine, FAILING)).status == "failed"
        await engine.memory.search("anything")  # which brings the words in at once
        reader = await SqliteJournal.open(path, read_only=True)
        assert [each.step for each in await reader.search("letters")] == ["call"]


async def test_a_damaged_memory_does_not_keep_an_engine_from_opening(path):
    async with Engine.open(path) as engine:
        assert (await done(engine, noting())).ok
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM lessons_by_word_data")
    db.close()
    async with Engine.open(path, resume=True) as engine:
        result = await done(engine, searching("ring"))
        assert result.ok
        assert result.output["trouble"].startswith("PRD2205")
        assert len(await engine.memory.memories(["lesson"])) == 1

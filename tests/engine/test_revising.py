"""E12, X2: the plan of a run is edited while it is carried out, across processes and crashes."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.core.refusing import NotRevised, OtherRevision, Over
from perdure.engine import View
from perdure.engine.reaching import Elsewhere
from perdure.plan.edits import Insert, Remove
from perdure.testing.replays import assert_replays

pytestmark = pytest.mark.anyio


def do(name, **fields):
    return {"id": name, "tool": "deed.do", "with": {"name": name}, **fields}


class Gate:
    """A tool whose steps wait until they are let go, and what was done with it."""

    def __init__(self):
        self.begun, self.open = [], set()

    @property
    def tool(self):
        @tool(name="deed.do", repeat="safe")
        async def deed(name: str) -> str:
            """Wait to be let go."""
            self.begun.append(name)
            while name not in self.open and "*" not in self.open:  # noqa: ASYNC110  there is nothing else to wait on
                await asyncio.sleep(0.001)
            return name

        return deed

    async def until(self, *names):
        while not set(names) <= set(self.begun):  # noqa: ASYNC110  as above
            await asyncio.sleep(0.001)


async def test_a_person_edits_the_plan_in_the_middle_of_a_parallel_group():
    gate = Gate()
    plan = Plan.model_validate(
        {"steps": [{"id": "g", "mode": "graph", "steps": [do("a"), do("b"), do("c", needs=["b"])]}, do("z")]}
    )
    async with Engine.open(tools=[gate.tool]) as engine:
        run = await engine.start(plan)
        await gate.until("a", "b")
        gate.open.add("a")
        async for entry in run.watch():
            if entry.type == "attempt_ended":
                break
        edits = [{"insert": do("n", needs=["a"]), "into": "g"}, {"remove": "c"}, Insert(insert=do("y"), before="z")]
        assert await run.revise(edits, by="ann", why="b will do", base=0) == 1
        await gate.until("n")
        assert "z" not in gate.begun
        gate.open.add("*")
        result = await run.result()
        state = await assert_replays(engine.journal, run.id)
    assert (result.status, gate.begun) == ("succeeded", ["b", "a", "n", "y", "z"])
    assert state.revision == 1


async def test_what_cannot_be_is_refused_and_nothing_changes():
    gate = Gate()
    async with Engine.open(tools=[gate.tool]) as engine:
        run = await engine.start(Plan.model_validate({"steps": [do("a"), do("b")]}))
        await gate.until("a")
        with pytest.raises(NotRevised, match="cancel it first"):
            await run.revise([Remove(remove="a")])
        with pytest.raises(NotRevised, match="PRD1401"):
            await run.revise([{"insert": {"id": "n", "tool": "no.such"}, "into": ""}])
        with pytest.raises(NotRevised, match="PRD1505"):
            await run.revise([{"what": 1}])
        with pytest.raises(OtherRevision):
            await run.revise([{"remove": "b"}], base=4)
        gate.open.add("*")
        assert (await run.result()).ok
    assert gate.begun == ["a", "b"]


async def test_a_revised_run_goes_on_in_another_engine(tmp_path):
    gate, path = Gate(), tmp_path / "runs.db"
    async with Engine.open(path, tools=[gate.tool], patience=0) as engine:
        run = await engine.start(Plan.model_validate({"steps": [do("a"), do("b"), do("c")]}))
        await gate.until("a")
        await run.revise([{"remove": "b"}, {"insert": do("n"), "after": "a"}], by="ann")
        await run.revise([{"amend": "c", "fields": {"title": "the last"}}])
    gate.open.add("*")
    async with Engine.open(path, tools=[gate.tool], resume=True) as engine:
        assert (await engine.run(run.id).result()).ok
        view = await View.of(engine.journal, run.id)
    assert gate.begun == ["a", "a", "n", "c"]
    assert [step.id for step in view.plan.steps] == ["a", "n", "c"]
    assert view.plan.steps[2].title == "the last"


async def test_an_exported_run_tells_its_revisions(tmp_path):
    gate = Gate()
    gate.open.add("*")
    async with Engine.open(tools=[gate.tool]) as engine:
        run = await engine.start(Plan.model_validate({"steps": [{"id": "q", "ask": "Go on?"}, do("a")]}))
        await run.revise([{"insert": do("n"), "after": "q"}])
        lines = [line async for line in engine.journal.export(run.id)]
    async with Engine.open(tmp_path / "other.db", tools=[gate.tool]) as engine:
        taken = await engine.journal.take_in(lines)
        await engine.resume(taken.id)
        await engine.answer(taken.id, "q_q_1", True)
        assert (await engine.run(taken.id).result()).ok
    assert gate.begun == ["n", "a"]


async def test_two_at_once_and_one_of_them_is_told():
    gate = Gate()
    async with Engine.open(tools=[gate.tool]) as engine:
        run = await engine.start(Plan.model_validate({"steps": [do("a"), do("b")]}))
        await gate.until("a")
        both = (run.revise([{"insert": do(name), "into": ""}], base=0) for name in ("n", "m"))
        first, second = await asyncio.gather(*both, return_exceptions=True)
        assert first == 1
        assert isinstance(second, OtherRevision)
        gate.open.add("*")
        await run.result()
    assert gate.begun == ["a", "b", "n"]


async def test_a_run_without_a_workspace_gets_none_by_a_revision(tmp_path):
    (tmp_path / "w").mkdir()
    async with Engine.open(tmp_path / "runs.db", workspace=tmp_path / "w") as engine:
        run = await engine.start(Plan.model_validate({"steps": [{"id": "q", "ask": "Go on?"}]}))
        with pytest.raises(Elsewhere, match="no directory"):
            await run.revise(
                [{"insert": {"id": "n", "tool": "files.write", "with": {"path": "a", "text": "b"}}, "into": ""}]
            )


async def test_a_named_plan_that_a_revision_brings_is_kept_with_the_run():
    named = Plan.model_validate({"steps": [{"id": "in", "tool": "flow.echo", "with": {"value": 4}}]})
    async with Engine.open(plans={"named": named}) as engine:
        run = await engine.start(Plan.model_validate({"steps": [{"id": "q", "ask": "Go on?"}]}))
        await run.revise([{"insert": {"id": "n", "plan": "named"}, "into": ""}])
        await run.answer("q_q_1", True)
        assert (await run.result()).output == 4
        await assert_replays(engine.journal, run.id)


# ------------------------------------------------------------------------------- a run that failed


@tool(name="deed.odd", repeat="safe")
def odd() -> None:
    """Never works."""
    raise ValueError("odd")


FAILING = Plan.model_validate(
    {"steps": [do("a"), {"id": "b", "tool": "deed.odd"}, do("c")], "output": "${steps.c.output}"}
)
BETTER = {"replace": "b", "step": do("b")}


async def test_a_run_that_failed_is_mended_in_another_process_and_goes_on(tmp_path):
    gate = Gate()
    gate.open.add("*")
    async with Engine.open(tmp_path / "runs.db", tools=[gate.tool, odd]) as engine:
        run = (await engine.start(FAILING)).id
        assert (await engine.run(run).result()).cause == "b"
    async with Engine.open(tmp_path / "runs.db", tools=[gate.tool, odd]) as engine:
        edits = [{"insert": do("before"), "before": "b"}, BETTER]
        await engine.run(run).retry(edits=edits, by="ann", why="odd", base=0)
        result = await engine.run(run).result()
        assert (result.output, gate.begun) == ("c", ["a", "before", "b", "c"])
        await assert_replays(engine.journal, run)
        found = await engine.redecide(run)
        assert found.difference is None
        view = await View.of(engine.journal, run)
        assert [(each.by, each.why) for each in view.state.revised] == [("ann", "odd")]


async def test_edits_that_are_refused_leave_the_run_over_and_one_of_two_is_taken():
    gate = Gate()
    gate.open.add("*")
    async with Engine.open(tools=[gate.tool, odd]) as engine:
        run = await engine.start(FAILING)
        await run.result()
        facts = (await engine.journal.run(run.id)).head_seq
        for edit, code in (
            ({"replace": "b", "step": {"id": "b", "tool": "deed.unheard"}}, "PRD1401"),
            ({"remove": "a"}, "PRD1508"),
        ):
            with pytest.raises(NotRevised) as refusal:
                await run.retry(edits=[edit])
            assert [each.code for each in refusal.value.problems] == [code]
        with pytest.raises(OtherRevision):
            await run.retry(edits=[BETTER], base=1)
        with pytest.raises(Over):
            await run.revise([BETTER])
        assert (await engine.journal.run(run.id)).head_seq == facts
        told = await asyncio.gather(*(run.retry(edits=[BETTER], base=0) for _ in range(3)), return_exceptions=True)
        assert sorted(type(each).__name__ for each in told) == ["NoneType", "Refused", "Refused"]
        assert (await run.result()).ok
        assert gate.begun == ["a", "b", "c"]

"""E13 E19 A3 X2: the gate of planning, and plans that change by rule in a real engine, across crashes and in every replay."""

import asyncio

import pytest

from perdure import Adjustment, Engine, PerdureError, Plan, tool
from perdure.engine import View
from perdure.engine.redeciding import NotKnown
from perdure.testing.replays import assert_replays

pytestmark = pytest.mark.anyio
DONE = []


@tool(name="deed.search", repeat="safe")
def search(topic: str) -> dict:
    """Find something, and what else to look for."""
    DONE.append(topic)
    further = [{"tool": "deed.search", "with": {"topic": f"{topic} {n}"}} for n in range(2)]
    return {"found": topic, "next_steps": further if " " not in topic else []}


@tool(name="deed.broken", repeat="safe")
def broken() -> None:
    """Never works."""
    raise LookupError("it is not there")


GROWS = {
    "steps": [
        {"id": "search", "tool": "deed.search", "with": {"topic": "tides"}, "grows": {"into": "more"}},
        {"id": "more", "parallel": []},
        {"id": "tell", "tool": "flow.echo", "with": {"value": "${steps.more.output}"}},
    ]
}
FAILS = {"steps": [{"id": "a", "tool": "deed.broken"}, {"id": "b", "tool": "flow.echo", "with": {"value": 1}}]}


def another_way(occasion):
    if occasion.replans:
        return Adjustment([{"insert": {"id": "c", "tool": "flow.echo", "with": {"value": 2}}, "after": "a"}], "no a")
    return None


def opened(path=":memory:", **settings):
    return Engine.open(path, tools=[search, broken], **settings)


async def ended(engine, raw):
    run = await engine.start(Plan.model_validate(raw))
    return run, await run.result()


async def test_e19_an_embedded_engine_plans_nothing_unless_it_is_told_to():
    async with opened() as engine:
        run, result = await ended(engine, GROWS)
        assert (result.output, [*result.steps]) == ({}, ["search", "more", "tell"])
        assert (await View.of(engine.journal, run.id)).state.revision == 0
    async with opened(agent_planning=True) as engine:
        run, result = await ended(engine, GROWS)
        assert [*result.output] == ["search_1", "search_2"]
        await assert_replays(engine.journal, run.id)


async def test_e19_an_adjuster_that_nobody_would_ask_is_refused():
    with pytest.raises(PerdureError) as error:
        async with opened(adjust=another_way):
            pass
    assert error.value.code == "PRD3020"


async def test_x8_what_failed_is_marked_and_another_way_is_found():
    async with opened(agent_planning=True, adjust=another_way) as engine:
        run, result = await ended(engine, FAILS)
        assert (result.status, result.output) == ("succeeded", 1)
        assert result.missing == ("a",)
        assert result.steps["c"].output == 2
        await assert_replays(engine.journal, run.id)
        assert (await engine.redecide(run.id)).difference is None


async def test_who_decides_again_needs_the_adjuster(tmp_path):
    async with opened(tmp_path / "runs.db", agent_planning=True, adjust=another_way) as engine:
        run, _ = await ended(engine, FAILS)
    async with opened(tmp_path / "runs.db") as engine:
        with pytest.raises(NotKnown, match="the adjuster"):
            await engine.redecide(run.id)


async def test_a_run_goes_on_with_the_plan_it_has_made_of_itself(tmp_path):
    """The new steps are in the journal: whoever carries the run on needs neither the rules nor the gate for them."""
    waits = {**GROWS, "steps": [GROWS["steps"][0], {"id": "hold", "ask": "Go on?"}, *GROWS["steps"][1:]]}
    DONE.clear()
    async with opened(tmp_path / "runs.db", agent_planning=True) as engine:
        run = await engine.start(Plan.model_validate(waits))
        while not (await View.of(engine.journal, run.id)).state.questions:  # noqa: ASYNC110  nothing else to wait on
            await asyncio.sleep(0.001)
    async with opened(tmp_path / "runs.db") as engine:
        await engine.answer(run.id, "q_hold_1", True)
        result = await engine.run(run.id).result()
    assert [*result.output] == ["search_1", "search_2"]
    assert sorted(DONE) == ["tides", "tides 0", "tides 1"], "nothing was searched for twice"


@pytest.mark.parametrize(
    "edit",
    [
        {"insert": {"id": "x", "ask": "x?"}, "after": "q"},
        {"remove": "b"},
        {"replace": "b", "step": {"id": "c", "checkpoint": True}},
    ],
)
async def test_a_run_whose_rules_were_taken_can_be_resumed_forked_and_tried_again(tmp_path, edit):
    raw = {
        "adjust": {
            "rules": [
                {"after": ["a"], "edits": [edit]},
                {"after": ["b"], "edits": [{"amend": "", "fields": {"name": "n"}}]},
            ]
        },
        "steps": [
            {"id": "a", "tool": "flow.echo", "with": {"value": 1}},
            {"id": "q", "ask": "Go on?"},
            {"id": "b", "checkpoint": True},
            {"id": "z", "tool": "deed.broken"},
        ],
    }
    async with opened(tmp_path / "runs.db", agent_planning=True) as engine:
        run = await engine.start(Plan.model_validate(raw))
        while not (await View.of(engine.journal, run.id)).state.questions:  # noqa: ASYNC110  nothing else to wait on
            await asyncio.sleep(0.001)
    async with opened(tmp_path / "runs.db", agent_planning=True, resume=True) as engine:
        assert engine.left == {}
        await engine.answer(run.id, "q_q_1", True)
        while (result := await engine.run(run.id).rested()).status != "failed":
            await engine.answer(run.id, "q_x_1", True)
        assert result.failure.kind == "unknown", "z broke, and nothing else"
        await engine.retry(run.id)
        await engine.run(run.id).result()
        fork = await engine.fork(run.id, step="z")
        assert (await fork.result()).status == "failed"


@tool(name="deed.review", repeat="safe")
def review(text: str) -> dict:
    """Judge a text, and say what would mend it."""
    mend = {"tool": "text.replace", "with": {"text": text, "old": "teh", "new": "the"}}
    return {"good": "teh" not in text, "next_steps": [{"id": "mended", **mend}] if "teh" in text else []}


CRITIC = {
    "steps": [
        {"id": "draft", "tool": "flow.echo", "with": {"value": "${inputs.text}"}},
        {
            "id": "review",
            "tool": "deed.review",
            "with": {"text": "${steps.draft.output}"},
            "grows": {"into": "fixes", "most": 1, "tools": ["text.*"]},
        },
        {"id": "fixes", "parallel": []},
        {
            "id": "which",
            "decide": "steps.review.output.good ? 'as_it_is' : 'as_mended'",
            "choices": ["as_it_is", "as_mended"],
        },
        {"id": "as_mended", "tool": "flow.echo", "with": {"value": "${steps.fixes.output}"}, "on": {"success": "done"}},
        {"id": "as_it_is", "tool": "flow.echo", "with": {"value": "${steps.draft.output}"}},
    ],
    "inputs": {"text": {"type": "string"}},
}


@pytest.mark.parametrize(("text", "output"), [("the tide", "the tide"), ("teh tide", {"mended": "the tide"})])
async def test_e13_a_critic_judges_proposes_fixes_and_leads_elsewhere(text, output):
    async with Engine.open(tools=[review], agent_planning=True) as engine:
        run = await engine.start(Plan.model_validate(CRITIC), inputs={"text": text})
        assert (await run.result()).output == output
        await assert_replays(engine.journal, run.id)


async def test_limits_are_not_reset_by_a_fork(tmp_path):
    again = {"edits": [{"amend": "b", "fields": {"title": "changed"}}], "times": 2}
    raw = {
        "adjust": {"rules": [again], "most": 1},
        "steps": [{"id": name, "tool": "flow.echo", "with": {"value": name}} for name in ("a", "q", "b")],
    }
    async with opened(agent_planning=True) as engine:
        run, _ = await ended(engine, raw)
        fork = await engine.fork(run.id, step="q")
        await fork.result()
        assert (await View.of(engine.journal, fork.id)).state.revision == 1


async def test_a_plan_that_may_grow_works_on_the_directory_of_its_engine(tmp_path):
    """What it will call is not known before, so the directory is named from the start."""
    (tmp_path / "work").mkdir()
    async with opened(workspace=tmp_path / "work", agent_planning=True) as engine:
        run, _ = await ended(engine, GROWS)
        assert (await View.of(engine.journal, run.id)).state.started.workspace
    async with opened(workspace=tmp_path / "work") as engine:
        run, _ = await ended(engine, GROWS)
        assert not (await View.of(engine.journal, run.id)).state.started.workspace


ASKS = {
    "steps": [
        {"id": "way", "ask": "Which way?", "answer": "choice", "choices": ["long", "short"]},
        {"id": "go", "tool": "flow.echo", "with": {"value": "on the way"}},
        {"id": "rest", "tool": "flow.echo", "with": {"value": "there"}},
    ]
}


def a_view_by_the_way(seen):
    """Looks at what the run has come to, and not only at the step that has just ended."""

    def adjust(occasion):
        seen.append(occasion.step)
        if occasion.revision or occasion.result("way").exit != "long":
            return None
        view = {"id": "view", "tool": "flow.echo", "with": {"value": "nice"}}
        return Adjustment([{"insert": view, "before": "rest"}], "there is time")

    return adjust


@pytest.mark.parametrize("is_there", [True, False])
async def test_an_adjuster_that_was_not_there_when_somebody_answered_finds_it_at_the_next_end(tmp_path, is_there):
    path, seen = tmp_path / "runs.db", []
    async with opened(path, agent_planning=True, adjust=a_view_by_the_way(seen)) as engine:
        run = await engine.start(Plan.model_validate(ASKS))
        while not (await View.of(engine.journal, run.id)).state.questions:  # noqa: ASYNC110  nothing else to wait on
            await asyncio.sleep(0.001)
        if is_there:
            await engine.answer(run.id, "q_way_1", "long")
    if not is_there:
        async with opened(path, agent_planning=True, idle=True) as engine:
            await engine.answer(run.id, "q_way_1", "long")
    async with opened(path, agent_planning=True, adjust=a_view_by_the_way(seen), resume=True) as engine:
        result = await engine.run(run.id).result()
    assert [*result.steps] == ["way", "go", "view", "rest"]
    assert ("way" in seen) == is_there

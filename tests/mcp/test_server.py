"""The MCP server, spoken to by the official client: tools, resources, and who may answer."""

import json
import logging
from contextlib import asynccontextmanager

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from perdure import Engine, tool
from perdure.agents.planners import Made
from perdure.mcp import ByEngine, Caller, server_of
from perdure.plan import Plan
from perdure.world import Alone

ERAS = ("auto", "legacy")
"""How a client begins to speak: as of 2026, or with the handshake of before."""
ASKS = {
    "steps": [
        {"id": "say", "tool": "flow.echo", "with": {"value": "hello"}},
        {"id": "sure", "ask": "Ship it?"},
        {"id": "ship", "tool": "flow.echo", "with": {"value": "shipped"}},
    ],
    "output": "${steps.ship.output}",
}
LOOKING = {"check", "rehearse", "tools", "runs", "show", "follow", "questions"}
ENDING = {"cancel", "rollback"}


@asynccontextmanager
async def spoken_to(mode="auto", *, scopes=("read", "run"), world=None, answer=None, tools=()):
    """A client, and the engine behind the server that it speaks with."""
    callers = lambda _: Caller("ann", frozenset(scopes))  # noqa: E731  it is one
    async with Engine.open(tools=tools) as engine:
        server = server_of(ByEngine(engine), world or Alone(), callers)
        async with Client(server, mode=mode, elicitation_callback=answer) as client:
            yield client, engine


async def told(client, tool, **arguments):
    """What a tool says, as data; it must not refuse."""
    found = await client.call_tool(f"perdure_{tool}", arguments)
    assert not found.is_error, found.content[0].text
    return found.structured_content


async def refused(client, tool, **arguments):
    """What a tool says when it refuses."""
    found = await client.call_tool(f"perdure_{tool}", arguments)
    assert found.is_error
    return found.content[0].text


async def read(client, address):
    return json.loads((await client.read_resource(address)).contents[0].text)


# ------------------------------------------------------------------------------- what is offered


@pytest.mark.parametrize("mode", ERAS)
async def test_e8_each_tool_says_what_it_is_and_whether_it_changes_anything(mode):
    async with spoken_to(mode) as (client, _):
        tools = {each.name.removeprefix("perdure_"): each for each in (await client.list_tools()).tools}
    assert {name for name, each in tools.items() if each.annotations.read_only_hint} == LOOKING
    changing = {name for name, each in tools.items() if each.annotations.destructive_hint}
    assert {"run", "answer", *ENDING} <= changing
    assert not changing & LOOKING
    assert all(each.description and each.title for each in tools.values())
    assert all("properties" in each.input_schema for each in tools.values())


async def test_what_is_logged_and_how_is_not_changed_by_a_server(monkeypatch):
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", logging.ERROR)
    async with spoken_to() as (client, _):
        await client.list_tools()
        assert (root.handlers, root.level) == ([], logging.ERROR)


# ------------------------------------------------------------------------------- plans


async def test_a_plan_is_checked_with_all_that_is_wrong_and_its_place():
    async with spoken_to(world=Knowing()) as (client, _):
        found = await told(client, "check", plan="steps:\n- {id: a, tool: flow.ech}\n- {id: b, tool: nobody.knows}\n")
    assert not found["ok"]
    assert [(each["code"], each["line"]) for each in found["problems"]][:2] == [("PRD1401", 2), ("PRD1401", 3)]


async def test_a_plan_that_is_right_is_said_to_be_also_without_its_inputs():
    plan = {**ASKS, "inputs": {"name": {"type": "string"}}}
    async with spoken_to() as (client, _):
        found = await told(client, "check", plan=plan)
    assert found["ok"], found["problems"]


async def test_a_rehearsal_does_nothing():
    done = []

    @tool(name="shop.pay", effects=["irreversible"])
    def pay(amount: int) -> int:
        """Pay."""
        done.append(amount)
        return amount

    plan = {"steps": [{"id": "pay", "tool": "shop.pay", "with": {"amount": 3}}]}
    async with spoken_to(tools=[pay]) as (client, _):
        found = await told(client, "rehearse", plan=plan)
        assert found["deeds"]
        assert not (await told(client, "runs"))["runs"]
    assert not done


class Tailor(Alone):
    """Makes one plan for whatever is wanted, and leaves out what it was not told."""

    async def made(self, engine, goal):
        left = () if "ship" in goal.text else ("what is wanted",)
        return Made(Plan.model_validate(ASKS), "template", (f"for {goal.text}",), left=left)


async def test_a_goal_becomes_a_plan_and_a_plan_a_run():
    async with spoken_to(world=Tailor()) as (client, _):
        made = await told(client, "plan", goal="ship it")
        assert (made["planner"], made["why"]) == ("template", ["for ship it"])
        begun = await told(client, "run", goal="ship it")
        assert (await told(client, "follow", run=begun["id"]))["status"] == "waiting"


async def test_a_plan_that_leaves_something_out_is_not_carried_out():
    async with spoken_to(world=Tailor()) as (client, _):
        assert "PRD4206" in await refused(client, "run", goal="something else")
        assert not (await told(client, "runs"))["runs"]


async def test_nobody_makes_plans_where_there_is_an_engine_alone():
    async with spoken_to() as (client, _):
        assert "PRD4205" in await refused(client, "plan", goal="ship it")


@pytest.mark.parametrize("given", [{}, {"plan": ASKS, "goal": "ship"}])
async def test_what_is_to_be_carried_out_is_said_once(given):
    async with spoken_to() as (client, _):
        assert "PRD6054" in await refused(client, "run", **given)


async def test_a_plan_that_cannot_be_used_is_refused_with_every_problem_and_what_to_write():
    plan = {"steps": [{"id": "a", "tool": "flow.ech"}, {"id": "b", "tool": "flow.ech", "on": {"success": "c"}}]}
    async with spoken_to(world=Knowing()) as (client, _):
        text = await refused(client, "run", plan=plan)
    assert "PRD1000" in text
    assert text.count("flow.echo") == 2
    assert "PRD1" in text.splitlines()[1]


class Knowing(Alone):
    """Knows the tools that come with it."""

    def tools(self):
        from perdure.tools import BUILTIN

        return BUILTIN


async def test_tools_are_listed_with_what_they_take():
    async with spoken_to(world=Knowing()) as (client, _):
        found = {each["name"]: each for each in (await told(client, "tools"))["tools"]}
    assert found["flow.echo"]["inputs"]["properties"]


# ------------------------------------------------------------------------------- runs


@pytest.mark.parametrize("mode", ERAS)
async def test_e8_long_work_returns_at_once_and_is_followed_to_its_end(mode):
    plan = {
        "steps": [{"id": "nap", "wait": "200ms"}, {"id": "say", "tool": "flow.echo", "with": {"value": 7}}],
        "output": "${steps.say.output}",
    }
    async with spoken_to(mode) as (client, _):
        run = (await told(client, "run", plan=plan))["id"]
        seen, after, rests = [], 0, False
        while not rests:
            news = await told(client, "follow", run=run, after=after, seconds=5)
            after, rests = news["next"], news["rests"] and news["status"] != "waiting"
            seen += [each["seq"] for each in news["news"]]
        assert (news["status"], news["output"]) == ("succeeded", 7)
        assert seen == list(range(1, after + 1))
        assert (await told(client, "show", run=run))["steps"]["say"]["output"] == 7


async def test_whoever_does_not_want_to_wait_is_told_how_it_stands():
    async with spoken_to() as (client, _):
        run = (await told(client, "run", plan={"steps": [{"id": "nap", "wait": "60s"}]}))["id"]
        news = await told(client, "follow", run=run, seconds=0)
        assert news["id"] == run


async def test_long_values_are_shortened_and_whole_as_a_resource():
    plan = {"steps": [{"id": "say", "tool": "flow.echo", "with": {"value": "x" * 50_000}}]}
    async with spoken_to() as (client, _):
        run = (await told(client, "run", plan=plan))["id"]
        await told(client, "follow", run=run)
        shown = await told(client, "show", run=run)
        assert len(json.dumps(shown)) < 10_000
        assert "left out" in shown["steps"]["say"]["output"]
        assert len((await read(client, f"perdure://runs/{run}"))["steps"]["say"]["output"]) == 50_000


async def test_runs_are_listed_page_by_page():
    async with spoken_to() as (client, _):
        for session in ("a", "b", "a"):
            await told(client, "run", plan=ASKS, session=session)
        first = await told(client, "runs", limit=2)
        second = await told(client, "runs", limit=2, before=first["next"])
        assert [len(first["runs"]), len(second["runs"]), second["next"]] == [2, 1, None]
        assert len((await told(client, "runs", session="a"))["runs"]) == 2
        assert not (await told(client, "runs", status=["failed"]))["runs"]


async def test_a_run_is_paused_resumed_cancelled_retried_and_forked():
    async with spoken_to() as (client, _):
        run = (await told(client, "run", plan=ASKS))["id"]
        assert (await told(client, "pause", run=run, reason="lunch"))["status"] == "paused"
        assert (await told(client, "resume", run=run))["status"] == "waiting"
        assert (await told(client, "cancel", run=run))["status"] == "cancelled"
        assert (await told(client, "retry", run=run))["status"] in {"running", "waiting"}
        other = (await told(client, "fork", run=run, step="sure"))["id"]
        assert other != run
        assert (await told(client, "show", run=other))["fork"]["of"] == run


async def test_e16_who_did_it_stands_in_the_journal():
    async with spoken_to() as (client, engine):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "pause", run=run)
        paused = [each for each in await engine.journal.read(run) if each.type == "run_paused"]
        assert json.loads(paused[0].body)["by"] == "ann"


async def test_a_plan_is_revised_and_a_late_revision_is_refused():
    step = {"id": "more", "tool": "flow.echo", "with": {"value": "more"}}
    async with spoken_to() as (client, _):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        done = await told(client, "revise", run=run, edits=[{"insert": step, "after": "ship"}], why="more", base=0)
        assert done["revision"] == 1
        assert "more" in [each["id"] for each in (await read(client, f"perdure://runs/{run}/plan"))["steps"]]
        text = await refused(client, "revise", run=run, edits=[{"remove": "more"}], base=0)
        assert "PRD3" in text or "PRD1" in text
        assert "write {insert" in await refused(client, "revise", run=run, edits=[{"add": step}])


async def test_what_was_done_is_taken_back():
    undone = []

    @tool(name="shop.book", undo=lambda: undone.append("4a"))
    def book(seat: str) -> str:
        """Take a seat."""
        return seat

    plan = {"steps": [{"id": "seat", "tool": "shop.book", "with": {"seat": "4a"}}]}
    async with spoken_to(tools=[book]) as (client, _):
        run = (await told(client, "run", plan=plan))["id"]
        await told(client, "follow", run=run)
        await told(client, "rollback", run=run, reason="wrong seat")
        assert (await told(client, "follow", run=run))["status"] == "rolled_back"
    assert undone == ["4a"]


async def test_a_signal_reaches_the_step_that_waits_for_it():
    plan = {"steps": [{"id": "post", "wait": {"signal": "letter"}}], "output": "${steps.post.output}"}
    async with spoken_to() as (client, _):
        run = (await told(client, "run", plan=plan))["id"]
        await told(client, "signal", run=run, name="letter", value={"from": "Bob"})
        news = await told(client, "follow", run=run)
        assert (news["status"], news["output"]) == ("succeeded", {"from": "Bob"})


async def test_a_run_that_is_not_there_is_said_not_to_be():
    async with spoken_to() as (client, _):
        for name, more in (("show", {}), ("follow", {}), ("cancel", {}), ("answer", {"question": "q", "value": 1})):
            assert "PRD2" in await refused(client, name, run="r_nobody", **more), name
        with pytest.raises(MCPError) as caught:
            await client.read_resource("perdure://runs/r_nobody")
        assert "PRD2" in str(caught.value)


# ------------------------------------------------------------------------------- questions


@pytest.mark.parametrize("mode", ERAS)
async def test_e16_an_answer_of_a_model_is_put_before_a_person_with_what_follows(mode):
    shown = []

    async def person(context, asked):
        shown.append(asked.message)
        return ElicitResult(action="accept", content={"confirm": True})

    async with spoken_to(mode, answer=person) as (client, engine):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        question = (await told(client, "questions", run=run))["questions"][0]["id"]
        assert (await told(client, "answer", run=run, question=question, value="approved"))["news"]
        assert (await told(client, "follow", run=run))["output"] == "shipped"
        assert "Ship it?" in shown[0]
        assert "approved" in shown[0]
        assert "ship" in shown[0].split("What follows:")[1]
        answered = [each for each in await engine.journal.read(run) if each.type == "question_answered"]
        assert json.loads(answered[0].body)["by"] == "ann"


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    "said",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept", content={"confirm": False}),
    ],
)
async def test_what_a_person_does_not_confirm_is_not_answered(mode, said):
    async def person(context, asked):
        return said

    async with spoken_to(mode, answer=person) as (client, _):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        question = (await told(client, "questions", run=run))["questions"][0]["id"]
        assert "PRD6051" in await refused(client, "answer", run=run, question=question, value="approved")
        assert (await told(client, "show", run=run))["status"] == "waiting"


@pytest.mark.parametrize("mode", ERAS)
async def test_where_no_person_can_be_asked_a_model_answers_nothing(mode):
    async with spoken_to(mode) as (client, _):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        question = (await told(client, "questions", run=run))["questions"][0]["id"]
        text = await refused(client, "answer", run=run, question=question, value="approved")
        assert "PRD6051" in text
        assert f"perdure answer {run}" in text
        assert (await told(client, "show", run=run))["status"] == "waiting"


async def test_whose_key_may_approve_is_not_asked_again():
    async with spoken_to(scopes=("read", "run", "approve")) as (client, _):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        question = (await told(client, "questions", run=run))["questions"][0]["id"]
        assert (await told(client, "answer", run=run, question=question, value="approved"))["news"]
        assert "PRD6052" in await refused(client, "answer", run=run, question=question, value="rejected")


async def test_an_answer_to_nothing_tells_what_is_asked():
    async with spoken_to(scopes=("read", "run", "approve")) as (client, _):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        question = (await told(client, "questions", run=run))["questions"][0]["id"]
        text = await refused(client, "answer", run=run, question="q_nobody", value="approved")
        assert "PRD6052" in text
        assert question in text


async def test_who_may_only_look_changes_nothing():
    async with spoken_to(scopes=("read",)) as (client, engine):
        run = await engine.start(Plan.model_validate(ASKS))
        assert (await told(client, "show", run=run.id))["id"] == run.id
        for name, more in (
            ("run", {"plan": ASKS}), ("pause", {"run": run.id}), ("resume", {"run": run.id}), ("cancel", {"run": run.id}),
            ("rollback", {"run": run.id}), ("retry", {"run": run.id}), ("fork", {"run": run.id}),
            ("revise", {"run": run.id, "edits": [{"remove": "say"}]}), ("signal", {"run": run.id, "name": "x"}),
            ("answer", {"run": run.id, "question": "q", "value": 1}),
        ):  # fmt: skip
            assert "PRD6050" in await refused(client, name, **more), name


# ------------------------------------------------------------------------------- resources


@pytest.mark.parametrize("mode", ERAS)
async def test_resources_have_runs_facts_and_plans_whole(mode):
    async with spoken_to(mode) as (client, engine):
        run = (await told(client, "run", plan=ASKS))["id"]
        await told(client, "follow", run=run)
        assert [each["id"] for each in (await read(client, "perdure://runs"))["runs"]] == [run]
        facts = (await read(client, f"perdure://runs/{run}/facts"))["facts"]
        assert [each["seq"] for each in facts] == [each.seq for each in await engine.journal.read(run)]
        assert (await read(client, f"perdure://runs/{run}/facts/2"))["facts"] == facts[2:]
        found = await read(client, f"perdure://runs/{run}")
        assert (await read(client, f"perdure://plans/{found['plan']}"))["steps"][1]["id"] == "sure"


@pytest.mark.parametrize(
    "address", ["perdure://plans/sha256:00", "perdure://plans/../x", "perdure://runs/r_x/facts/many"]
)
async def test_what_is_not_there_cannot_be_read(address):
    async with spoken_to() as (client, _):
        with pytest.raises(MCPError):
            await client.read_resource(address)


async def test_a_value_that_is_no_plan_is_not_read_as_one():
    plan = {"steps": [{"id": "say", "tool": "flow.echo", "with": {"value": "x" * 50_000}}]}
    async with spoken_to() as (client, engine):
        run = (await told(client, "run", plan=plan))["id"]
        await told(client, "follow", run=run)
        bodies = [json.loads(each.body) for each in await engine.journal.read(run) if each.type == "attempt_ended"]
        digest = bodies[0]["output"]["sha256"]
        assert await engine.journal.artifact(digest)
        with pytest.raises(MCPError) as caught:
            await client.read_resource(f"perdure://plans/{digest}")
        assert "PRD6053" in str(caught.value)

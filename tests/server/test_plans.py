"""Plans over HTTP: nothing of them is carried out. E12, E14, E16."""

import pytest
from served import ASK, SAY, begun, serving

from perdure import Plan
from perdure.agents.planners import Made
from perdure.world import Alone

pytestmark = pytest.mark.anyio


class Planning(Alone):
    """A world where somebody makes plans."""

    async def made(self, engine, goal):
        left = ("the rest",) if "all" in goal.text else ()
        plan = Plan.model_validate({**SAY, "goal": goal.text, "inputs": {"word": {"default": goal.inputs["word"]}}})
        return Made(plan, "template", ("it fits",), left=left)


async def post(client, what, status=200, **said):
    found = await client.post(f"/v1/plans/{what}", json=said)
    assert found.status_code == status, found.text
    return found.json()


async def test_a_plan_is_checked_with_every_problem():
    async with serving() as client:
        [good] = (await post(client, "check", plan=SAY))["plans"]
        assert (good["ok"], good["hash"], good["measures"]["steps"]) == (True, Plan.model_validate(SAY).hash, 1)
        [bad] = (await post(client, "check", text="steps:\n- {id: a, tool: flow.eco}\n- {id: a, tool: 3}\n"))["plans"]
        assert (bad["ok"], bad["hash"]) == (False, None)
        assert {each["line"] for each in bad["problems"]} == {2, 3}


async def test_a_plan_is_checked_against_all_that_is_here():
    plan = {"steps": [{"id": "a", "agent": "nobody", "task": "t"}]}
    async with serving() as client:
        assert (await post(client, "check", plan=plan))["plans"][0]["ok"] is True
        assert (await post(client, "check", plan=plan, feasible=True))["plans"][0]["ok"] is False


@pytest.mark.parametrize(
    ("form", "begins"), [("tree", "Say"), ("mermaid", "flowchart"), ("svg", "<svg"), ("html", "<!d")]
)
async def test_a_plan_is_drawn(form, begins):
    async with serving() as client:
        assert (await post(client, "draw", plan=SAY, form=form))["drawing"].startswith(begins)


@pytest.mark.parametrize("said", [{}, {"plan": SAY, "text": "steps: []"}, {"plan": SAY, "form": "png"}])
async def test_a_drawing_that_makes_no_sense_is_refused(said):
    async with serving() as client:
        assert (await post(client, "draw", 422, **said))["code"] == "PRD6005"


async def test_plans_are_compared():
    async with serving() as client:
        found = await post(client, "diff", before={"plan": SAY}, after={"plan": {**SAY, "goal": "Shout"}})
        assert [each["field"] for each in found["plan"]] == ["goal"]


async def test_e14_a_plan_is_rehearsed_and_nothing_is_written():
    async with serving() as client:
        run = await begun(client)
        found = await post(client, "rehearse", plan=SAY, inputs={"word": "ebb"}, like=run)
        assert (found["status"], found["steps"]) == ("succeeded", [{"step": "say", "exit": "success"}])
        assert len((await client.get("/v1/runs")).json()["runs"]) == 1
        assert (await post(client, "rehearse", 422, plan=SAY))["code"] == "PRD3101"
        assert (await post(client, "rehearse", 404, plan=SAY, inputs={"word": "ebb"}, like="r_none"))[
            "code"
        ] == "PRD2002"


async def test_what_a_plan_will_take_is_estimated_from_earlier_runs():
    async with serving() as client:
        guessed = await post(client, "estimate", plan=SAY, inputs={"word": "ebb"})
        await begun(client)
        known = await post(client, "estimate", plan=SAY, inputs={"word": "ebb"})
        assert (guessed["basis"]["runs"], known["basis"]["runs"]) == (0, 1)
        assert known["seconds"]["p50"] < guessed["seconds"]["p50"]


async def test_e12_a_plan_is_made_for_a_goal_and_a_run_begins_with_one():
    async with serving(world=Planning()) as client:
        made = await post(client, "make", goal="Say it", inputs={"word": "ebb"})
        assert (made["planner"], made["plan"]["goal"]) == ("template", "Say it")
        answer = await client.post("/v1/runs", json={"goal": "Say it", "inputs": {"word": "ebb"}})
        assert (await client.engine.run(answer.json()["id"]).result()).output == "ebb"
        answer = await client.post("/v1/runs", json={"goal": "Say all", "inputs": {"word": "ebb"}})
        assert (answer.status_code, answer.json()["code"]) == (422, "PRD4206")


async def test_where_nobody_makes_plans_a_goal_is_refused():
    async with serving() as client:
        assert (await post(client, "make", 422, goal="Say it"))["code"] == "PRD4205"


async def test_the_plan_that_a_run_was_started_with_is_shown_by_its_hash():
    async with serving({}) as client:
        run = await begun(client, ASK)
        digest = (await client.get(f"/v1/runs/{run}")).json()["plan"]
        found = await client.get(f"/v1/plans/{digest}")
        assert found.json()["plan"] == Plan.model_validate(ASK).canonical()
        for other in ("sha256:" + "0" * 64, "x"):
            assert (await client.get(f"/v1/plans/{other}")).status_code == 404


async def test_a_value_that_is_no_plan_is_not_shown_as_one():
    async with serving({"pack": {"big": "x" * 20_000}}) as client:
        run = await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack"}]})
        digests = [each["digest"] for each in (await client.get(f"/v1/runs/{run}/artifacts")).json()["artifacts"]]
        assert [(await client.get(f"/v1/plans/{each}")).status_code for each in digests] == [200, 404]

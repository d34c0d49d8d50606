"""Questions over HTTP: they are listed, and answered once. E5, E8, E16."""

import asyncio

import pytest
from served import ASK, WAIT, begun, serving

pytestmark = pytest.mark.anyio


async def answer(client, run, question, status=200, headers=None, **said):
    found = await client.post(f"/v1/runs/{run}/questions/{question}", json=said, headers=headers)
    assert found.status_code == status, found.text
    return found.json()


async def listed(client, **params):
    found = await client.get("/v1/questions", params=params)
    assert found.status_code == 200, found.text
    return found.json()


async def test_questions_of_all_runs_are_listed_in_the_order_of_asking():
    async with serving({}) as client:
        runs = [await begun(client, ASK) for _ in range(5)]
        first = await listed(client, limit=3)
        rest = await listed(client, after=first["next"])
        assert [each["run"] for each in (*first["questions"], *rest["questions"])] == runs
        assert rest["next"] is None
        [one] = (await listed(client, run=runs[2]))["questions"]
        assert (one["run"], one["text"], one["answers"]) == (
            runs[2], "Sure?", {"approved": "goes on with pack", "rejected": one["answers"]["rejected"]},
        )  # fmt: skip
        assert (await client.get("/v1/questions", params={"run": "r_none"})).status_code == 404


async def test_a_question_is_answered_once_and_who_comes_later_is_told_by_whom():
    async with serving({}) as client:
        run = await begun(client, ASK)
        [asked] = (await listed(client))["questions"]
        assert (await answer(client, run, asked["id"], value=True, by="ann", reason="looks good"))["done"] is True
        late = await answer(client, run, asked["id"], 409, value=False, by="bob")
        assert (late["code"], "ann" in late["detail"]) == ("PRD3008", True)
        assert (await answer(client, run, asked["id"], value=True, by="ann", reason="looks good"))["done"] is False
        assert (await client.engine.run(run).result()).ok
        assert (await listed(client))["questions"] == []
        [closed] = (await listed(client, closed=True))["questions"]
        assert (closed["status"], closed["value"], closed["by"]) == ("answered", True, "ann")


async def test_an_answer_that_does_not_fit_is_refused():
    async with serving({}) as client:
        run = await begun(client, ASK)
        [asked] = (await listed(client))["questions"]
        assert (await answer(client, run, asked["id"], 422, value="perhaps"))["code"] == "PRD3005"
        assert (await answer(client, run, asked["id"], 422))["code"] == "PRD6005"
        assert (await answer(client, run, "q_none", 404, value=True))["code"] == "PRD3004"
        assert len((await listed(client))["questions"]) == 1


async def test_an_answer_is_for_the_plan_that_was_looked_at():
    async with serving({}) as client:
        run = await begun(client, ASK)
        [asked] = (await listed(client))["questions"]
        await client.engine.revise(run, [{"insert": {"id": "sign", "tool": "x.y"}, "after": "pack"}])
        assert (await answer(client, run, asked["id"], 412, {"If-Match": '"0"'}, value=True))["code"] == "PRD3009"
        await answer(client, run, asked["id"], headers={"If-Match": '"1"'}, value=True)


async def test_only_those_that_somebody_may_answer_are_listed():
    async with serving({}) as client:
        await begun(client, {"steps": [{"id": "a", "ask": "A?", "to": ["ann"]}]})
        await begun(client, WAIT)
        assert [each["people"] for each in (await listed(client, **{"for": "ann"}))["questions"]] == [["ann"]]
        assert (await listed(client, **{"for": "bob"}))["questions"] == []


async def test_of_many_answers_at_the_same_time_one_counts():
    async with serving({}) as client:
        run = await begun(client, ASK)
        [asked] = (await listed(client))["questions"]
        path = f"/v1/runs/{run}/questions/{asked['id']}"
        said = [{"value": bool(n % 2), "by": f"person{n}"} for n in range(12)]
        found = await asyncio.gather(*(client.post(path, json=each) for each in said))
        assert sorted(each.status_code for each in found) == [200] + [409] * 11

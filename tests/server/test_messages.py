"""Messages to runs over HTTP: each is the one that the control socket takes. E8, E12, E16, E17."""

import asyncio

import pytest
from served import ASK, SAY, WAIT, begun, serving

from perdure.core.calls import Failure
from perdure.server import Caller

pytestmark = pytest.mark.anyio
SIGN = {"insert": {"id": "sign", "tool": "shop.sign"}, "after": "pack"}


async def shown(client, run):
    return (await client.get(f"/v1/runs/{run}")).json()


async def send(client, run, verb, status=200, headers=None, **said):
    answer = await client.post(f"/v1/runs/{run}/{verb}", json=said, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_e8_a_run_is_paused_and_goes_on():
    async with serving({}) as client:
        run = await begun(client, WAIT)
        assert (await send(client, run, "pause", reason="lunch", by="ann"))["driven"] is True
        assert (await shown(client, run))["status"] == "paused"
        assert (await send(client, run, "resume"))["done"] == [run]
        assert (await shown(client, run))["status"] == "waiting"
        await send(client, run, "signals", name="go", value={"fast": True})
        assert (await client.engine.run(run).result()).ok


async def test_a_message_needs_no_body_if_it_says_nothing():
    async with serving({}) as client:
        run = await begun(client, WAIT)
        for verb in ("pause", "resume", "cancel", "retry"):
            assert (await client.post(f"/v1/runs/{run}/{verb}")).status_code == 200


async def test_e17_a_run_or_a_step_of_it_is_cancelled():
    async with serving({}) as client:
        run, other = await begun(client, WAIT), await begun(client, ASK)
        await send(client, run, "cancel", reason="enough", by="ann")
        assert (await shown(client, run))["status"] == "cancelled"
        await send(client, other, "cancel", step="sure")
        assert (await client.engine.run(other).result()).steps["sure"].failure.kind == "cancelled"
        assert (await send(client, run, "cancel", 409))["code"] == "PRD3002"
        assert (await send(client, "r_none", "cancel", 404))["code"] == "PRD2002"


async def test_a_run_that_failed_is_tried_again_also_with_another_plan():
    async with serving({"pack": [Failure("logic", "no box"), 1], "sign": 2}) as client:
        run = await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack"}]})
        assert (await shown(client, run))["status"] == "failed"
        assert (await send(client, run, "retry", 412, {"If-Match": '"3"'}, edits=[SIGN]))["code"] == "PRD3009"
        assert (await send(client, run, "retry", edits=[SIGN], by="ann"))["done"] == [run]
        assert (await client.engine.run(run).result()).steps["sign"].output == 2


async def test_what_was_done_is_taken_back():
    async with serving({}) as client:
        run = await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack", "undo": {"tool": "shop.unpack"}}]})
        assert (await send(client, run, "rollback", reason="wrong word"))["done"] == [run]
        assert (await client.engine.run(run).result()).status == "rolled_back"


async def test_e8_a_run_is_forked():
    async with serving() as client:
        run = await begun(client)
        answer = await client.post(f"/v1/runs/{run}/fork", json={"at": 1, "inputs": {"word": "ebb"}, "plan": SAY})
        fork = answer.json()["id"]
        assert (answer.status_code, answer.headers["location"]) == (202, f"/v1/runs/{fork}")
        assert (await client.engine.run(fork).result()).output == "ebb"
        assert (await shown(client, fork))["fork"] == {"of": run, "seq": 1}
        assert (await send(client, run, "fork", 422, at=1, step="say"))["code"] == "PRD3301"


async def test_e12_a_plan_is_revised_if_it_is_still_the_one_that_was_seen():
    async with serving({}) as client:
        run = await begun(client, ASK)
        tag = (await client.get(f"/v1/runs/{run}/plan")).headers["etag"]
        first = await send(client, run, "revise", headers={"If-Match": tag}, edits=[SIGN], why="it must", by="ann")
        assert first["done"] == 1
        late = await send(client, run, "revise", 412, {"If-Match": tag}, edits=[{"remove": "pack"}])
        assert (late["code"], "ann: it must" in late["detail"]) == ("PRD3009", True)
        assert (await send(client, run, "revise", headers={"If-Match": "*"}, edits=[{"remove": "pack"}]))["done"] == 2


@pytest.mark.parametrize("tag", ['W/"0"', "now", '"0", "1"', ""])
async def test_a_tag_that_is_no_revision_matches_nothing(tag):
    async with serving({}) as client:
        run = await begun(client, ASK)
        assert (await send(client, run, "revise", 412, {"If-Match": tag}, edits=[SIGN]))["code"] == "PRD3009"
        assert (await send(client, run, "revise", 412, {"If-Match": "0"}, edits=[SIGN], base=1))["code"] == "PRD3009"


async def test_a_revision_is_refused_with_every_reason():
    async with serving({}) as client:
        run = await begun(client, ASK)
        edits = [{"remove": "nobody"}, {"replace": "pack", "step": {"id": "pack", "tool": 3}}]
        for dry in (False, True):
            refused = await send(client, run, "revise", 409, edits=edits, dry=dry)
            assert refused["code"] == "PRD3010"
            assert refused["problems"]
        assert (await shown(client, run))["revision"] == 0


async def test_a_revision_can_be_looked_at_first():
    async with serving({}) as client:
        run = await begun(client, ASK)
        entries = (await shown(client, run))["entries"]
        found = await send(client, run, "revise", edits=[SIGN], dry=True)
        assert (found["schema"], list(found["added"])) == ("perdure.diff/1", ["sign"])
        assert (await shown(client, run))["entries"] == entries
        await send(client, run, "revise", 412, {"If-Match": '"4"'}, edits=[SIGN], dry=True)


async def test_nobody_speaks_in_the_name_of_another():
    async with serving({}) as client:
        run = await begun(client, WAIT)

        async def known(scope, receive, send):
            await client.app({**scope, "state": {"caller": Caller("ann", ("run",))}}, receive, send)

        client._transport.app = known
        await send(client, run, "pause", by="bob")
        entries = (await client.get(f"/v1/runs/{run}/entries")).json()["entries"]
        assert [each["body"]["by"] for each in entries if each["type"] == "run_paused"] == ["ann"]


async def test_where_nothing_is_carried_on_nothing_begins(tmp_path):
    async with serving({}, path=tmp_path / "runs.db") as client:
        run = await begun(client, WAIT)
    async with serving(path=tmp_path / "runs.db", idle=True) as client:
        found = (await client.get("/v1/runs")).json()
        assert (found["owner"], found["runs"][0]["interrupted"]) == (None, False)
        assert (await send(client, run, "resume", 503))["code"] == "PRD3103"
        assert (await send(client, run, "pause"))["driven"] is False


async def test_messages_at_the_same_time_are_each_taken_once():
    async with serving({}) as client:
        run = await begun(client, ASK)
        names = [f"s{n}" for n in range(20)]
        edits = [
            send(client, run, "revise", edits=[{"insert": {"id": n, "tool": "x.y"}, "after": "pack"}]) for n in names
        ]
        assert sorted(each["done"] for each in await asyncio.gather(*edits)) == list(range(1, 21))

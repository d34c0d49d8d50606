"""Requests that come again: done once, answered alike, and known by the journal. E8."""

import asyncio

import httpx2
import pytest
from served import SAY

from perdure.engine import Engine
from perdure.server import Keys, Names, guarded
from perdure.world import Alone

pytestmark = pytest.mark.anyio
BODY = {"plan": SAY, "inputs": {"word": "tide"}}


class Client:
    """Somebody with a key, in front of a server that can be started anew."""

    def __init__(self, path, name="ann"):
        self.path, self.keys = path / "runs.db", Keys(path / "runs.db.keys")
        self.secret = self.keys.new(name, ["admin"], 0)

    async def __aenter__(self):
        self._open = Engine.open(self.path)
        self.engine = await self._open.__aenter__()
        self.journal = self.engine.journal
        transport = httpx2.ASGITransport(guarded(self.engine, Alone(), self.keys, Names(("http://perdure",))))
        self._client = httpx2.AsyncClient(transport=transport, base_url="http://perdure")
        return self

    async def __aexit__(self, *_):
        await self._client.aclose()
        await self._open.__aexit__(None, None, None)

    async def post(self, key, path="/v1/runs", **body):
        headers = {"Authorization": f"Bearer {self.secret}", "Idempotency-Key": key}
        return await self._client.post(path, headers=headers, json=body or BODY)

    async def runs(self):
        return [each.id for each in await self.journal.runs()]


async def test_the_same_request_at_the_same_time_is_done_once(tmp_path):
    async with Client(tmp_path) as client:
        answers = await asyncio.gather(*(client.post("k") for _ in range(10)))
        assert {(each.status_code, each.content) for each in answers} == {(202, answers[0].content)}
        assert await client.runs() == [answers[0].json()["id"]]


async def test_another_body_with_the_same_key_is_refused_and_another_key_is_another_request(tmp_path):
    async with Client(tmp_path) as client:
        first = await client.post("k")
        other = await client.post("k", plan=SAY, inputs={"word": "ebb"})
        assert (other.status_code, other.json()["code"]) == (422, "PRD6028")
        assert (await client.post("l")).json()["id"] != first.json()["id"]
        assert len(await client.runs()) == 2


async def test_a_new_process_knows_the_run_and_refuses_another_body(tmp_path):
    async with Client(tmp_path) as client:
        first = await client.post("k")
    async with Client(tmp_path, "bob") as client:
        assert (await client.post("k")).json()["id"] != first.json()["id"], "that is somebody else's key"
        client.keys.revoke("ann")
        client.secret = client.keys.new("ann", ["admin"], 0)
        again = await client.post("k")
        assert (again.status_code, again.content) == (202, first.content)
        assert again.headers["location"] == first.headers["location"]
        other = await client.post("k", plan=SAY, inputs={"word": "ebb"})
        assert other.status_code == 422


async def test_what_was_refused_is_refused_alike_and_what_has_to_be_mended_can_be(tmp_path):
    async with Client(tmp_path) as client:
        wrong = [await client.post("k", plan=SAY, inputs={}) for _ in range(2)]
        assert [each.status_code for each in wrong] == [422, 422]
        assert wrong[0].content == wrong[1].content
        assert await client.runs() == []
        assert (await client.post("l")).status_code == 202


async def test_messages_to_a_run_are_sent_once(tmp_path):
    wait = {"steps": [{"id": "come", "wait": {"signal": "go"}}]}
    async with Client(tmp_path) as client:
        run = (await client.post("k", plan=wait)).json()["id"]
        answers = [await client.post("p", f"/v1/runs/{run}/pause", reason="lunch") for _ in range(2)]
        assert answers[0].content == answers[1].content
        before = (await client.journal.run(run)).head_seq
        await client.post("p", f"/v1/runs/{run}/pause", reason="lunch")
        assert (await client.journal.run(run)).head_seq == before


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a b"])
async def test_a_key_that_is_none_is_refused(tmp_path, key):
    async with Client(tmp_path) as client:
        answer = await client.post(key)
        assert (answer.status_code, answer.json()["code"]) == (400, "PRD6024")


async def test_e8_no_run_is_begun_where_too_many_are_at_work_and_the_same_request_may_come_again(tmp_path):
    async with Client(tmp_path) as client:
        wait = {"steps": [{"id": "come", "wait": {"signal": "go"}}]}
        first = await client.post("k", plan=wait)
        admitting = client._client._transport.app._app._app
        admitting._most = 1
        refused = await client.post("l", plan=wait)
        assert (refused.status_code, refused.json()["code"]) == (429, "PRD6027")
        assert refused.headers["retry-after"] == "1"
        assert (await client.post("k", plan=wait)).json() == first.json(), "that one is begun"
        assert (await client.post("p", f"/v1/runs/{first.json()['id']}/pause", reason="lunch")).status_code == 200
        admitting._most = 2
        assert (await client.post("l", plan=wait)).status_code == 202


async def test_only_so_many_answers_are_remembered(tmp_path):
    async with Client(tmp_path) as client:
        repeating = client._client._transport.app._app
        repeating._most = 3
        for number in range(6):
            assert (await client.post(f"k{number}")).status_code == 202
        assert len(repeating._kept) == 3
        assert (await client.post("k0")).status_code == 202
        assert len(await client.runs()) == 6, "the journal knows the others"

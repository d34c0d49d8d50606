"""What runs have taught, over HTTP. E10, E16."""

import pytest
from served import begun, serving

pytestmark = pytest.mark.anyio


async def test_something_is_noted_found_and_forgotten(tmp_path):
    async with serving(path=tmp_path / "runs.db") as client:
        answer = await client.post("/v1/memory", json={"text": "the tide comes twice", "about": "the sea", "by": "ann"})
        id_ = answer.json()["id"]
        assert answer.status_code == 201
        [found] = (await client.get("/v1/memory", params={"q": "tide"})).json()["memories"]
        assert (found["id"], found["by"], found["kind"]) == (id_, "ann", "lesson")
        assert (await client.get("/v1/memory", params={"q": "desert"})).json()["memories"] == []
        assert (await client.delete(f"/v1/memory/{id_}")).status_code == 200
        gone = await client.delete(f"/v1/memory/{id_}")
        assert (gone.status_code, gone.json()["code"]) == (404, "PRD2009")


async def test_memories_come_in_pages(tmp_path):
    async with serving(path=tmp_path / "runs.db") as client:
        await begun(client)
        for n in range(5):
            await client.post("/v1/memory", json={"text": f"lesson {n}"})
        first = (await client.get("/v1/memory", params={"kind": ["lesson"], "limit": 3})).json()
        rest = (await client.get("/v1/memory", params={"kind": ["lesson"], "before": first["next"]})).json()
        texts = [each["text"] for each in (*first["memories"], *rest["memories"])]
        assert texts == [f"lesson {n}" for n in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize("said", [{}, {"text": ""}, {"text": "x", "kind": "outcome"}, {"text": "x", "more": 1}])
async def test_a_note_that_makes_no_sense_is_refused(said):
    async with serving() as client:
        assert (await client.post("/v1/memory", json=said)).status_code == 422

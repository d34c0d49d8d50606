"""Runs over HTTP: they are listed, begun and looked at. E8, E16."""

import json

import pytest
from served import ASK, SAY, WAIT, begun, serving

from perdure import Plan
from perdure.core.calls import Failure
from perdure.journal.memory import MemoryJournal

pytestmark = pytest.mark.anyio


async def test_e16_a_run_is_begun_and_is_in_the_journal_when_it_is_answered():
    async with serving() as client:
        answer = await client.post("/v1/runs", json={"plan": SAY, "inputs": {"word": "tide"}, "session": "s_1"})
        run = answer.json()["id"]
        assert (answer.status_code, answer.headers["location"]) == (202, f"/v1/runs/{run}")
        assert (await client.engine.journal.run(run)).summary.session == "s_1"
        assert (await client.engine.run(run).result()).output == "tide"
        shown = (await client.get(answer.headers["location"])).json()
        assert (shown["status"], shown["output"], shown["goal"]) == ("succeeded", "tide", "Say tide")


async def test_a_plan_may_come_as_text():
    async with serving() as client:
        answer = await client.post("/v1/runs", json={"text": "steps:\n- {id: a, tool: flow.echo, with: {value: 1}}\n"})
        assert answer.status_code == 202
        assert (await client.engine.run(answer.json()["id"]).result()).ok


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"plan": {"steps": [{"id": "a", "tool": "flow.eco"}, {"id": "a", "tool": "no.such"}]}}, "PRD1000"),
        ({"text": "steps: [{id: a"}, "PRD1000"),
        ({"plan": SAY, "inputs": {"word": 3}}, "PRD3101"),
        ({"plan": SAY, "inputs": {"word": "tide", "more": {}}}, "PRD3101"),
        ({"plan": SAY, "inputs": {"word": "tide"}, "session": "high tide"}, "PRD3110"),
        ({"plan": SAY, "inputs": {"word": "tide"}, "session": "t" * 201}, "PRD3110"),
        ({"plan": {"steps": [{"id": "a", "tool": "files.read", "with": {"path": "x"}}]}}, "PRD1000"),
    ],
)
async def test_what_cannot_begin_is_refused_with_every_reason_and_nothing_is_written(said, code):
    async with serving() as client:
        answer = await client.post("/v1/runs", json=said)
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
        if code == "PRD1000":
            assert answer.json()["problems"]
        assert (await client.get("/v1/runs")).json()["runs"] == []


async def test_runs_are_listed_newest_first_a_page_at_a_time():
    async with serving({}) as client:
        made = [await begun(client, WAIT if n % 2 else ASK, session=f"s_{n % 3}") for n in range(7)]
        seen, cursor = [], {}
        while cursor is not None:
            page = (await client.get("/v1/runs", params={"limit": 3, **cursor})).json()
            seen += [each["id"] for each in page["runs"]]
            cursor = {"before": page["next"]} if page["next"] is not None else None
        assert seen == made[::-1]


async def test_a_listing_is_narrowed():
    async with serving({}) as client:
        asking, waiting = await begun(client, ASK, session="s_1"), await begun(client, WAIT)
        over = await begun(client, {"goal": "ÄPFEL", "steps": [{"id": "a", "tool": "x.y"}]})

        async def listed(**params):
            answer = await client.get("/v1/runs", params=params)
            assert answer.status_code == 200, answer.text
            return [each["id"] for each in answer.json()["runs"]]

        assert await listed(status=["waiting"]) == [waiting, asking]
        assert await listed(status=["waiting", "succeeded"]) == [over, waiting, asking]
        assert await listed(status=["failed"]) == []
        assert await listed(session="s_1") == [asking]
        assert await listed(parent="r_none") == []
        assert await listed(q="äpf") == [over]
        assert await listed(since="2001-01-01T00:00:00Z") == [over, waiting, asking]
        assert await listed(since="2999-01-01T00:00:00+02:00") == []
        found = (await client.get("/v1/runs")).json()
        assert [each["questions"] for each in found["runs"]] == [0, 0, 1]
        assert found["owner"].startswith("process ")


@pytest.mark.parametrize(
    "params", [{"limit": 0}, {"limit": 1001}, {"before": "x"}, {"status": "odd"}, {"since": "2001-01-01"}]
)
async def test_a_filter_that_makes_no_sense_is_refused(params):
    async with serving() as client:
        assert (await client.get("/v1/runs", params=params)).status_code == 422


async def test_a_run_is_found_by_the_beginning_of_its_id_and_as_the_last():
    async with serving() as client:
        run = await begun(client)
        for name in (run, run[:-2], "@last"):
            assert (await client.get(f"/v1/runs/{name}")).json()["id"] == run


async def test_a_run_is_shown_as_it_stood():
    async with serving() as client:
        run = await begun(client)
        shown = (await client.get(f"/v1/runs/{run}", params={"at": 1})).json()
        assert (shown["status"], shown["entries"], shown["interrupted"]) == ("waiting", 1, False)


async def test_a_question_is_shown_without_command_lines():
    async with serving({}) as client:
        run = await begun(client, ASK)
        [asked] = (await client.get(f"/v1/runs/{run}")).json()["questions"].values()
        assert (asked["text"], asked["status"]) == ("Sure?", "open")
        assert "commands" not in asked


async def test_entries_are_handed_on_as_they_are_stored():
    journal = MemoryJournal()
    async with serving(journal=journal) as client:
        run = await begun(client, inputs={"word": "tide \u2028 \U0001f30a"})
        stored = await journal.read(run)
        page = (await client.get(f"/v1/runs/{run}/entries")).json()
        assert [(each["seq"], each["type"], each["body"]) for each in page["entries"]] == [
            (each.seq, each.type, json.loads(each.body)) for each in stored
        ]
        assert page["next"] is None


async def test_entries_come_in_pages():
    async with serving() as client:
        run = await begun(client)
        first = (await client.get(f"/v1/runs/{run}/entries", params={"limit": 3})).json()
        assert ([each["seq"] for each in first["entries"]], first["next"]) == ([1, 2, 3], 3)
        second = (await client.get(f"/v1/runs/{run}/entries", params={"after": 3})).json()
        assert ([each["seq"] for each in second["entries"]], second["next"]) == ([4], None)


async def test_the_plan_is_shown_at_each_revision():
    async with serving({}) as client:
        run = await begun(client, ASK)
        await client.engine.revise(
            run, [{"insert": {"id": "sign", "tool": "shop.sign"}, "after": "pack"}], why="it must"
        )
        now = await client.get(f"/v1/runs/{run}/plan")
        before = await client.get(f"/v1/runs/{run}/plan", params={"revision": 0})
        assert (now.json()["revision"], now.headers["etag"]) == (1, '"1"')
        assert [step["id"] for step in now.json()["plan"]["steps"]] == ["sure", "pack", "sign"]
        assert (before.json()["hash"], before.headers["etag"]) == (Plan.model_validate(ASK).hash, '"0"')
        assert (await client.get(f"/v1/runs/{run}/plan", params={"revision": 2})).status_code == 422
        [revision] = (await client.get(f"/v1/runs/{run}/revisions")).json()["revisions"]
        assert (revision["number"], revision["why"], list(revision["added"])) == (1, "it must", ["sign"])
        assert (await client.get(f"/v1/runs/{run}")).headers["etag"] == '"1"'


async def test_what_failed_is_told():
    async with serving({"a": Failure("logic", "no such shelf")}) as client:
        run = await begun(client, {"steps": [{"id": "a", "tool": "x.y"}]})
        found = (await client.get(f"/v1/runs/{run}/failures")).json()
        assert (found["id"], found["status"]) == (run, "failed")
        assert found["failures"][0]["troubles"][0]["message"] == "no such shelf"
        shown = (await client.get(f"/v1/runs/{run}")).json()
        assert (shown["failure"]["kind"], shown["cause"]) == ("logic", "a")


async def test_an_exported_run_can_be_taken_in_elsewhere():
    async with serving() as client:
        run = await begun(client)
        answer = await client.get(f"/v1/runs/{run}/export")
        assert answer.headers["content-disposition"] == f'attachment; filename="{run}.jsonl"'
        other = MemoryJournal()
        assert (await other.take_in(answer.content.splitlines(keepends=True))).id == run
        assert (await client.get("/v1/runs/r_none/export")).status_code == 404


async def test_nothing_may_be_kept_on_the_way():
    async with serving() as client:
        run = await begun(client)
        for path in ("", f"/{run}", f"/{run}/entries", f"/{run}/plan", f"/{run}/export", "/r_none"):
            assert (await client.get(f"/v1/runs{path}")).headers["cache-control"] == "no-store"


async def test_how_far_a_run_is_is_told():
    async with serving({}) as client:
        run, over = await begun(client, ASK), await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack"}]})
        found = (await client.get(f"/v1/runs/{run}/progress")).json()
        assert (found["id"], found["status"], found["waits"]) == (run, "waiting", 1)
        assert found["left"]["p90"] > 0
        assert found["over"]["p90"] > found["at"]
        done = (await client.get(f"/v1/runs/{over}/progress")).json()
        assert (done["fraction"], done["over"]) == (1.0, None)
        assert (await client.get("/v1/runs/r_none/progress")).status_code == 404

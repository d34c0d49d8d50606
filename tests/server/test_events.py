"""One stream of all that happens: nothing is lost and nothing is told twice, however often a watcher is cut off. E11, E16."""

import asyncio
import json

import httpx2
import pytest
from served import ASK, WAIT, begun, kept, listening, seen, serving, turns_in, until

from perdure.core.values import to_json
from perdure.ports import Arrived, Corrupt, Entry
from perdure.server import following
from perdure.server.following import told

pytestmark = pytest.mark.anyio


class Watching:
    """Somebody who watches, and what they were told."""

    def __init__(self, url, **params):
        self.url, self.params, self.told = url, params, []

    async def until(self, holds, last=None):
        """Watch until something holds, then leave."""
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        async with (
            httpx2.AsyncClient(timeout=60) as client,
            client.stream("GET", f"{self.url}/v1/events", params=self.params, headers=headers) as answer,
        ):
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for turn in turns_in(answer.aiter_lines()):
                self.told.append(turn)
                if holds(turn):
                    return


def is_over(run):
    return lambda turn: turn is not None and turn[1] == run and turn[2][-1]["type"] == "run_ended"


async def test_every_turn_of_every_run_is_told_in_order():
    async with serving({}) as client, listening(client.app) as url:
        runs = [await begun(client, WAIT) for _ in range(3)]
        watching = Watching(url, after=0)
        task = asyncio.create_task(watching.until(is_over(runs[1])))
        for run in (runs[0], runs[2], runs[1]):
            await client.engine.signal(run, "go")
            await client.engine.run(run).result()
        await task
        assert seen(watching.told) == await kept(client.engine.journal)
        entries = [entry for _, run, entries in watching.told for entry in entries if run == runs[0]]
        assert entries == (await client.get(f"/v1/runs/{runs[0]}/entries")).json()["entries"]


async def test_a_watcher_begins_now_unless_they_say_where():
    async with serving({}) as client, listening(client.app) as url:
        await begun(client, ASK)
        before = await client.engine.journal.last_arrival()
        watching = Watching(url)
        task = asyncio.create_task(watching.until(lambda turn: True))
        await until(lambda: client.app.state.here.following.is_open)
        run = await begun(client, WAIT, rested=False)
        await task
        assert watching.told[0][:2] == (before + 1, run)


async def test_where_a_page_of_entries_ends_the_stream_goes_on():
    async with serving({}) as client, listening(client.app) as url:
        run = await begun(client, WAIT)
        page = (await client.get(f"/v1/runs/{run}/entries")).json()
        await client.engine.signal(run, "go")
        await client.engine.run(run).result()
        watching = Watching(url, after=page["arrival"], run=[run])
        await watching.until(is_over(run))
        seqs = [each["seq"] for each in page["entries"]] + [seq for _, _, turn in seen(watching.told) for seq in turn]
        assert seqs == list(range(1, len(await client.engine.journal.read(run)) + 1))


async def test_only_the_runs_that_are_named_are_told_of():
    async with serving({}) as client, listening(client.app) as url:
        runs = [await begun(client, WAIT) for _ in range(4)]
        watching = Watching(url, after=0, run=[runs[1], runs[3]])
        for run in runs:
            await client.engine.signal(run, "go")
            await client.engine.run(run).result()
        await watching.until(is_over(runs[3]))
        assert seen(watching.told) == [
            each for each in await kept(client.engine.journal) if each[1] in {runs[1], runs[3]}
        ]
        assert (await client.get("/v1/events", params={"run": "r_none"})).status_code == 404


async def test_whoever_was_cut_off_goes_on_where_they_were():
    async with serving({}) as client, listening(client.app) as url:
        runs = [await begun(client, ASK) for _ in range(6)]
        await client.engine.stop()
        watching = Watching(url, after=0)
        while len(watching.told) < len(await kept(client.engine.journal)):
            last = watching.told[-1][0] if watching.told else None
            await watching.until(lambda turn: True, last)
        assert seen(watching.told) == await kept(client.engine.journal)
        assert {run for _, run, _ in watching.told} == set(runs)


async def test_whoever_is_far_behind_reads_on_from_the_journal(monkeypatch):
    monkeypatch.setattr(following, "MOST_BYTES", 2_000)
    monkeypatch.setattr(following, "PAGE", 2)
    async with serving({}) as client, listening(client.app) as url:
        first, watching = await begun(client, WAIT), Watching(url, after=0)
        early = asyncio.create_task(watching.until(is_over(first)))
        for _ in range(20):
            await begun(client, ASK)
        late = Watching(url, after=1)
        task = asyncio.create_task(late.until(is_over(first)))
        await client.engine.signal(first, "go")
        await asyncio.gather(early, task)
        every = await kept(client.engine.journal)
        assert (seen(watching.told), seen(late.told)) == (every, every[1:])


async def test_a_watcher_hears_that_all_is_well_when_nothing_happens():
    async with serving({}) as client:
        client.app.state.here.following.quiet = 0.01
        async with listening(client.app) as url:
            watching = Watching(url)
            await watching.until(lambda turn: turn is None)
        assert watching.told == [None]


async def test_all_watchers_are_let_go_when_the_server_closes():
    async with serving({}) as client:
        async with listening(client.app) as url:
            tasks = [asyncio.create_task(Watching(url).until(lambda turn: False)) for _ in range(5)]
            await until(lambda: client.app.state.here.following.watchers == 5)
        await asyncio.gather(*tasks)
        assert client.app.state.here.following.watchers == 0


async def test_a_watcher_that_takes_nothing_is_cut_off_and_holds_nobody_up():
    async with serving({}) as client:
        run = await begun(client, ASK)
        state, asked = client.app.state.here.following, asyncio.Event()
        state.patience = 0.05

        async def receive():
            await asked.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.body" and b"event" in message["body"]:
                await asyncio.Event().wait()

        query = {"type": "http", "method": "GET", "path": "/v1/events", "query_string": b"after=0", "headers": []}
        task = asyncio.create_task(client.app({**query, "root_path": ""}, _once(receive), send))
        await task
        assert state.watchers == 0
        assert (await client.get(f"/v1/runs/{run}")).status_code == 200


def _once(receive):
    """The end of the body first, as every server says it."""
    told = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def next_of():
        return next(told, None) or await receive()

    return next_of


async def test_where_the_journal_cannot_be_read_watchers_are_let_go(caplog):
    async with serving({}) as client:
        run = await begun(client, WAIT)
        async with listening(client.app) as url:
            watching = Watching(url)
            task = asyncio.create_task(watching.until(lambda turn: False))
            await until(lambda: client.app.state.here.following.is_open)

            async def broken(*_):
                raise Corrupt("it was changed")

            client.engine.journal.arrived = broken
            await client.engine.signal(run, "go")
            await task
    assert "PRD2204: it was changed" in caplog.text


@pytest.mark.parametrize(
    "said", [{"params": {"after": -1}}, {"params": {"after": "x"}}, {"headers": {"Last-Event-ID": "x"}}]
)
async def test_a_place_that_is_none_is_refused(said):
    async with serving() as client:
        assert (await client.get("/v1/events", **said)).status_code == 422


async def test_a_place_that_the_journal_has_not_come_to_is_refused():
    async with serving() as client:
        answer = await client.get("/v1/events", params={"after": 41})
        assert (answer.status_code, answer.json()["code"]) == (409, "PRD6008")


def test_what_is_stored_has_no_say_in_where_an_event_ends():
    body = b'{"text":\r\n"a",\n\n"data": "x\\n\\nevent: stop"}'
    turn = told(Arrived(7, 'r_1"\n\nid: 9', (Entry('r_1"\n\nid: 9', 1, "odd", 0, body),)))
    lines = turn.message.split(b"\n")
    assert lines[:2] == [b"id: 7", b"event: turn"]
    assert lines[3:] == [b"", b""]
    found = json.loads(lines[2].removeprefix(b"data: "))
    assert (found["run"], found["entries"][0]["body"]) == ('r_1"\n\nid: 9', json.loads(body))
    assert to_json(found["run"]) in lines[2]


async def test_each_turn_is_put_into_words_once_for_all(monkeypatch):
    made = []

    def counted(turn):
        made.append(turn.number)
        return told(turn)

    monkeypatch.setattr(following, "told", counted)
    async with serving({}) as client, listening(client.app) as url:
        watchers = [Watching(url) for _ in range(8)]
        run = await begun(client, WAIT)
        tasks = [asyncio.create_task(each.until(is_over(run))) for each in watchers]
        await until(lambda: client.app.state.here.following.watchers == 8)
        await client.engine.signal(run, "go")
        await asyncio.gather(*tasks)
        assert len(made) == len(set(made))
        assert all(each.told == watchers[0].told for each in watchers)

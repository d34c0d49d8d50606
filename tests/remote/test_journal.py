"""A journal elsewhere reads as the one that it stands for: every record, every page, every refusal."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
from msgspec.structs import replace

from perdure import Engine
from perdure.journal import MemoryJournal
from perdure.ports import (
    Ambiguous,
    Corrupt,
    Entry,
    Filter,
    JournalError,
    Summary,
    Turn,
    UnknownArtifact,
    UnknownRun,
    Verdict,
)
from perdure.remote import Line, RemoteJournal, who
from perdure.remote import journal as room
from perdure.remote.errors import NotFromElsewhere
from perdure.server import app_of
from perdure.testing.contracts import NOON, OVER, RUNNING, a_turn, an_artifact
from perdure.world import Alone


@asynccontextmanager
async def both():
    """A journal here, and the same as it looks from elsewhere."""
    here = MemoryJournal()
    async with Engine.open(journal=here) as engine:
        transport = httpx2.ASGITransport(app_of(engine, Alone()), raise_app_exceptions=False)
        async with Line("http://perdure", transport=transport) as line:
            yield here, RemoteJournal(line)


async def filled(journal):
    odd = Summary("waiting", "half \ud800 of 𝄞", "s_1", "r_0", wake_at=5, counters=b'{"steps":\xff}')
    await journal.append(replace(a_turn("r_1", 1, 3), summary=odd, asked=["q_b", "q_a"], artifacts=[an_artifact(b"7")]))
    await journal.append(a_turn("r_2/x", 1, body=b"\xff\x00 odd"))
    await journal.append(replace(a_turn("r_1", 4), answered=["q_a"]))
    await journal.append(replace(a_turn("r_3", 1, at=NOON + 10), summary=OVER))
    for first in range(2, 8):
        await journal.append(a_turn("r_2/x", first))


async def outcome(asked):
    try:
        return await asked
    except JournalError as error:
        return type(error), error.code, error.message, error.help, error.exit_code


QUESTIONS = {
    "a run": lambda journal: journal.run("r_1"),
    "the beginning of an id": lambda journal: journal.run("r_2"),
    "the last run": lambda journal: journal.run("@last"),
    "no run": lambda journal: journal.run("r_9"),
    "more than one": lambda journal: journal.run("r_"),
    "an odd name": lambda journal: journal.run("r 1&limit=5"),
    "all runs": lambda journal: journal.runs(),
    "a page of runs": lambda journal: journal.runs(before=3, limit=1),
    "some runs": lambda journal: journal.runs(Filter(["waiting", "running"], "s_1", "r_0", NOON, over=False)),
    "runs without a session": lambda journal: journal.runs(Filter(session="")),
    "runs that are due": lambda journal: journal.due(10),
    "entries": lambda journal: journal.read("r_2/x"),
    "a page of entries": lambda journal: journal.read("r_2/x", 2, 3),
    "entries of no run": lambda journal: journal.read("r_9"),
    "all of a run": lambda journal: journal.load("r_2/x"),
    "all of no run": lambda journal: journal.load("r_9"),
    "questions": lambda journal: journal.questions(),
    "answered questions of a run": lambda journal: journal.questions("r_1", answered=True),
    "a value": lambda journal: journal.artifact(an_artifact(b"7").digest),
    "no value": lambda journal: journal.artifact("0" * 64),
    "turns": lambda journal: journal.arrived(),
    "a page of turns": lambda journal: journal.arrived(2, 2),
    "turns of some runs": lambda journal: journal.arrived(runs=["r_1", "r_3"]),
    "the last turn": lambda journal: journal.last_arrival(),
    "a verdict": lambda journal: journal.verify("r_1"),
    "a verdict on no run": lambda journal: journal.verify("r_9"),
}


@pytest.mark.parametrize("question", QUESTIONS)
async def test_it_answers_as_the_journal_that_it_stands_for(question):
    async with both() as (here, there):
        await filled(here)
        ask = QUESTIONS[question]
        assert await outcome(ask(there)) == await outcome(ask(here))


async def test_what_a_journal_refuses_has_its_own_class():
    async with both() as (here, there):
        await filled(here)
        for name, kind in (("r_9", UnknownRun), ("r_", Ambiguous)):
            with pytest.raises(kind):
                await there.run(name)
        with pytest.raises(UnknownArtifact):
            await there.artifact("0" * 64)


async def test_pages_join_where_a_run_is_longer_than_one(monkeypatch):
    monkeypatch.setattr(room, "PAGE", 2)
    async with both() as (here, there):
        await filled(here)
        assert await there.load("r_2/x") == await here.load("r_2/x")


async def test_a_run_that_cannot_be_believed_is_not_loaded():
    async with both() as (here, there):
        await filled(here)

        async def doubted(run):
            return Verdict(run, 1, 2, "the turn is not what was written")

        here.verify = doubted
        with pytest.raises(Corrupt, match="entry 2 of r_1"):
            await there.load("r_1")


async def test_an_export_is_the_same_line_by_line():
    async with both() as (here, there):
        await filled(here)
        assert [line async for line in there.export("r_1")] == [line async for line in here.export("r_1")]
        with pytest.raises(UnknownRun):
            _ = [line async for line in there.export("r_9")]


async def test_waiting_ends_with_what_comes_or_with_its_time(monkeypatch):
    async with both() as (here, there):
        await here.append(a_turn("r_1", 1))
        assert await there.grown("r_1", 0, 60)
        assert await there.arrives(0, 60)
        monkeypatch.setattr(room, "LONGEST_WAIT", 0.01)
        assert not await there.grown("r_1", 1, 0.05)
        assert not await there.arrives(1, 0.05)
        monkeypatch.undo()
        waiting = [asyncio.ensure_future(there.grown("r_1", 1, 600)), asyncio.ensure_future(there.arrives(1, 600))]
        await asyncio.sleep(0)
        await here.append(a_turn("r_1", 2))
        assert await asyncio.wait_for(asyncio.gather(*waiting), 60) == [True, True]


async def test_nothing_is_written_from_elsewhere():
    async with both() as (here, there):
        turn = a_turn("r_1", 1)
        for write in (there.take_in([b"{}"]), there.begin([turn]), there.sweep(0)):
            with pytest.raises(NotFromElsewhere):
                await write
        with pytest.raises(NotFromElsewhere):
            await there.append(Turn("r_1", 1, [Entry("r_1", 1, "a", 0, b"")], summary=RUNNING))
        await there.close()
        assert await here.runs() == []


async def test_it_says_who_has_the_journal():
    async with both() as (_, there):
        found = await who(there._line)
        assert (found.journal, found.driven) == ("perdure.journal/1", True)
        assert found.writer.startswith("process ")

"""Both journals remember by the same laws, and no trouble with that is trouble for a run (T4)."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perdure.journal import MemoryJournal, SqliteJournal, indexing, recalling, schema
from perdure.journal.driver import connect
from perdure.journal.memories import put
from perdure.ports import OUTCOME, Closed, Filter, NoMemory, Summary
from perdure.testing.contracts import NOON, OVER, a_turn
from perdure.testing.memories import MEMORY_LAWS, a_memory


@pytest.mark.parametrize("law", MEMORY_LAWS, ids=lambda law: law.__name__)
async def test_it_keeps_the_law(law, make):
    await law(make)


# ------------------------------------------------------------ the file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def an_end(run, text="succeeded", first=1, goal="Ship the shop"):
    memory = a_memory(f"m_{run}", text, kind=OUTCOME, run=run, about=goal)
    return replace(a_turn(run, first), summary=OVER, memories=[memory])


def texts(found):
    return [each.text for each in found]


async def test_t4_whoever_reads_searches_while_another_process_writes(path, monkeypatch):
    monkeypatch.setattr(indexing, "SOON", 0.01)
    async with await SqliteJournal.open(path) as journal:
        await journal.append(an_end("r_1"))
        reader = await SqliteJournal.open(path, read_only=True)
        async with asyncio.timeout(20):
            while not (found := await reader.search("shipping shops")):  # noqa: ASYNC110  nobody tells other processes
                await asyncio.sleep(0.01)
        assert texts(found) == ["succeeded"]
        with pytest.raises(Closed):
            await reader.remember(a_memory("m_1", "no"))
        await reader.close()
    reader = await SqliteJournal.open(path, read_only=True)
    assert texts(await reader.search("shop")) == ["succeeded"]


async def test_t4_what_a_killed_process_left_is_found_when_the_file_is_opened_again(path):
    """The end of a run and its memory are one commit; only the words are brought in later."""
    script = f"""
import asyncio, os, sys
sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
from test_memories import an_end
from perdure.journal import SqliteJournal

async def main():
    journal = await SqliteJournal.open({str(path)!r})
    await journal.append(an_end("r_1"))
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script], check=False)
    assert killed.returncode == -9
    reader = await SqliteJournal.open(path, read_only=True)
    assert texts(await reader.memories()) == ["succeeded"]
    async with await SqliteJournal.open(path) as journal:
        assert texts(await journal.search("shop")) == ["succeeded"]
    assert texts(await reader.search("shop")) == ["succeeded"]


async def test_a_journal_that_is_closed_leaves_nothing_to_bring_in(path):
    async with await SqliteJournal.open(path) as journal:
        await journal.append(an_end("r_1"))
    reader = await SqliteJournal.open(path, read_only=True)
    assert len(await reader.search("shop")) == 1


async def test_ends_that_share_a_commit_share_it_with_their_memories(path):
    """No sync of its own for anything that is remembered of a run."""
    async with await SqliteJournal.open(path) as journal:
        commits = []
        commit = journal._store.commit

        def counted(turns):
            commits.append(len(turns))
            return commit(turns)

        journal._store.commit = counted
        await asyncio.gather(*(journal.append(an_end(f"r_{n}", f"succeeded {n}")) for n in range(200)))
        assert commits == [200]
        assert len(await journal.search("succeeded", limit=1_000)) == 200


async def test_an_older_file_remembers_how_its_runs_ended(path, monkeypatch):
    odd = "Mend half \ud800 of it"
    with monkeypatch.context() as earlier:
        first = schema.steps()[:1]
        earlier.setattr(schema, "steps", lambda: first)
        schema.create(path, connect)
    with closing(connect(path, "rw")) as db:
        shown = Summary("failed", odd, over=True)
        body = b"{}"
        for run, summary in (("r_1", shown), ("r_2", Summary("running", "Go on"))):
            db.execute(
                "INSERT INTO runs (id, created, status, goal, session, parent, over, counters) VALUES (?,?,?,?,'','',?,?)",
                (run, NOON, summary.status, summary.goal.encode("utf-8", "surrogatepass"), int(summary.over), body),
            )
    reader = await SqliteJournal.open(path, read_only=True)
    assert (await reader.search("mend"), await reader.memories()) == ([], []), "what is older is read as it is"
    async with await SqliteJournal.open(path) as journal:
        (found,) = await journal.search("mending")
        assert (found.id, found.kind, found.text, found.run, found.at) == ("m_r_1", OUTCOME, "failed", "r_1", NOON)
        assert found.about.startswith("Mend half")
    assert path.with_name("runs.db.v1").exists()


async def test_a_parcel_carries_no_memories(path, tmp_path):
    """What a stranger's file says must not reach planners by the way of what was learned here."""
    async with await SqliteJournal.open(path) as source, await SqliteJournal.open(tmp_path / "b.db") as target:
        await source.append(an_end("r_1"))
        lines = [line async for line in source.export("r_1")]
        assert not any(b"m_r_1" in line for line in lines)
        await target.take_in(lines)
        assert await target.memories() == []
        assert (await target.verify("r_1")).bad_seq is None


# ------------------------------------------------------------ T4: a failing memory never stops a run


def without_fts5(place, mode):
    """A build of SQLite that has no full-text search."""
    return Lacking(connect(place, mode))


class Lacking:
    def __init__(self, db):
        self._db = db
        self.close = db.close

    def execute(self, sql, *values):
        self._refuse(sql)
        return self._db.execute(sql, *values)

    def executemany(self, sql, rows):
        self._refuse(sql)
        return self._db.executemany(sql, rows)

    def _refuse(self, sql):
        if "fts5" in sql or " lessons_by_word" in sql or " outcomes_by_word" in sql:
            error = sqlite3.OperationalError("no such module: fts5")
            error.sqlite_errorcode = sqlite3.SQLITE_ERROR
            raise error


async def test_t4_without_full_text_search_runs_are_kept_and_a_search_says_why_not(path, caplog, monkeypatch):
    monkeypatch.setattr(indexing, "SOON", 0.01)
    async with await SqliteJournal.open(path, connect=without_fts5) as journal:
        await journal.append(an_end("r_1"))
        await journal.remember(a_memory("m_1", "a slow host"))
        with pytest.raises(NoMemory, match="no such module: fts5") as caught:
            await journal.search("shop")
        assert caught.value.code == "PRD2205"
        async with asyncio.timeout(20):
            while "cannot be looked up" not in caplog.text:  # noqa: ASYNC110  a log tells nobody
                await asyncio.sleep(0.01)
        assert [each.id for each in await journal.memories()] == ["m_1", "m_r_1"]
        await journal.forget("m_1")
        await journal.append(a_turn("r_2", 1))
        assert (await journal.sweep(NOON * 2)).runs == 1
        assert await journal.memories() == []
    async with await SqliteJournal.open(path) as journal:
        await journal.append(an_end("r_3"))
        assert texts(await journal.search("shop")) == ["succeeded"], "another build brings the words in"


BREAKS = {
    "the table is gone": "DROP TABLE memories",
    "the table is another one": "ALTER TABLE memories RENAME COLUMN text TO words",
    "it takes nothing": "CREATE TRIGGER no BEFORE INSERT ON memories BEGIN SELECT raise(ABORT, 'no'); END",
}


@pytest.mark.parametrize("breaking", BREAKS.values(), ids=BREAKS)
async def test_t4_a_run_ends_though_nothing_can_be_remembered(path, breaking, caplog):
    async with await SqliteJournal.open(path) as journal:
        journal._store._db.execute(breaking)
        ends = [an_end(f"r_{n}") for n in range(3)]
        await asyncio.gather(*map(journal.append, [*ends, a_turn("r_x", 1)]))
        assert "not remembered" in caplog.text
        with pytest.raises(NoMemory):
            await journal.remember(a_memory("m_1", "a slow host"))
        await journal.append(a_turn("r_x", 2))
        assert [run.id for run in await journal.runs(Filter(over=True))] == ["r_2", "r_1", "r_0"]
        assert (await journal.sweep(NOON * 2)).runs == 3
        for run in ("r_x",):
            assert (await journal.verify(run)).bad_seq is None


INJURIES = {
    "pages are gone": "DELETE FROM outcomes_by_word_data WHERE id > 10",
    "pages are torn": "UPDATE outcomes_by_word_data SET block = x'00112233445566778899' WHERE id > 10",
    "texts are gone": "DELETE FROM outcomes_by_word_content",
    "the index is gone": "DROP TABLE outcomes_by_word",
}


@pytest.mark.parametrize("injury", INJURIES.values(), ids=INJURIES)
async def test_t4_a_broken_index_is_made_anew(path, injury):
    async with await SqliteJournal.open(path) as journal:
        for n in range(5):
            await journal.append(an_end(f"r_{n}", f"succeeded {n}"))
        assert len(await journal.search("shop")) == 5
    db = sqlite3.connect(path)
    db.execute(injury)
    db.commit()
    db.close()
    async with await SqliteJournal.open(path) as journal:
        await journal.append(an_end("r_9", "succeeded 9"))
        assert len(await journal.search("shop")) == 6
        assert (await journal.verify("r_9")).bad_seq is None


async def test_t4_a_broken_index_is_made_anew_before_anybody_searches(path, monkeypatch):
    async with await SqliteJournal.open(path) as journal:
        await journal.append(an_end("r_1"))
    db = sqlite3.connect(path)
    db.execute("DROP TABLE outcomes_by_word_docsize")
    db.close()
    monkeypatch.setattr(indexing, "SOON", 0.01)
    async with await SqliteJournal.open(path) as journal:
        await journal.append(an_end("r_2", "failed"))
        reader = await SqliteJournal.open(path, read_only=True)
        async with asyncio.timeout(60):
            while journal._words_wait:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.01)
        assert sorted(texts(await reader.search("shop"))) == ["failed", "succeeded"]


async def test_t4_a_full_file_ends_runs_without_remembering_them(path, caplog):
    """The few pages that a memory takes never decide whether a run can end."""
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
        db = journal._store._db
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()
        await journal.append(an_end("r_1", "failed: " + "word " * 3_900, first=2))
        assert "not remembered" in caplog.text
        db.execute("PRAGMA max_page_count = 100000").fetchall()
        assert (await journal.run("r_1")).summary.over
        assert await journal.memories() == []


# ------------------------------------------------------------ any text, and very many


@settings(max_examples=150)
@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=80))
def test_any_text_is_found_by_its_own_words_and_none_is_an_error(stored, query):
    found = asyncio.run(_searched(stored, query))
    for text, hits in found:
        if any(letter.isascii() and letter.isalnum() for letter in text):  # of others only SQLite knows
            assert text in hits


async def _searched(stored, query):
    journal = MemoryJournal()
    for n, text in enumerate(stored):
        await journal.remember(a_memory(f"m_{n}", text))
    await journal.search(query)
    kept = [each.text for each in await journal.memories()]
    return [(text, texts(await journal.search(text, limit=100))) for text in kept]


async def test_a_search_never_goes_through_all_memories(path):
    """By the plans of its queries, and by how little it asks of an index in which a word is everywhere."""
    async with await SqliteJournal.open(path) as journal:
        rows = [a_memory(f"m_{n}", f"on the road {n}", kind="lesson") for n in range(20_000)]
        await journal._do(lambda store: store._owned(lambda: put(store._db, rows)))
        journal._store._index.waits = True
        assert texts(await journal.search("the road 17")) == ["on the road 17"]
        db = journal._store._db
        for query in (recalling._BEST, recalling._NEWEST):
            asked = "EXPLAIN QUERY PLAN " + query.format(index="lessons_by_word", test="TRUE")
            plan = [row[3] for row in db.execute(asked, ('"road"', 9)).fetchall()]
            assert any("lessons_by_word VIRTUAL TABLE INDEX" in each for each in plan), plan
            assert any("SEARCH memories USING INTEGER PRIMARY KEY" in each for each in plan), plan
            assert not any("SCAN memories " in f"{each} " for each in plan), plan
        steps = []
        db.set_progress_handler(lambda: steps.append(1), 1_000)
        recalling.search(db, "the road", (), 10)
        newest = len(steps)
        recalling.search(db, "on the road 17", (), 10)
        db.set_progress_handler(None, 0)
        assert newest < 200, "instructions, in thousands, for words that all have"
        assert len(steps) - newest < 100

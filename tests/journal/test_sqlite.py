"""E15: the file itself: how it is made, opened, brought forward, refused; and the thread that writes it."""

import asyncio
import fcntl
import gc
import os
import shutil
import sqlite3
import stat
import threading

import pytest
from msgspec.structs import replace

from perdure.journal import SqliteJournal, batch, filesystem, log, reader, schema, writer
from perdure.journal.driver import connect
from perdure.journal.lock import writer_of
from perdure.journal.reader import Reader
from perdure.ports import (
    Closed,
    Corrupt,
    Filter,
    JournalError,
    Locked,
    Malformed,
    NetworkDisk,
    Newer,
    NoJournal,
    OutOfOrder,
    Suspect,
    UnknownRun,
)
from perdure.testing.contracts import MB, OVER, a_turn, an_artifact

EXTRA = "CREATE TABLE extra (a INTEGER) STRICT; -- one\nINSERT INTO extra VALUES (1);\n"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# ------------------------------------------------------------ made and opened


async def test_only_its_owner_can_look_into_it(tmp_path):
    path = tmp_path / "a" / "b" / "runs.db"
    async with await SqliteJournal.open(path) as journal:
        await journal.append(replace(a_turn("r_1", 1), artifacts=[an_artifact(bytes(2 * MB))]))
        files = [each for each in path.parent.rglob("*") if each.is_file()]
        assert len(files) == 6
        assert {mode(each) for each in files} == {0o600}
        assert {mode(each) for each in (path.parent, path.parent.parent, *path.parent.glob("*.objects"))} == {0o700}


async def test_it_is_found_again_by_any_of_its_names(tmp_path, monkeypatch):
    (tmp_path / "link.db").symlink_to(tmp_path / "runs.db")
    monkeypatch.chdir(tmp_path)
    async with await SqliteJournal.open("runs.db") as journal:
        await journal.append(a_turn("r_1", 1))
        with pytest.raises(Locked):
            await SqliteJournal.open(tmp_path / "link.db")
    async with await SqliteJournal.open(tmp_path / "link.db") as again:
        assert (await again.run("@last")).id == "r_1"


async def test_who_only_asks_who_writes_does_not_keep_a_writer_out(tmp_path):
    path = tmp_path / "runs.db"
    assert writer_of(path) == ""
    async with await SqliteJournal.open(path):
        assert f"runs.db is written by process {os.getpid()} on " in writer_of(path)
    assert writer_of(path) == ""
    with (tmp_path / "runs.db.lock").open() as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        threading.Timer(0.005, fcntl.flock, (asking, fcntl.LOCK_UN)).start()
        await (await SqliteJournal.open(path)).close()


async def test_what_a_dead_process_left_of_a_new_file_is_no_hindrance(tmp_path):
    for name in ("runs.db", "runs.db.new", "runs.db.new-journal"):
        (tmp_path / name).write_bytes(b"" if name == "runs.db" else b"half a file")
    async with await SqliteJournal.open(tmp_path / "runs.db") as journal:
        assert await journal.runs() == []
    assert not list(tmp_path.glob("*.new*"))


async def test_a_name_that_needs_quoting_is_only_a_name(tmp_path):
    path = tmp_path / "50% of?mode=memory#all é.db"
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
    assert path.is_file()


@pytest.mark.parametrize("read_only", [True, False])
async def test_what_is_no_journal_is_refused_and_not_touched(read_only, tmp_path):
    (tmp_path / "text.db").write_text("not a database " * 100)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE owner (token)")
    other.close()
    with sqlite3.connect(tmp_path / "foreign.db") as foreign:
        foreign.execute("CREATE TABLE notes (text)")
    foreign.close()
    (tmp_path / "directory.db").mkdir()
    os.mkfifo(tmp_path / "device.db")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.db") if path.is_file()}
    for name in ("text.db", "other.db", "foreign.db", "directory.db", "device.db"):
        with pytest.raises(NoJournal):
            await SqliteJournal.open(tmp_path / name, read_only=read_only)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert (tmp_path / "device.db").is_fifo(), "a journal that is made takes the place of what is there"


async def test_there_is_nothing_to_read_where_there_is_no_file(tmp_path):
    with pytest.raises(NoJournal, match="there is no journal") as refused:
        await SqliteJournal.open(tmp_path / "none" / "runs.db", read_only=True)
    assert "--db" in refused.value.help
    assert not (tmp_path / "none").exists()


async def test_a_reader_only_reads(journal, tmp_path):
    await journal.append(a_turn("r_1", 1))
    async with await SqliteJournal.open(tmp_path / "runs.db", read_only=True) as other:
        for work in (other.append(a_turn("r_1", 2)), other.sweep(0)):
            with pytest.raises(Closed):
                await work
        assert await other.grown("r_1", 0, 1)
        assert not await other.grown("r_1", 1, 0.01)


@pytest.mark.parametrize("read_only", [True, False])
async def test_a_disk_that_is_not_local_is_refused_unless_somebody_insists(read_only, tmp_path, monkeypatch):
    await (await SqliteJournal.open(tmp_path / "runs.db")).close()
    monkeypatch.setitem(filesystem.UNTRUSTED, filesystem.magic_of(tmp_path), "a test")
    with pytest.raises(NetworkDisk, match="lies on a test"):
        await SqliteJournal.open(tmp_path / "runs.db", read_only=read_only)
    await (await SqliteJournal.open(tmp_path / "runs.db", read_only=read_only, network=True)).close()


def test_the_kind_of_a_disk_is_known(tmp_path, monkeypatch):
    assert filesystem.magic_of(tmp_path) not in (0, *filesystem.UNTRUSTED)
    with pytest.raises(FileNotFoundError):
        filesystem.magic_of(tmp_path / "nowhere")
    monkeypatch.setattr(filesystem.sys, "platform", "darwin")
    assert filesystem.magic_of(tmp_path) == 0


# ------------------------------------------------------------ brought forward


async def test_an_older_file_is_brought_forward_with_a_copy_beside_it(tmp_path, monkeypatch):
    path, now = tmp_path / "runs.db", len(schema.steps())
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
    with monkeypatch.context() as later:
        wanted = [*schema.steps(), EXTRA]
        later.setattr(schema, "steps", lambda: wanted)
        async with await SqliteJournal.open(path) as journal:
            await journal.append(a_turn("r_1", 2))
            assert journal._store._db.execute("SELECT a FROM extra").fetchall() == [(1,)]
    for read_only in (True, False):
        with pytest.raises(Newer, match=f"version {now + 1}, this release knows {now}"):
            await SqliteJournal.open(path, read_only=read_only)
    copy = tmp_path / f"runs.db.v{now}"
    assert mode(copy) == 0o600
    assert Reader(copy, connect).verify("r_1").entries == 1


async def test_a_step_forward_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    await (await SqliteJournal.open(path)).close()
    with monkeypatch.context() as later:
        wanted = [*schema.steps(), EXTRA.replace("INTO extra", "INTO nowhere")]
        later.setattr(schema, "steps", lambda: wanted)
        with pytest.raises(Suspect):
            await SqliteJournal.open(path)
    async with await SqliteJournal.open(path) as journal:
        assert journal._store._db.execute("PRAGMA user_version").fetchone() == (len(schema.steps()),)


# ------------------------------------------------------------ the thread that writes


async def test_turns_that_wait_share_a_commit(journal):
    commits = []
    commit = journal._store.commit

    def counted(turns):
        commits.append(len(turns))
        return commit(turns)

    journal._store.commit = counted
    await asyncio.gather(*(journal.append(a_turn(f"r_{n}", 1)) for n in range(1_000)))
    assert sum(commits) == 1_000
    assert len(commits) == 4, "those of one round are handed over together"
    assert max(commits) <= writer.MOST_TURNS


async def test_a_quick_disk_is_waited_for_and_a_slow_one_is_not(journal, monkeypatch):
    monkeypatch.setattr(writer, "QUICK", 10)
    here = journal.append(a_turn("r_1", 1), alone=True)
    assert here.done()
    refused = journal.append(a_turn("r_1", 3), alone=True)
    with pytest.raises(OutOfOrder):
        await refused
    monkeypatch.setattr(writer, "QUICK", 0)
    there = journal.append(a_turn("r_1", 2), alone=True)
    assert not there.done()
    await there
    assert (await journal.verify("r_1")).entries == 2


def test_commits_show_whether_the_disk_is_quick():
    pace = writer._Pace()
    assert pace.is_quick
    pace.took(30)
    assert pace.is_quick, "one slow commit is no slow disk"
    for _ in range(4):
        pace.took(0.01)
    assert not pace.is_quick
    for _ in range(12):
        pace.took(0.0002)
    assert pace.is_quick


async def test_a_commit_is_not_larger_than_needed(journal, monkeypatch):
    monkeypatch.setattr(writer, "MOST_BYTES", 3_000)
    sizes = []
    commit = journal._store.commit
    journal._store.commit = lambda turns: sizes.append(len(turns)) or commit(turns)
    await asyncio.gather(*(journal.append(a_turn(f"r_{n}", 1, body=bytes(1_000))) for n in range(30)))
    assert max(sizes) <= 3


async def test_other_work_waits_its_turn(journal):
    await journal.append(a_turn("r_1", 1))
    waiting = [journal.append(replace(a_turn("r_1", 2), summary=OVER)), journal.append(a_turn("r_2", 1))]
    swept = await journal.sweep(2**60)
    await asyncio.gather(*waiting)
    assert swept.runs == 1
    assert [run.id for run in await journal.runs()] == ["r_2"]


def test_a_loop_that_is_gone_stops_nothing(tmp_path):
    async def leaves():
        journal = await SqliteJournal.open(tmp_path / "runs.db")
        journal.append(a_turn("r_1", 1))
        return journal

    journal = asyncio.run(leaves())
    asyncio.run(journal.close())
    gc.collect()
    assert Reader(tmp_path / "runs.db", connect).verify("r_1").entries == 1


async def test_the_writer_remembers_only_so_many_runs(journal, monkeypatch):
    monkeypatch.setattr(batch, "MOST_HEADS", 3)
    for n in range(8):
        await journal.append(a_turn(f"r_{n}", 1))
    assert len(journal._store._heads._known) == 3
    for n in range(8):
        await journal.append(a_turn(f"r_{n}", 2))
        assert (await journal.verify(f"r_{n}")).bad_seq is None


async def test_a_turn_that_contradicts_the_file_is_refused_alone(journal, tmp_path):
    await journal.append(a_turn("r_1", 1))
    with sqlite3.connect(tmp_path / "runs.db") as meddler:
        meddler.execute("INSERT INTO turns (place, at, body, hash) VALUES ((1 << 32) + 2, 0, x'00', x'')")
    meddler.close()
    outcomes = await asyncio.gather(
        journal.append(a_turn("r_1", 2)), journal.append(a_turn("r_2", 1)), return_exceptions=True
    )
    assert [type(outcome).__name__ for outcome in outcomes] == ["Malformed", "NoneType"]


# ------------------------------------------------------------ what a turn writes


def log_of(path):
    return path.with_name(f"{path.name}-wal")


async def test_a_plain_turn_changes_its_own_page_and_that_of_arrivals(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "FIRST", 2**40)  # the log grows only by what is written
    path, frames = tmp_path / "runs.db", []
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
        for first in range(2, 402, 2):
            before = log_of(path).stat().st_size
            await journal.append(a_turn("r_1", first, 2, body=bytes(90)))
            frames.append((log_of(path).stat().st_size - before) / (4096 + 24))
    assert frames.count(2) > 0.8 * len(frames), "most change these two and no other"
    assert sum(frames) < 2.5 * len(frames), "the others begin a new one"


async def test_pages_stay_full(tmp_path):
    path = tmp_path / "runs.db"
    async with await SqliteJournal.open(path) as journal:
        before = path.stat().st_size
        for first in range(1, 2_001, 2):
            await journal.append(a_turn("r_1", first, 2, body=bytes(90)))
    stored = sum(2 * len(b"StepEnded 1 90 \n") + 2 * 90 + 32 + 12 for _ in range(1_000))
    assert path.stat().st_size - before < 1.15 * stored


async def test_a_listing_shows_the_last_turn(journal, tmp_path):
    for run in ("r_1", "r_2"):
        await journal.append(a_turn(run, 1, 2))
    seen = set()
    for first in range(3, 9, 2):
        await journal.append(a_turn("r_1", first, 2, at=first * 1_000))
        (run,) = [each for each in await journal.runs() if each.id == "r_1"]
        assert (run.head_seq, run.updated) == (first + 1, first * 1_000 + first + 1)
        assert run == await journal.run("r_1") == (await journal.load("r_1"))[0]
        seen.add(run.head)
    assert len(seen) == 3
    assert (await journal.run("r_2")).head_seq == 2
    with sqlite3.connect(tmp_path / "runs.db") as db:
        assert db.execute("SELECT run, seq FROM turns WHERE seal NOT NULL").fetchall() == [(1, 8), (2, 2)]
    db.close()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM turns WHERE seq > 2",
        "DELETE FROM turns",
        "UPDATE turns SET seal = NULL",
    ],
)
async def test_no_turn_follows_on_a_run_whose_end_is_missing(change, tmp_path):
    path = tmp_path / "runs.db"
    async with await SqliteJournal.open(path) as journal:
        for first in (1, 2, 3):
            await journal.append(a_turn("r_1", first))
        with sqlite3.connect(path) as meddler:
            meddler.execute(change)
        meddler.close()
        with pytest.raises(Malformed, match="the end of the run is missing"):
            await journal.append(a_turn("r_1", 4))
        await journal.append(a_turn("r_2", 1))
    async with await SqliteJournal.open(path) as again:
        head = (await again.run("r_1")).head_seq
        assert (await again.verify("r_1")).bad_seq is not None
        with pytest.raises(JournalError):
            await again.append(a_turn("r_1", head + 1))
        assert (await again.verify("r_1")).bad_seq is not None, "and nothing has covered it up"


async def test_pages_of_entries_join_whatever_the_turns(journal):
    first = 1
    for count in (1, 7, 2, 300, 1, 50):
        await journal.append(a_turn("r_1", first, count))
        await journal.append(a_turn("r_2", first, count))
        first += count
    wanted = list(range(1, first))
    for limit in (1, 9, 100, 1_000):
        assert [
            entry.seq for after in wanted[::limit] for entry in await journal.read("r_1", after - 1, limit)
        ] == wanted
    assert await journal.read("r_1", first - 1) == await journal.read("r_1", 2**40) == []
    assert (await journal.read("r_2", -5, 1))[0].seq == 1


# ------------------------------------------------------------ the log, laid out ahead


async def test_the_log_is_made_longer_by_much_at_once(tmp_path):
    path, sizes = tmp_path / "runs.db", []
    async with await SqliteJournal.open(path) as journal:
        for first in range(1, 201):
            await journal.append(a_turn("r_1", first))
            sizes.append(log_of(path).stat().st_size)
        assert sizes[3] < log.FIRST, "who writes a little pays for a little"
        assert len(set(sizes[20:])) < 10, "then nearly all find room in it"
        assert sizes[-1] <= log.WORTH_A_CHECKPOINT * 1.15
        assert (await journal.verify("r_1")).entries == 200
        await journal.sweep(0)
        shutil.copy(path, tmp_path / "copy.db")
        shutil.copy(log_of(path), log_of(tmp_path / "copy.db"))
    async with await SqliteJournal.open(tmp_path / "copy.db") as crashed:
        assert (await crashed.verify("r_1")).entries == 200, "what lies behind the last commit does not count"
        await crashed.append(a_turn("r_1", 201))


async def test_a_log_that_cannot_be_made_longer_is_no_hindrance(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "FIRST", 9_000)
    async with await SqliteJournal.open(tmp_path / "runs.db") as journal:
        pages = journal._store._db.execute("PRAGMA page_count").fetchone()[0]
        journal._store._db.execute(f"PRAGMA max_page_count = {pages + 5}").fetchall()
        for first in range(1, 30):
            await journal.append(a_turn("r_1", first))
        assert (await journal.verify("r_1")).entries == 29


class WithoutRoomAhead:
    """A connection to a disk that takes turns, and nothing larger."""

    def __init__(self, path, mode):
        self._db = connect(path, mode)

    def __getattr__(self, name):
        return getattr(self._db, name)

    def execute(self, sql, *values):
        if "zeroblob" in sql:
            error = sqlite3.OperationalError("attempt to write a readonly database")
            error.sqlite_errorcode = sqlite3.SQLITE_READONLY
            raise error
        return self._db.execute(sql, *values)


async def test_nobody_hears_of_care_that_nobody_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "FIRST", 9_000)
    monkeypatch.setattr(writer, "QUICK", 10)
    heard = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: heard.append(about))
    async with await SqliteJournal.open(tmp_path / "runs.db", connect=WithoutRoomAhead) as journal:
        for first in range(1, 30):
            await journal.append(a_turn("r_1", first), alone=True)
        await journal.sweep(0)  # behind all that was queued
        assert (await journal.verify("r_1")).entries == 29
    gc.collect()
    assert heard == []


# ------------------------------------------------------------ reading


async def test_a_listing_uses_its_indexes(journal):
    db = journal._store._db
    for where, index in (
        (Filter(statuses=["running"]), "runs_by_status"),
        (Filter(session="s_1"), "runs_by_session"),
        (Filter(parent="r_1"), "runs_by_parent"),
    ):
        tests = " AND ".join(test for test, _ in reader._conditions(where, None))
        plan = db.execute(f"EXPLAIN QUERY PLAN SELECT * FROM runs WHERE {tests} ORDER BY number DESC", ["x"]).fetchall()  # noqa: S608
        assert any(index in str(row) for row in plan), plan


async def test_a_page_of_a_run_is_found_by_its_place(journal):
    """However much was written before it, and however many runs there are (E15)."""
    db = journal._store._db
    for page, values in ((reader._TURNS, [0, "r_1", 9]), (reader._ROWS, [0, 1 << 32, 9])):
        steps = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {page}", values)]
        assert not any(step.startswith("SCAN") or "TEMP B-TREE" in step for step in steps), steps


async def test_a_long_run_is_verified_page_by_page(journal):
    for first in range(1, 5_001, 250):
        await journal.append(a_turn("r_1", first, 250))
    run, entries = await journal.load("r_1")
    assert run.head_seq == len(entries) == 5_000
    assert len([line async for line in journal.export("r_1")]) == 21


async def test_an_export_that_nobody_finishes_lets_go(journal):
    for first in range(1, 200):
        await journal.append(a_turn("r_1", first))
    lines = journal.export("r_1")
    assert b"perdure_run" in await anext(lines)
    await lines.aclose()
    with pytest.raises(UnknownRun):
        await anext(journal.export("r_9"))


async def test_a_damaged_page_is_told_as_damage(tmp_path):
    path = tmp_path / "runs.db"
    async with await SqliteJournal.open(path) as journal:
        for first in range(1, 400):
            await journal.append(a_turn("r_1", first))
    data = bytearray(path.read_bytes())
    data[8192:] = bytes(len(data) - 8192)
    path.write_bytes(data)
    for read_only in (True, False):
        with pytest.raises(Corrupt, match="the file is damaged"):
            await SqliteJournal.open(path, read_only=read_only)


async def test_a_large_value_is_written_once(journal, tmp_path):
    value = an_artifact(bytes(2 * MB))
    await journal.append(replace(a_turn("r_1", 1), artifacts=[value]))
    (file,) = (tmp_path / "runs.db.objects").glob("??/*")
    before = file.stat().st_ino
    await journal.append(replace(a_turn("r_2", 1), artifacts=[value]))
    assert file.stat().st_ino == before
    file.write_bytes(b"torn")
    await journal.append(replace(a_turn("r_3", 1), artifacts=[value]))
    assert await journal.artifact(value.digest) == value.data, "bytes that are brought again mend a torn file"


async def test_files_of_turns_that_were_never_kept_are_swept(journal, tmp_path):
    value = an_artifact(bytes(2 * MB))
    refused = replace(a_turn("r_1", 1), artifacts=[value], answered=["q_1"])
    with pytest.raises(Malformed):
        await journal.append(refused)
    assert len(list((tmp_path / "runs.db.objects").glob("??/*"))) == 1
    await journal.sweep(0)
    assert list((tmp_path / "runs.db.objects").glob("??/*")) == []


async def test_sweeping_gives_room_back(journal, tmp_path):
    for n in range(150):
        values = [an_artifact(f"{n}".encode() * 20_000)]
        await journal.append(replace(a_turn(f"r_{n}", 1), artifacts=values, summary=OVER))
    swept = await journal.sweep(2**60, keep=5)
    assert (swept.runs, swept.artifacts) == (145, 145)
    await journal.close()
    assert (tmp_path / "runs.db").stat().st_size < 2 * MB


async def test_two_can_wait_for_one_run(journal):
    waiting = [asyncio.create_task(journal.grown("r_1", 0, 10)) for _ in range(2)]
    gone = asyncio.create_task(journal.grown("r_1", 0, 10))
    await asyncio.sleep(0.05)
    gone.cancel()
    await journal.append(a_turn("r_1", 1))
    assert await asyncio.gather(*waiting) == [True, True]

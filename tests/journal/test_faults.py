"""Disks that are full, broken or read-only: a clear word each, nothing half written, nothing lost (R11, R15)."""

import asyncio
import errno
import os
import sqlite3
import subprocess
from itertools import count

import apsw
import pytest
from msgspec.structs import replace
from simulated_disk import Disk

from perdure.journal import SqliteJournal, ballast, follow, log
from perdure.journal.faults import told
from perdure.journal.filesystem import write_durably
from perdure.ports import (
    Corrupt,
    DiskFull,
    Fenced,
    Locked,
    NoJournal,
    ReadOnlyDisk,
    Suspect,
)
from perdure.testing.contracts import MB, a_turn, an_artifact

NAMES = (f"faults{n}" for n in count())


def with_value(turn, size):
    return replace(turn, artifacts=[an_artifact(os.urandom(size))])


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 14 MB; it needs the right to mount."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=14m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("may not mount")
    yield place
    subprocess.run(["/bin/umount", place], check=True)


def remounted(place, how):
    subprocess.run(["/bin/mount", "-o", f"remount,{how}", place], check=True)


def fill(path):
    """Take all the room that is left."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            assert error.errno == errno.ENOSPC


# ------------------------------------------------------------ full


async def test_a_full_disk_keeps_room_for_the_last_words(small_disk):
    reserve = small_disk / "runs.db.ballast"
    async with await SqliteJournal.open(small_disk / "runs.db") as journal:
        await journal.append(a_turn("r_1", 1))
        assert reserve.stat().st_blocks * 512 >= ballast.SIZE
        fill(small_disk / "filler")
        with pytest.raises(DiskFull, match="nothing was kept"):
            await journal.append(with_value(a_turn("r_1", 2), MB))
        assert not reserve.exists()
        await journal.append(a_turn("r_1", 2, body=b'"paused: the disk is full"'))
        (small_disk / "filler").unlink()
        await journal.append(with_value(a_turn("r_1", 3), MB))
        await journal.append(a_turn("r_1", 4))
        assert reserve.stat().st_size == ballast.SIZE
        assert [entry.seq for entry in await journal.read("r_1")] == [1, 2, 3, 4]
        assert (await journal.verify("r_1")).bad_seq is None


async def test_a_full_disk_fails_files_of_artifacts_too(small_disk):
    async with await SqliteJournal.open(small_disk / "runs.db") as journal:
        fill(small_disk / "filler")
        with pytest.raises(DiskFull):
            await journal.append(with_value(a_turn("r_1", 1), 3 * MB))
        assert await journal.runs() == []
    assert not [*small_disk.rglob("*.new")], "half a file would take the room that is missing"


async def test_a_journal_opens_on_a_full_disk_after_a_crash(small_disk):
    await (await SqliteJournal.open(small_disk / "runs.db")).close()
    fill(small_disk / "filler")
    async with await SqliteJournal.open(small_disk / "runs.db") as journal:
        await journal.append(a_turn("r_1", 1))
    fill(small_disk / "more")
    with pytest.raises(DiskFull):
        await SqliteJournal.open(small_disk / "runs.db")
    reader = await SqliteJournal.open(small_disk / "runs.db", read_only=True)
    assert [run.id for run in await reader.runs()] == ["r_1"]


async def test_a_full_file_fails_those_who_wait_and_nobody_later(journal):
    await journal.append(a_turn("r_1", 1))
    pages = journal._store._db.execute("PRAGMA page_count").fetchone()[0]
    journal._store._db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()
    waiting = [journal.append(with_value(a_turn(f"r_{n}", 1), MB // 4)) for n in range(2, 6)]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {DiskFull}
    journal._store._db.execute("PRAGMA max_page_count = 100000").fetchall()
    await asyncio.gather(*(journal.append(a_turn(f"r_{n}", 1)) for n in range(2, 6)))
    assert len(await journal.runs()) == 5


def test_the_reserve_is_no_condition(tmp_path, monkeypatch):
    monkeypatch.setattr(ballast, "PLENTY", 2**62)
    reserve = ballast.Ballast(tmp_path / "reserve")
    reserve.take()
    assert not reserve.held
    assert not reserve.give_up()
    gone = ballast.Ballast(tmp_path / "nowhere" / "reserve")
    gone.take()
    assert not gone.held


# ------------------------------------------------------------ broken


@pytest.mark.parametrize("operation", ["write", "sync"])
async def test_after_an_error_of_the_disk_nothing_is_taken_until_the_journal_is_opened_again(operation, tmp_path):
    disk = Disk(tmp_path, next(NAMES))
    journal = await SqliteJournal.open(tmp_path / "runs.db", connect=disk.connect)
    await journal.append(a_turn("r_1", 1))
    disk.fault = lambda kind, name: kind == operation and "wal" in name and apsw.exceptionfor(apsw.SQLITE_IOERR)
    with pytest.raises(Suspect, match="in doubt"):
        await journal.append(a_turn("r_1", 2))
    disk.fault = None
    with pytest.raises(Suspect):
        await journal.append(a_turn("r_2", 1))
    with pytest.raises(Suspect):
        await journal.sweep(0)
    await journal.close()
    async with await SqliteJournal.open(tmp_path / "runs.db") as again:
        head = (await again.run("r_1")).head_seq
        assert head in (1, 2), "the doubtful turn is whole or absent"
        assert (await again.verify("r_1")).bad_seq is None
        await again.append(a_turn("r_1", head + 1))


async def test_an_error_while_the_log_is_brought_in_leaves_doubt_too(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "WORTH_A_CHECKPOINT", 1)
    disk = Disk(tmp_path, next(NAMES))
    journal = await SqliteJournal.open(tmp_path / "runs.db", connect=disk.connect)
    await journal.append(a_turn("r_1", 1))
    await journal.sweep(0)  # by now the first one was tended to
    disk.fault = lambda kind, name: kind == "sync" and name == "runs.db" and apsw.exceptionfor(apsw.SQLITE_IOERR_FSYNC)
    await journal.append(a_turn("r_1", 2))  # it is in the log, and safe
    with pytest.raises(Suspect):
        await journal.append(a_turn("r_1", 3))
    disk.fault = None
    await journal.close()
    async with await SqliteJournal.open(tmp_path / "runs.db") as again:
        assert (await again.run("r_1")).head_seq == 2


@pytest.mark.parametrize("operation", ["write", "sync", "create", "truncate", "sync directory"])
async def test_an_error_while_a_journal_is_made_leaves_none(operation, tmp_path):
    disk = Disk(tmp_path, next(NAMES))
    disk.fault = lambda kind, _: kind == operation and apsw.exceptionfor(apsw.SQLITE_IOERR)
    try:
        journal = await SqliteJournal.open(tmp_path / "runs.db", connect=disk.connect)
    except Suspect:
        assert not (tmp_path / "runs.db").exists()
    else:
        disk.fault = None
        await journal.close()
    async with await SqliteJournal.open(tmp_path / "runs.db") as again:
        await again.append(a_turn("r_1", 1))


async def test_another_program_that_holds_the_file_is_waited_for_and_then_told_of(journal, tmp_path):
    journal._store._db.execute("PRAGMA busy_timeout = 10").fetchall()
    other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Locked, match="another program"):
        await journal.append(a_turn("r_1", 1))
    other.execute("ROLLBACK")
    other.close()
    await journal.append(a_turn("r_1", 1))


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (OSError(errno.ENOSPC, ""), DiskFull),
        (OSError(errno.EDQUOT, ""), DiskFull),
        (OSError(errno.EROFS, ""), ReadOnlyDisk),
        (OSError(errno.EACCES, ""), ReadOnlyDisk),
        (OSError(errno.EIO, ""), Suspect),
        (OSError(errno.EMFILE, ""), Suspect),
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_READONLY, ReadOnlyDisk),
        (sqlite3.SQLITE_CANTOPEN, ReadOnlyDisk),
        (sqlite3.SQLITE_BUSY, Locked),
        (sqlite3.SQLITE_IOERR, Suspect),
        (sqlite3.SQLITE_IOERR | 4 << 8, Suspect),
        (sqlite3.SQLITE_NOMEM, Suspect),
        (sqlite3.SQLITE_CORRUPT, Corrupt),
        (sqlite3.SQLITE_NOTADB, NoJournal),
        (RuntimeError("what?"), Suspect),
        (Fenced("as it is"), Fenced),
    ],
)
def test_every_error_has_a_word(error, word):
    if isinstance(error, int):
        code, error = error, sqlite3.OperationalError("it said so")
        error.sqlite_errorcode = code
    assert type(told(error)) is word


# ------------------------------------------------------------ read-only


async def test_on_a_read_only_disk_runs_can_be_looked_at(small_disk):
    path = small_disk / "runs.db"
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
    remounted(small_disk, "ro")
    try:
        with pytest.raises(ReadOnlyDisk, match="cannot be written"):
            await SqliteJournal.open(path)
        with pytest.raises(ReadOnlyDisk):
            await SqliteJournal.open(small_disk / "new" / "runs.db")
        async with await SqliteJournal.open(path, read_only=True) as reader:
            assert [run.id for run in await reader.runs()] == ["r_1"]
            assert (await reader.verify("r_1")).bad_seq is None
    finally:
        remounted(small_disk, "rw")


async def test_a_log_that_nobody_brought_in_is_not_passed_over(small_disk):
    path, log = small_disk / "runs.db", small_disk / "runs.db-wal"
    journal = await SqliteJournal.open(path)
    await journal.append(a_turn("r_1", 1))
    whole, rest = path.read_bytes(), log.read_bytes()
    await journal.close()
    path.write_bytes(whole)
    log.write_bytes(rest)
    remounted(small_disk, "ro")
    try:
        with pytest.raises(ReadOnlyDisk):
            await SqliteJournal.open(path, read_only=True)
    finally:
        remounted(small_disk, "rw")
    async with await SqliteJournal.open(path) as again:
        assert [run.id for run in await again.runs()] == ["r_1"]


async def test_a_disk_that_becomes_read_only_fails_turns_and_recovers(tmp_path):
    disk = Disk(tmp_path, next(NAMES))
    async with await SqliteJournal.open(tmp_path / "runs.db", connect=disk.connect) as journal:
        disk.fault = lambda kind, _: kind == "write" and apsw.exceptionfor(apsw.SQLITE_READONLY)
        with pytest.raises(ReadOnlyDisk):
            await journal.append(a_turn("r_1", 1))
        disk.fault = None
        await journal.append(a_turn("r_1", 1))


def test_a_write_that_fails_leaves_no_file_under_its_name(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="no"):
        write_durably(tmp_path / "value", b"x")
    assert not (tmp_path / "value").exists()


# ------------------------------------------------------------ the log


def log_size(path):
    return path.with_name(f"{path.name}-wal").stat().st_size


async def test_the_log_stays_short_while_somebody_follows_slowly(journal, tmp_path):
    await journal.append(a_turn("r_1", 1))
    slow = follow(journal, "r_1")
    await anext(slow)
    for n in range(2, 42):
        await journal.append(with_value(a_turn("r_1", n), MB))
        assert log_size(tmp_path / "runs.db") <= log.LIMIT
    await slow.aclose()


async def test_the_log_shrinks_when_a_stuck_reader_has_gone(journal, tmp_path):
    await journal.append(a_turn("r_1", 1))
    stuck = sqlite3.connect(f"file:{tmp_path / 'runs.db'}?mode=ro", uri=True, isolation_level=None)
    stuck.execute("BEGIN")
    stuck.execute("SELECT * FROM runs").fetchall()
    for n in range(2, 22):
        await journal.append(with_value(a_turn("r_1", n), MB))
    assert log_size(tmp_path / "runs.db") > log.LIMIT, "another program's reader cannot be cut from here"
    stuck.execute("ROLLBACK")
    stuck.close()
    for n in range(22, 32):
        await journal.append(with_value(a_turn("r_1", n), MB))
    assert log_size(tmp_path / "runs.db") <= log.LIMIT
    assert (await journal.verify("r_1")).bad_seq is None

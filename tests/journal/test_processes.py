"""E10: several processes and one file: kills, take-overs, readers and zombies (R1, R8)."""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from types import ModuleType

import journal_writer
import pytest
from journal_writer import ENTRIES, heads_in

from perdure.journal import MemoryJournal, SqliteJournal, follow
from perdure.journal.driver import connect
from perdure.journal.reader import Reader
from perdure.ports import Fenced, Locked
from perdure.testing.contracts import a_turn


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["asyncio", "perdure.journal", "perdure.testing.contracts"])
    return context


@pytest.fixture
def start(processes, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    started = []

    def begin(target, *arguments, duplex=False):
        ours, theirs = processes.Pipe(duplex)
        process = processes.Process(target=target, args=(*arguments, theirs), daemon=True)
        process.start()
        theirs.close()
        started.append((process, ours))
        return process, ours

    def end():
        for process, pipe in started:
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
            process.join()
            process.close()
            pipe.close()
        started.clear()

    begin.end = end
    yield begin
    end()


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def rest_of(pipe):
    """What a dead process had reported."""
    try:
        while True:
            yield pipe.recv()
    except (EOFError, OSError):
        return


@pytest.mark.campaign("kills of a process that writes a journal", "I1 I5 I7", of="kills", times=10)
def test_a_kill_loses_nothing_that_was_acknowledged(start, tmp_path, trials):
    busy = 0
    for seed, place in trials.places(tmp_path, 7):  # a new file each time, so that its making is killed too
        busy += killed_while_writing(start, place / "runs.db", random.Random(f"kills {seed}"))
        start.end()
    assert busy >= trials.tried * 5, "many were killed while they wrote"


def killed_while_writing(start, path, draw):
    """How many of ten have written something before they were killed."""
    acknowledged, tokens, busy = {}, [], 0
    for n in range(10):
        process, pipe = start(journal_writer.write_for_ever, path, n)
        said = [pipe.recv(), pipe.recv()] if n % 2 else []  # each other one is killed while it writes, on any machine
        time.sleep(draw.uniform(0, 0.12))
        kill(process)
        before = sum(acknowledged.values())
        for run, head in (*said, *rest_of(pipe)):
            if run == "open":
                tokens.append(head)
            else:
                acknowledged[run] = max(head, acknowledged.get(run, 0))
        busy += sum(acknowledged.values()) > before
        heads = heads_in(path)
        assert all(head % ENTRIES == 0 for head in heads.values()), "a turn is whole"
        assert [run for run in acknowledged if heads.get(run, 0) < acknowledged[run]] == [], f"kill {n}"
        assert tokens == sorted(set(tokens)), "each process has a token of its own"
    return busy


async def test_turns_of_another_process_arrive_once_and_in_order_across_kills(start, tmp_path):
    path, found = tmp_path / "runs.db", []
    for n in range(3):
        process, pipe = start(journal_writer.write_for_ever, path, n)
        assert pipe.recv()[0] == "open"
        async with await SqliteJournal.open(path, read_only=True) as journal:
            wanted = len(found) + 100
            while len(found) < wanted:
                after = found[-1].number if found else 0
                assert await journal.arrives(after, 60)
                found += await journal.arrived(after, 30)
        kill(process)
    async with await SqliteJournal.open(path) as journal:
        found += await journal.arrived(found[-1].number, 10_000)
        assert found == await journal.arrived(limit=len(found) + 1), "whoever looks once sees the same"
        for run in journal_writer.RUNS:
            assert [entry for turn in found if turn.run == run for entry in turn.entries] == await journal.read(
                run, limit=100_000
            )


@pytest.mark.campaign("kills of processes that contend for a journal", "I7", of="kills", times=20)
def test_processes_that_contend_never_write_at_once(start, tmp_path, trials):
    for seed, place in trials.places(tmp_path, 1):
        path, draw = place / "runs.db", random.Random(f"contend {seed}")
        place.mkdir()
        workers = [start(journal_writer.contend, path, n) for n in range(3)]
        for n in range(20):
            time.sleep(draw.uniform(0.02, 0.12))
            one = draw.randrange(3)
            kill(workers[one][0])
            workers[one] = start(journal_writer.contend, path, 100 + n)
        start.end()
        assert_one_owner_a_token(path)


def assert_one_owner_a_token(path):
    owners = {}
    reader = Reader(path, connect)
    for run in heads_in(path):
        bodies = [json.loads(entry.body) for entry in reader.load(run)[1]]
        assert [body["token"] for body in bodies] == sorted(body["token"] for body in bodies)
        for body in bodies:
            assert owners.setdefault(body["token"], body["pid"]) == body["pid"], "one owner per token"
    assert len(owners) > 2


async def test_a_second_writer_is_told_who_has_it_and_a_reader_follows(start, tmp_path):
    path = tmp_path / "runs.db"
    process, pipe = start(journal_writer.write_for_ever, path, 1)
    token = pipe.recv()[1]
    with pytest.raises(Locked, match=rf"runs\.db is written by process {process.pid} on .* since 2"):
        await SqliteJournal.open(path)
    seen = []
    async with await SqliteJournal.open(path, read_only=True) as reader:
        while pipe.recv()[0] != "r_1":
            pass
        async for entry in follow(reader, "r_1", poll=0.01):
            seen.append(entry.seq)
            if entry.seq >= 3 * ENTRIES:
                break
    assert seen == list(range(1, 3 * ENTRIES + 1))
    kill(process)
    async with await SqliteJournal.open(path) as journal:
        assert journal._store._token == token + 1
        head = (await journal.run("r_1")).head_seq
        await journal.append(a_turn("r_1", head + 1))


async def test_a_zombie_is_fenced(start, tmp_path):
    path = tmp_path / "runs.db"
    process, pipe = start(journal_writer.hold, path, duplex=True)
    assert pipe.recv() == "open"
    pipe.send(2)
    assert pipe.recv() == "kept"
    pipe.send("let go")
    assert pipe.recv() == "gone"
    os.kill(process.pid, signal.SIGSTOP)
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 3))
        os.kill(process.pid, signal.SIGCONT)
        for first in (3, 4):
            pipe.send(first)
            assert pipe.recv() in ("Fenced", "OutOfOrder")
        pipe.send(3)
        assert pipe.recv() == "Fenced"
        await journal.append(a_turn("r_1", 4))
        assert [entry.seq for entry in await journal.read("r_1")] == [1, 2, 3, 4]
        assert (await journal.verify("r_1")).bad_seq is None


async def test_a_zombie_neither_sweeps_nor_takes_in(journal, tmp_path):
    other = MemoryJournal()
    await other.append(a_turn("r_2", 1))
    lines = [line async for line in other.export("r_2")]
    journal._closing.close()
    async with await SqliteJournal.open(tmp_path / "runs.db"):
        with pytest.raises(Fenced):
            await journal.sweep(2**60)
        with pytest.raises(Fenced):
            await journal.take_in(lines)


async def test_the_lock_says_something_even_if_its_note_is_gone(journal, tmp_path):
    assert await journal.runs() == []
    (tmp_path / "runs.db.lock").write_text("")
    with pytest.raises(Locked, match=r"runs\.db is written by another process"):
        await SqliteJournal.open(tmp_path / "runs.db")

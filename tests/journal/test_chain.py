"""E9: every change of what is stored is found, and the first entry that cannot be believed is named (R12)."""

import random
import shutil
import sqlite3
from contextlib import closing, suppress

import pytest
from msgspec.structs import replace

from perdure.journal import SqliteJournal
from perdure.journal.chain import START, Marks, hash_of, judge, marks_of, name_of, seal_of, shown_of
from perdure.journal.driver import connect
from perdure.journal.packing import pack, unpack
from perdure.journal.reader import Reader
from perdure.ports import Corrupt, Entry, JournalError, Run, Summary
from perdure.testing.contracts import MB, RUNNING, a_turn, an_artifact

COLUMNS = {
    "turns": ("place", "at", "body", "hash", "seal"),
    "runs": ("id", "created", "status", "goal", "session", "parent", "wake_at", "over", "counters"),
    "named": ("run", "seq", "artifact"),
    "questions": ("run", "id", "asked_seq", "answered_seq"),
    "artifacts": ("digest", "size", "data"),
}  # fmt: skip


async def filled(path):
    """A journal with something in every table and two runs of some length."""
    async with await SqliteJournal.open(path) as journal:
        for run in ("r_1", "r_2"):
            values = [an_artifact(run.encode() * 10), an_artifact(run.encode() * MB)]
            first = replace(a_turn(run, 1, 3), artifacts=values, asked=["q_1", "q_2"])
            await journal.append(replace(first, summary=Summary("running", "Ship", "s_1", "r_0", 5)))
            for n in range(4, 24, 2):
                await journal.append(a_turn(run, n, 2, body=b'{"n":%d}' % n))
            await journal.append(replace(a_turn(run, 24), answered=["q_1"], artifacts=values[:1]))


async def changed(path, *statements):
    """What verification says after somebody has changed the file."""
    with sqlite3.connect(path) as db:
        for sql, *values in statements:
            db.execute(sql, values)
    db.close()
    async with await SqliteJournal.open(path) as journal:
        return await verdicts(journal)


async def verdicts(journal):
    found = {}
    for run in ("r_1", "r_2"):
        try:
            found[run] = (await journal.verify(run)).bad_seq
        except JournalError as error:
            found[run] = type(error).__name__
    return found


def other_than(value, draw):
    """A different value of the same type."""
    if isinstance(value, int):
        return value + draw.choice([-1, 1, 2, 1000])
    if value is None:
        return draw.choice([1, 24, 99])
    data = bytearray(value.encode() if isinstance(value, str) else value) or bytearray(b"x")
    if len(data) > 1 or isinstance(value, bytes):
        place = draw.randrange(len(data))
        data[place] ^= 1 << draw.randrange(6)
    found = bytes(data)
    if isinstance(value, bytes):
        return found if found != value else found + b"x"
    text = found.decode("ascii", "replace")
    return text if text != value else text + "x"


@pytest.mark.campaign("values changed in the file", "I6", of="changed values")
async def test_every_change_of_a_stored_value_is_found(tmp_path, trials):
    source, path = tmp_path / "source.db", tmp_path / "copy.db"
    await filled(source)
    shutil.copytree(tmp_path / "source.db.objects", tmp_path / "copy.db.objects")
    for seed in trials(320):
        draw, changed = random.Random(f"values {seed}"), None
        while changed is None:
            shutil.copy(source, path)
            changed = change_a_value(path, draw)
        async with await SqliteJournal.open(path) as journal:
            assert set((await verdicts(journal)).values()) != {None}, changed


def change_a_value(path, draw):
    """Which one; none if the file does not allow the other value."""
    table = draw.choice(["turns", "turns", *COLUMNS])
    column = draw.choice(COLUMNS[table])
    with closing(sqlite3.connect(path)) as db, db:
        keys = {"turns": "place", "named": "run, seq, artifact"}.get(table, "number")
        rows = db.execute(f"SELECT {keys}, {column} FROM {table}").fetchall()  # noqa: S608  our own names
        *key, value = draw.choice(rows)
        where = " AND ".join(f"{name} = ?" for name in keys.split(", "))
        try:
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (other_than(value, draw), *key))  # noqa: S608
        except sqlite3.IntegrityError:
            return None
    return table, column, value


@pytest.mark.campaign("bits flipped in the file", "I6", of="flipped bits")
async def test_flipped_bits_of_the_file_never_pass(tmp_path, trials):
    flip = await flipping(tmp_path)
    for seed in trials(120):
        await flip(seed)


@pytest.mark.parametrize("seed", [7_449_573_322, 2_843_482_375])
async def test_flipped_bits_that_once_passed(tmp_path, seed):
    """A row of another run that an index led to: that is not the row that was written."""
    await (await flipping(tmp_path))(seed)


async def flipping(tmp_path):
    source, path = tmp_path / "source.db", tmp_path / "copy.db"
    await filled(source)
    shutil.copytree(tmp_path / "source.db.objects", tmp_path / "copy.db.objects")
    whole, before = source.read_bytes(), dump(source)

    async def flip(seed):
        draw, data = random.Random(f"bits {seed}"), bytearray(whole)
        place = draw.randrange(len(data))
        data[place] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        try:
            journal = await SqliteJournal.open(path, read_only=True)
        except JournalError:
            return
        fine = all(verdict is None for verdict in (await verdicts(journal)).values())
        assert not fine or dump(path) == before or Reader(path, connect).flaws(1), (
            place
        )  # what no run leads to, doctor looks at

    return flip


@pytest.mark.parametrize(("table", "old", "new"), [("runs", b"r_1", b"r_3"), ("questions", b"q_1", b"q_9")])
async def test_a_row_that_is_another_one_than_its_index_says_is_not_believed(tmp_path, table, old, new):
    path = tmp_path / "runs.db"
    await filled(path)
    with closing(sqlite3.connect(path)) as db:
        [page] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        [size] = db.execute("PRAGMA page_size").fetchone()
    data = path.read_bytes()
    rows = data[(page - 1) * size : page * size]
    assert old in rows
    path.write_bytes(data[: (page - 1) * size] + rows.replace(old, new) + data[page * size :])
    async with await SqliteJournal.open(path) as journal:
        assert (await journal.verify("r_1")).bad_seq is not None


def dump(path):
    """All rows; none, if SQLite says itself that they cannot be read."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db, suppress(sqlite3.DatabaseError):
        return [db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in COLUMNS]  # noqa: S608
    return []


@pytest.mark.parametrize(
    ("statements", "bad"),
    [
        ([("UPDATE turns SET body = x'00' WHERE run = 1 AND seq = 9",)], 8),
        ([("UPDATE turns SET body = CAST(replace(body, '8', '9') AS BLOB) WHERE run = 1 AND seq = 9",)], 8),
        ([("UPDATE turns SET at = at + 1 WHERE run = 1 AND seq = 9",)], 8),
        ([("DELETE FROM turns WHERE run = 1 AND seq = 3",)], 1),
        ([("DELETE FROM turns WHERE run = 1 AND seq = 9",)], 8),
        ([("DELETE FROM turns WHERE run = 1 AND seq = 24",)], 24),
        ([("DELETE FROM turns WHERE run = 1 AND seq > 21",)], 22),
        ([("DELETE FROM turns WHERE run = 1",)], 1),
        ([("UPDATE turns SET seal = NULL WHERE run = 1",)], 25),
        ([("UPDATE turns SET seal = zeroblob(32) WHERE run = 1 AND seq = 24",)], 24),
        ([("UPDATE turns SET seal = zeroblob(32) WHERE run = 1 AND seq = 9",)], 10),
        (
            [
                (
                    "UPDATE turns SET seal = (SELECT seal FROM turns WHERE run = 1 AND seq = 24) WHERE run = 1 AND seq = 23",
                ),
                ("DELETE FROM turns WHERE run = 1 AND seq = 24",),
                ("UPDATE questions SET answered_seq = NULL WHERE run = 1 AND id = 'q_1'",),
                ("DELETE FROM named WHERE run = 1 AND seq = 24",),
            ],
            23,
        ),
        ([("UPDATE runs SET status = 'failed' WHERE number = 1",)], 24),
        ([("UPDATE runs SET created = created - 1 WHERE number = 1",)], 24),
        ([("INSERT INTO turns (place, at, body, hash) VALUES ((1 << 32) + 25, 0, x'00', zeroblob(32))",)], 25),
        ([("DELETE FROM named WHERE run = 1 AND seq = 24",)], 24),
        ([("DELETE FROM artifacts WHERE number = 1",)], 1),
        ([("UPDATE artifacts SET data = x'00' WHERE number = 1",)], 3),
        ([("INSERT INTO questions VALUES (9, 1, 'q_9', 3, NULL)",)], 1),
        ([("INSERT INTO questions VALUES (9, 1, 'q_9', 2, NULL)",)], 25),
        ([("UPDATE questions SET answered_seq = 99 WHERE run = 1 AND id = 'q_2'",)], 25),
        (
            [
                ("UPDATE turns SET place = 9 WHERE run = 1 AND seq = 9",),
                ("UPDATE turns SET place = place - 2 WHERE run = 1 AND seq = 11",),
                ("UPDATE turns SET place = (1 << 32) + 11 WHERE place = 9",),
            ],
            8,
        ),
    ],
)
async def test_the_first_bad_entry_is_named_and_other_runs_are_fine(statements, bad, tmp_path):
    await filled(tmp_path / "runs.db")
    found = await changed(tmp_path / "runs.db", *statements)
    assert found["r_1"] == bad
    assert found["r_2"] is None or statements[0][0].startswith("INSERT INTO questions")


async def test_a_file_of_an_artifact_is_looked_at_too(tmp_path):
    await filled(tmp_path / "runs.db")
    large = sorted((tmp_path / "runs.db.objects").glob("??/*"))
    assert len(large) == 2
    large[0].write_bytes(b"x" * large[0].stat().st_size)
    large[1].unlink()
    assert await changed(tmp_path / "runs.db") == {"r_1": 3, "r_2": 3}


async def test_a_run_that_was_changed_is_not_loaded(tmp_path):
    await filled(tmp_path / "runs.db")
    await changed(tmp_path / "runs.db", ("UPDATE turns SET at = 0 WHERE run = 1 AND seq = 5",))
    async with await SqliteJournal.open(tmp_path / "runs.db") as journal:
        with pytest.raises(Corrupt, match="entry 4 of r_1 cannot be believed"):
            await journal.load("r_1")
        assert len((await journal.load("r_2"))[1]) == 24
        assert len(await journal.read("r_1", limit=3)) == 3, "what can be read can be looked at"


async def test_memory_is_judged_by_the_same_chain():
    from perdure.journal import MemoryJournal

    journal = MemoryJournal()
    await journal.append(a_turn("r_1", 1, 2))
    held = journal._runs["r_1"]
    held.turns[0] = held.turns[0]._replace(at=0)
    assert (await journal.verify("r_1")).bad_seq == 1
    with pytest.raises(Corrupt):
        await journal.load("r_1")


def test_the_hash_of_a_turn_keeps_its_meaning():
    turn = replace(a_turn("r_1", 1, 2, at=0, body=b"{}"), asked=["q_1"])
    found = hash_of(name_of("r_1"), 2, 2, pack(turn.entries), marks_of(turn), START)
    assert found.hex() == "e025bce0241ab2f2cba62d76a474b92cb58681f0c055d8c33b8b8692151152e7"
    assert (
        seal_of(shown_of("r_1", RUNNING), 2, 1, 2, found).hex()
        == "3a146d448d60df9e236d6ceab09fd63b9b4b532cf383b9db18ff352473cab805"
    )


def test_no_two_turns_read_alike():
    rows = [Entry("r", 1, "a", 0, b"bc")], [Entry("r", 1, "ab", 0, b"c")], [Entry("r", 1, "a", 0, b"b")]
    marks = [{}, {"artifacts": ["x"]}, {"asked": ["x"]}, {"answered": ["x"]}, {"asked": ["x", "y"]}, {"asked": ["xy"]}]
    hashes = {
        hash_of(name_of(run), seq, at, pack(each), Marks(**mark), START)
        for run in ("r", "s")
        for seq, at in ((1, 0), (2, 0), (1, 5))
        for each in rows
        for mark in marks
    }
    assert len(hashes) == 2 * 3 * len(rows) * len(marks)


def test_a_run_without_entries_cannot_be_believed():
    run = Run("r_1", 1, 2, "", 0, 0, RUNNING)
    assert judge(run, []).bad_seq == 1


def test_what_is_packed_can_be_read_and_comes_back():
    entries = [
        Entry("r_1", 7, "step_ended", 5, b"{}"),
        Entry("r_1", 8, "Odd", -9, b"a b 3 \n"),
        Entry("r_1", 9, "x", 3, b""),
    ]
    body = pack(entries)
    assert body == b"step_ended -2 2 {}\nOdd 12 7 a b 3 \n\nx 0 0 \n"
    assert unpack("r_1", 9, 3, body) == entries


@pytest.mark.parametrize(
    "body", [b"", b"\x00", b"x 0 2 {}", b"x 0 3 {}\n", b"x 0 1 {}\n", b"x 0 {}\n", b"x y 2 {}\n", b"x 0 2 {}\nx"]
)
def test_what_was_not_packed_is_told_as_damage(body):
    with pytest.raises(Corrupt, match="the turn that ends with entry 9 of r_1 cannot be read"):
        unpack("r_1", 9, 3, body)

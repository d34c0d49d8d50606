"""The hash chain: how turns are hashed as they are stored, and how a stored run is judged.

The hash of a turn covers the hash of the turn before it, so that every byte of a run hangs together. The seal of a
run covers its last hash and what a listing shows of it; it is stored beside the run and shown as its `head`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Final

from perdure.ports import Run, Turn, Verdict

START: Final = bytes(32)
"""Stands where a first turn would name the turn before it."""
_ENTRY: Final = Struct(">qqII")
_LENGTH: Final = Struct(">I")
_NUMBER: Final = Struct(">q")


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as it is stored; the last one of a turn carries the turn's hash."""

    seq: int
    type: str
    at: int
    body: bytes
    hash: bytes | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn as it is stored."""

    rows: Sequence[Row]
    artifacts: Sequence[str] = ()
    asked: Sequence[str] = ()
    answered: Sequence[str] = ()


def digest_of(data: bytes) -> str:
    """The name of a value."""
    return sha256(data).hexdigest()


def kept(turn: Turn, before: bytes) -> Kept:
    """A turn as it will be stored, after the turn with the hash `before`."""
    *first, last = turn.entries
    artifacts = sorted({artifact.digest for artifact in turn.artifacts})
    plain = [Row(entry.seq, entry.type, entry.at, entry.body, None) for entry in first]
    final = Row(last.seq, last.type, last.at, last.body, None)
    found = Kept([*plain, final], artifacts, sorted(turn.asked), sorted(turn.answered))
    sealed = Row(last.seq, last.type, last.at, last.body, hash_of(turn.run, found, before))
    return Kept([*plain, sealed], found.artifacts, found.asked, found.answered)


def hash_of(run: str, turn: Kept, before: bytes) -> bytes:
    """The hash of a turn. Every part goes in with its length, so that no two turns read alike."""
    parts = [before, *_texts([run])]
    for row in turn.rows:
        word = row.type.encode()
        parts += (_ENTRY.pack(row.seq, row.at, len(word), len(row.body)), word, row.body)
    parts += _ends(turn)
    return sha256(b"".join(parts)).digest()


def _ends(turn: Kept) -> Iterable[bytes]:
    for texts in (turn.artifacts, turn.asked, turn.answered):
        yield _LENGTH.pack(len(texts))
        yield from _texts(texts)


def _texts(texts: Iterable[str]) -> Iterable[bytes]:
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        yield _LENGTH.pack(len(data))
        yield data


def seal_of(run: Run, last: bytes) -> str:
    """A hash over the last turn's hash and everything a listing shows of the run."""
    summary = run.summary
    parts = [last, *_texts([run.id, summary.status, summary.goal, summary.session, summary.parent])]
    numbers = (run.head_seq, run.created, run.updated, summary.over, summary.wake_at is None, summary.wake_at or 0)
    parts += [*map(_NUMBER.pack, numbers), summary.counters]
    return sha256(b"".join(parts)).hexdigest()


def judge(run: Run, turns: Iterable[Kept]) -> Verdict:
    """Walk through a stored run and name the first entry that cannot be believed."""
    last, seq = START, 0
    for turn in turns:
        if reason := _flaw(run.id, turn, seq, last):
            return Verdict(run.id, seq, seq + 1, reason)
        last, seq = turn.rows[-1].hash or START, turn.rows[-1].seq
    if seq != run.head_seq:
        return Verdict(run.id, seq, min(seq, run.head_seq) + 1, f"the run should end with entry {run.head_seq}")
    if seal_of(run, last) != run.head:
        return Verdict(run.id, seq, seq, "the end of the run or what listings show of it was changed")
    return Verdict(run.id, seq)


def _flaw(run: str, turn: Kept, seq: int, before: bytes) -> str:
    if not turn.rows:
        return "an artifact or a question belongs to no turn"
    if [row.seq for row in turn.rows] != list(range(seq + 1, seq + len(turn.rows) + 1)):
        return "entries are missing or out of place"
    return "" if turn.rows[-1].hash == hash_of(run, turn, before) else "the turn is not what was written"

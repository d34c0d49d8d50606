"""The hash chain: how turns are hashed as they are stored, and how a stored run is judged.

The hash of a turn covers the hash of the turn before it, so that every byte of a run hangs together. The seal of a
run covers its last hash and what a listing shows of it; it is stored beside the run and shown as its `head`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Final

from perdure.ports import Entry, Run, Summary, Turn, Verdict

START: Final = bytes(32)
"""Stands where a first turn would name the turn before it."""
_ENTRY: Final = Struct(">qqII")
_LENGTH: Final = Struct(">I")
_NUMBERS: Final = Struct(">qqq")
_SHOWN: Final = Struct(">??q")


@dataclass(frozen=True, slots=True)
class Marks:
    """What a turn names beside its entries, each sorted."""

    artifacts: Sequence[str] = ()
    asked: Sequence[str] = ()
    answered: Sequence[str] = ()


NO_MARKS: Final = Marks()
_NOTHING: Final = bytes(3 * _LENGTH.size)
"""How no marks are written."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn as it is stored."""

    entries: Sequence[Entry]
    hash: bytes | None
    marks: Marks = NO_MARKS


def digest_of(data: bytes) -> str:
    """The name of a value."""
    return sha256(data).hexdigest()


def marks_of(turn: Turn) -> Marks:
    """What a turn names. Most turns name nothing."""
    if not (turn.artifacts or turn.asked or turn.answered):
        return NO_MARKS
    digests = {artifact.digest for artifact in turn.artifacts}
    return Marks(sorted(digests), sorted(turn.asked), sorted(turn.answered))


def hash_of(run: str, entries: Iterable[Entry], marks: Marks, before: bytes) -> bytes:
    """The hash of a turn. Every part goes in with its length, so that no two turns read alike."""
    parts = [before, _text(run)]
    for entry in entries:
        word = entry.type.encode()
        parts += (_ENTRY.pack(entry.seq, entry.at, len(word), len(entry.body)), word, entry.body)
    parts.append(_NOTHING if marks is NO_MARKS else _marks(marks))
    return sha256(b"".join(parts)).digest()


def _marks(marks: Marks) -> bytes:
    lists = (marks.artifacts, marks.asked, marks.answered)
    return b"".join(_LENGTH.pack(len(texts)) + b"".join(map(_text, texts)) for texts in lists)


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(data)) + data


def shown_of(run: str, summary: Summary) -> bytes:
    """What a listing shows of a run, as one text to be hashed."""
    words = (run, summary.status, summary.goal, summary.session, summary.parent)
    numbers = _SHOWN.pack(summary.over, summary.wake_at is None, summary.wake_at or 0)
    return b"".join((*map(_text, words), numbers, summary.counters))


def seal_of(shown: bytes, head_seq: int, created: int, updated: int, last: bytes) -> bytes:
    """A hash over the last turn's hash and everything a listing shows of the run."""
    return sha256(last + _NUMBERS.pack(head_seq, created, updated) + shown).digest()


def judge(run: Run, turns: Iterable[Kept]) -> Verdict:
    """Walk through a stored run and name the first entry that cannot be believed."""
    last, seq = START, 0
    for turn in turns:
        if reason := _flaw(run.id, turn, seq, last):
            return Verdict(run.id, seq, seq + 1, reason)
        last, seq = turn.hash or START, turn.entries[-1].seq
    if seq != run.head_seq:
        return Verdict(run.id, seq, min(seq, run.head_seq) + 1, f"the run should end with entry {run.head_seq}")
    if seal_of(shown_of(run.id, run.summary), seq, run.created, run.updated, last).hex() != run.head:
        return Verdict(run.id, seq, seq, "the end of the run or what listings show of it was changed")
    return Verdict(run.id, seq)


def _flaw(run: str, turn: Kept, seq: int, before: bytes) -> str:
    if not turn.entries:
        return "an artifact or a question belongs to no turn"
    if any(entry.seq != wanted for wanted, entry in enumerate(turn.entries, seq + 1)):
        return "entries are missing or out of place"
    return "" if turn.hash == hash_of(run, turn.entries, turn.marks, before) else "the turn is not what was written"

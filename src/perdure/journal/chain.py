"""The hash chain: how turns are hashed as they are stored, and how a stored run is judged.

The hash of a turn covers the hash of the turn before it, so that every byte of a run hangs together. The seal of a
run covers its last hash and what a listing shows of it; it is shown as the `head` of the run. It stands beside the last
turn and nowhere else: whoever takes turns away from the end takes the seal away with them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Final, NamedTuple

from perdure.journal.packing import unpack
from perdure.ports import Corrupt, Entry, Run, Summary, Turn, Verdict

START: Final = bytes(32)
"""Stands where a first turn would name the turn before it."""
_TURN: Final = Struct(">qqq")
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


class Kept(NamedTuple):
    """A turn as it is stored, with the number and the time of its last entry."""

    seq: int
    at: int
    body: bytes
    hash: bytes
    is_sealed: bool = False
    marks: Marks = NO_MARKS


STRAY: Final = Kept(0, 0, b"", b"")
"""Stands for a turn that is not there, but has left something behind."""


def digest_of(data: bytes) -> str:
    """The name of a value."""
    return sha256(data).hexdigest()


def marks_of(turn: Turn) -> Marks:
    """What a turn names. Most turns name nothing."""
    if not (turn.artifacts or turn.asked or turn.answered):
        return NO_MARKS
    digests = {artifact.digest for artifact in turn.artifacts}
    return Marks(sorted(digests), sorted(turn.asked), sorted(turn.answered))


def name_of(run: str) -> bytes:
    """The id of a run, as hashes take it in."""
    return _text(run)


def hash_of(name: bytes, seq: int, at: int, body: bytes, marks: Marks, before: bytes) -> bytes:  # noqa: PLR0913, PLR0917  all that is stored
    """The hash of a turn. Every part has a length that is fixed or written down, so that no two turns read alike."""
    told = _NOTHING if marks is NO_MARKS else _marks(marks)
    return sha256(before + name + _TURN.pack(seq, at, len(body)) + body + told).digest()


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


def judge(run: Run, turns: Iterable[Kept], note: Callable[[list[Entry]], object] = len) -> Verdict:
    """Walk through a stored run and name the first entry that cannot be believed; `note` is given those that can."""
    name, last, seq, is_sealed = name_of(run.id), START, 0, False
    for turn in turns:
        entries = [] if is_sealed else _believed(run.id, turn, seq)
        if not entries or turn.hash != hash_of(name, turn.seq, turn.at, turn.body, turn.marks, last):
            return Verdict(run.id, seq, seq + 1, _flaw(turn))
        note(entries)
        last, seq, is_sealed = turn.hash, turn.seq, turn.is_sealed
    if not run.head:
        return Verdict(run.id, seq, seq + 1, "the end of the run is missing")
    if seal_of(shown_of(run.id, run.summary), seq, run.created, run.updated, last).hex() != run.head:
        return Verdict(run.id, seq, seq, "the end of the run or what listings show of it was changed")
    return Verdict(run.id, seq)


def _believed(run: str, turn: Kept, seq: int) -> list[Entry]:
    """The entries of a turn, if they follow on the last one."""
    try:
        entries = unpack(run, turn.seq, turn.at, turn.body)
    except Corrupt:
        return []
    return entries if entries[0].seq == seq + 1 else []


def _flaw(turn: Kept) -> str:
    if turn == STRAY:
        return "an artifact or a question belongs to no turn"
    return "the turn is not what was written, or turns before it are missing"

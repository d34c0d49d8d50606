"""Where a run stands: what the next turn follows on, and what the seal covers."""

from dataclasses import dataclass
from typing import Final

from perdure.journal.chain import START, Marks, hash_of, name_of, seal_of, shown_of
from perdure.ports import Turn

MOST_ENTRIES: Final = 2**32 - 1
"""Of one run; places are numbered so that runs lie behind one another."""


def place_of(number: int, seq: int) -> int:
    """Where a turn lies: by the number of its run, then by its last entry."""
    return number << 32 | seq  # MOST_ENTRIES has as many bits


@dataclass(slots=True)
class Head:
    """The end of a run. It is not changed; each turn makes a new one."""

    number: int
    name: bytes
    """The id of the run, as hashes take it in."""
    created: int
    shown: bytes
    """Its summary, as the seal covers it."""
    seq: int
    updated: int
    last: bytes
    """The hash of its last turn."""

    def after(self, turn: Turn, body: bytes, marks: Marks) -> "Head":
        """The end of the run when this turn is kept."""
        last, summary = turn.entries[-1], turn.summary
        seq, at = last.seq, last.at
        shown = self.shown if summary is None else shown_of(turn.run, summary)
        hash_ = hash_of(self.name, seq, at, body, marks, self.last)
        return Head(self.number, self.name, self.created, shown, seq, at, hash_)

    @property
    def place(self) -> int:
        """Where the last turn lies."""
        return place_of(self.number, self.seq)

    @property
    def seal(self) -> bytes:
        """What stands beside the last turn."""
        return seal_of(self.shown, self.seq, self.created, self.updated, self.last)


def begun(number: int, turn: Turn) -> Head:
    """Where a run stands before its first turn."""
    at = turn.entries[0].at
    return Head(number, name_of(turn.run), at, b"", 0, at, START)

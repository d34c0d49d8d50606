"""What all searches share: how much they may look at, how a state was reached, and what they have come to.

They end by a count of what was looked at and by no clock, so the same search ends in the same place on every machine.
"""

from dataclasses import dataclass, field
from typing import Final

from perdure.agents.contracts.task import Move

NEVER: Final = 1 << 62
"""Further than any plan."""
MOST_KNOWN: Final = 500_000
"""States that are remembered."""


@dataclass
class Effort:
    """How much may be looked at, and how much was: states, and moves in all of them together."""

    states: int
    moves: int
    seen: int = 0
    looked: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be looked at."""
        return self.seen >= self.states or self.looked >= self.moves

    def look(self, moves: int) -> None:
        """One more state was looked at, for so many moves."""
        self.seen += 1
        self.looked += moves

    def share(self, part: float = 1, states: int = NEVER, moves: int = NEVER) -> "Effort":
        """A part of what is left, and no more than this."""
        left = int((self.states - self.seen) * part), int((self.moves - self.looked) * part)
        return Effort(max(0, min(left[0], states)), max(0, min(left[1], moves)))

    def pay(self, share: "Effort") -> None:
        """A share was used."""
        self.seen += share.seen
        self.looked += share.looked


@dataclass
class Found:
    """What a search has come to."""

    moves: list[Move] | None = None
    exhausted: bool = False
    """Whether everything was looked at: then what was not found is not there."""
    at_least: int = 0
    """What every plan weighs at least."""
    ever: int = 0
    """All facts that have held somewhere, as a mask."""
    together: int = 0
    """The facts of a state in which most of what is wanted holds, as a mask."""

    def note(self, state: int, goal: int) -> None:
        """A state that can come to be."""
        self.ever |= state
        if (state & goal).bit_count() > (self.together & goal).bit_count():
            self.together = state

    @property
    def weight(self) -> int:
        """What the plan weighs."""
        return NEVER if self.moves is None else sum(move.weight for move in self.moves)


@dataclass
class Paths:
    """How each state was reached."""

    start: int
    came: dict[int, tuple[int, Move]] = field(default_factory=dict[int, tuple[int, Move]])

    def to(self, state: int) -> list[Move]:
        """The moves that have led there."""
        moves: list[Move] = []
        while state != self.start:
            state, move = self.came[state]
            moves.append(move)
        return moves[::-1]

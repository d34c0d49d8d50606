"""A document before it is a plan: its name, its text, and where things stand in it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from perdure.plan.problems import Path, Problem

LONGEST_NUMBER: Final = 400
"""Digits of a number that anybody computes; longer ones are refused unread."""

Format = Literal["yaml", "json"]
Position = tuple[int, int]
"""Line and column, both counted from one."""


@dataclass(frozen=True)
class Source:
    """Where a plan came from."""

    name: str = ""
    text: str = ""
    format: Format | None = None
    """None for data that was never text."""


@dataclass
class Finder:
    """Collects the positions of the paths somebody asked for, and nothing else."""

    wanted: Iterable[Path]
    found: dict[Path, Position] = field(default_factory=dict[Path, Position])

    def __post_init__(self) -> None:
        self._prefixes = {path[:length] for path in self.wanted for length in range(len(path) + 1)}

    def see(self, path: Path, position: Position) -> None:
        """Note that the value at a path begins here."""
        if path in self._prefixes:
            self.found.setdefault(path, position)

    def position(self, path: Path) -> Position:
        """The position of a path, or of the nearest thing around it that exists."""
        return next((self.found[path[:n]] for n in range(len(path), -1, -1) if path[:n] in self.found), (1, 1))


class Unreadable(Exception):
    """The text is not YAML or JSON; reading stopped here."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem

"""A problem of a plan: a code, a place, what is wrong, and what to write instead."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice
from typing import Any, ClassVar, Final, Literal, Self

from perdure.errors import PerdureError

NEAREST: Final = 200
"""How many words are compared for a hint."""
MOST: Final = 1_000
"""Problems that are told of one plan."""
TOLD: Final = 20
"""Problems that an exception names; all of them are with it."""
FEW: Final = 12
"""A list of words longer than this helps nobody."""

Segment = str | int
Path = tuple[Segment, ...]
"""Where something stands in a document: keys and list positions from the root."""


def written(path: Path) -> str:
    """A path as people write it: `steps[3].on.failure`."""
    text = ""
    for segment in path:
        text += f"[{segment}]" if isinstance(segment, int) else f".{segment}" if text else segment
    return text


@dataclass(frozen=True)
class Problem:
    """One thing to repair. A warning only tells what was assumed."""

    code: str
    message: str
    path: Path = ()
    help: str = ""
    severity: Literal["error", "warning"] = "error"
    file: str = ""
    line: int = 0
    column: int = 0

    def at(self, file: str, line: int, column: int, path: Path) -> Self:
        """The same problem with its place in a file."""
        return replace(self, file=file, line=line, column=column, path=path)

    @property
    def place(self) -> str:
        """`file:line:column`, as far as it is known."""
        return f"{self.file or 'plan'}:{self.line}:{self.column}" if self.line else self.file or "plan"

    def as_json(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "path": written(self.path),
            "hint": self.help or None,
            "file": self.file or None,
            "line": self.line or None,
            "column": self.column or None,
        }

    def __str__(self) -> str:
        """One line, in the manner of a linter."""
        parts = [f"{self.place}: {self.severity} {self.code}:", written(self.path), self.message]
        return " ".join(part for part in parts if part) + (f" (help: {self.help})" if self.help else "")


def errors_in(problems: Iterable[Problem]) -> list[Problem]:
    """The problems that make a plan unusable."""
    return [problem for problem in problems if problem.severity == "error"]


def first_of(problems: Iterable[Problem]) -> list[Problem]:
    """As many problems as anybody will read; a last one says if there are more."""
    each = iter(problems)
    found = list(islice(each, MOST))
    if next(each, None) is not None:
        found.append(Problem("PRD1000", f"there are more than {MOST:,} problems", (), "repair these first"))
    return found


def listed(problems: Sequence[Problem]) -> str:
    """A line for each, as far as one message holds them."""
    told = [str(problem) for problem in problems[:TOLD]]
    if len(problems) > TOLD:
        told.append(f"and {len(problems) - TOLD:,} more")
    return "\n".join(told)


class HasProblems(PerdureError):
    """Something that somebody has written cannot be used. `problems` holds every reason."""

    exit_code: int = 6

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(listed(problems))
        self.problems = tuple(problems)


class PlanError(HasProblems):
    """The plan cannot be used."""

    code: ClassVar[str] = "PRD1000"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The start of a hint: the nearest known word, or the known words while they are few."""
    from difflib import get_close_matches  # noqa: PLC0415  most programs never meet a wrong word

    choices = set(known)
    near = get_close_matches(word[:80], _likely(word, choices), n=1, cutoff=0.6)
    if near:
        return f'did you mean "{near[0]}"?'
    return "write one of: " + ", ".join(sorted(choices)) if 0 < len(choices) <= FEW else ""


def _likely(word: str, choices: set[str]) -> list[str]:
    """The words worth comparing: all while they are not many, else those that begin alike and are about as long."""
    if len(choices) > NEAREST:
        choices = {each for each in choices if each[:1] == word[:1] and abs(len(each) - len(word)) <= 2}  # noqa: PLR2004  a letter or two
    return nsmallest(NEAREST, choices, key=lambda each: (abs(len(each) - len(word)), each))

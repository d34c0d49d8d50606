"""What became of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from perdure.core.calls import Failure
from perdure.core.cells import Cell, Work
from perdure.core.seeing import output_of
from perdure.core.state import State
from perdure.core.turn import status_of


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run took."""

    steps: int
    """Visits that are over."""
    attempts: int
    seconds: float
    """From its start to its last fact."""


class StepResult:
    """What became of a step, as far as it came."""

    def __init__(self, state: State, cell: Cell) -> None:
        self._state, self._cell = state, cell

    @property
    def status(self) -> str:
        """`active`, `stopping` or `over`."""
        return self._cell.status

    @property
    def exit(self) -> str:
        """The word its last finished visit ended with; empty if there was none."""
        return self._cell.result.exit if self._cell.result else ""

    @property
    def output(self) -> Any:
        """What its last finished visit gave."""
        return output_of(self._state, self._cell)

    @property
    def failure(self) -> Failure | None:
        """Why it failed."""
        return self._cell.result.failure if self._cell.result else None

    @property
    def visits(self) -> int:
        """How often it was entered, in the whole run."""
        return self._cell.visit

    @property
    def attempts(self) -> int:
        """How often its last visit was tried."""
        return self._cell.body.attempt if isinstance(self._cell.body, Work) else 0

    def __repr__(self) -> str:
        return f"<{self._cell.key}: {self.exit or self.status}>"


class Result:
    """A run as it stands: over, or as far as it came."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.id = state.run

    @property
    def status(self) -> str:
        """`succeeded`, `failed`, `cancelled`, `rolled_back`; or `running`, `waiting`, `paused`, `stopping`."""
        return status_of(self._state)

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status == "succeeded"

    @property
    def output(self) -> Any:
        """What it gave back; null unless it succeeded."""
        root = self._state.root
        return output_of(self._state, root) if root and self.ok else None

    @property
    def failure(self) -> Failure | None:
        """Why it failed."""
        return self._state.ended.failure if self._state.ended else None

    @property
    def cause(self) -> str:
        """The step whose failure it was."""
        return self._state.ended.cause if self._state.ended else ""

    @cached_property
    def steps(self) -> Mapping[str, StepResult]:
        """What became of each step that was reached, by its key."""
        return {key: StepResult(self._state, cell) for key, cell in self._state.cells.items() if key}

    @property
    def questions(self) -> Mapping[str, str]:
        """What people are asked and have not answered: texts by the ids of the questions."""
        return {question: asked.text for question, asked in self._state.questions.items()}

    @property
    def usage(self) -> Usage:
        """What it took."""
        state = self._state
        began = state.root.at if state.root else state.at
        return Usage(state.steps_over, state.attempts, (state.at - began) / 1000)

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.status}>"

"""What became of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Work
from perdure.core.ledger import Ledger, told
from perdure.core.occasion import plan_of
from perdure.core.seeing import inputs_of, output_of
from perdure.core.state import State
from perdure.core.turn import status_of
from perdure.plan.model.parts import UNPLANNED


@dataclass(frozen=True, slots=True)
class Account:
    """How one thing stands in a budget."""

    spent: float
    reserved: float
    """What attempts at work may still take."""
    limit: float
    """What the plan says, and what people have added."""
    overrun: float
    """How much more was spent than there was: somebody took more than was promised."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run took."""

    steps: int
    """Visits that are over."""
    attempts: int
    seconds: float
    """From its start to its last fact."""
    tokens: int = 0
    calls: int = 0
    """Of models, as far as whoever made them says."""
    usd: float = 0.0
    """What is known of the price."""
    unpriced: int = 0
    """Calls of models of which nobody knows what they cost; it is not in `usd`."""
    budgets: Mapping[str, Mapping[str, Account]] = field(default_factory=dict[str, Mapping[str, Account]])
    """Each budget by the key of the step that has it, the run's own by `""`: what is limited, and how that stands."""


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
        """How often its last visit was tried; 0 of a group that was done only once."""
        body = self._cell.body
        if isinstance(body, Body):
            return body.tries if body.tries > 1 else 0
        return body.attempt if body else 0

    @property
    def ways(self) -> tuple[str, ...]:
        """The rungs its last visit has taken: `simplify`, `relax`, `alternate`; empty: it was done as it is written."""
        return self._cell.ways

    @property
    def sandboxed(self) -> str:
        """The tier that commands of its last attempt were kept in, if the user's settings have lowered it."""
        outcome = self._cell.body.outcome if isinstance(self._cell.body, Work) else None
        return outcome.sandboxed if outcome else ""

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
    def inputs(self) -> Mapping[str, Any]:
        """What it was given."""
        root = self._state.root
        return inputs_of(self._state, root.scope) if root else {}

    @property
    def output(self) -> Any:
        """What it gave back; null unless it succeeded."""
        root = self._state.root
        return output_of(self._state, root) if root and self.ok else None

    @property
    def partial(self) -> bool:
        """Whether it is over with what there was: a budget was used up, or something failed and it went on."""
        return (self._state.ended is not None and self._state.ended.partial) or bool(self.missing)

    @property
    def unplanned(self) -> str:
        """Why it was carried out without a plan, as a whole or from where its plan had failed; empty: it was not."""
        told = plan_of(self._state).meta.get(UNPLANNED) if self._state.root else None
        return told if isinstance(told, str) else ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The steps whose results are missing: they failed, or a budget was used up, and the plan went on."""
        found = ((key, cell.result) for key, cell in self._state.cells.items())
        return tuple(key for key, result in found if result is not None and result.partial)

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
        used = {word: told(word, state.books.used.get(word, 0)) for word in ("tokens", "calls", "usd")}
        now = state.clock(state.at)
        budgets = {key: _accounts(ledger, now) for key, ledger in state.books.ledgers.items()}
        took = (state.at - began) / 1000
        return Usage(
            state.steps_over,
            state.attempts,
            took,
            int(used["tokens"]),
            int(used["calls"]),
            used["usd"],
            state.books.unpriced,
            budgets,
        )

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.status}>"


def _accounts(ledger: Ledger, now: int) -> dict[str, Account]:
    found: dict[str, Account] = {}
    for word in ledger.limits:
        used, most = ledger.used(word, now), ledger.most(word)
        amounts = (used, ledger.reserved.get(word, 0), most, max(0, used - most))
        found[word] = Account(*(told(word, each) for each in amounts))
    return found

"""What is only assumed in a rehearsal, and what hangs on it.

A step that fails on a value nobody knows has not shown that it would fail.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from perdure.core.cells import Cell
from perdure.core.events import AttemptEnded, QuestionAsked, RunEnded, StepEnded, StepPassed
from perdure.plan.expr import Reference
from perdure.plan.model.steps import AskStep
from perdure.plan.sampling import sample
from perdure.plan.uses import Use, uses_of, uses_of_plan

Over = StepEnded | StepPassed | AttemptEnded
"""What a step is over with."""


class StandIns(Mapping[str, str]):
    """For each secret a text that is none. One that is missing is missing here too."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets: Final = secrets

    def __getitem__(self, name: str) -> str:
        _ = self._secrets[name]
        return f"secret-{name}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._secrets)

    def __len__(self) -> int:
        return len(self._secrets)


class Assumptions:
    """The steps of which nobody knows what they give."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._doubtful: set[str] = set()
        """Steps that failed on what is assumed."""
        self.certain: set[str] = set()
        """Steps that fail whatever the values are."""
        self.are_files = False
        """Whether the copy lacks what a step would have written."""

    def add(self, cell: Cell) -> None:
        """Nobody knows what a step gives, nor what the groups around it give."""
        self._keys.update(each.key for each in _outwards(cell))

    def doubt(self, event: Over, cell: Cell, *, on_files: bool) -> str:
        """Why the end of a step cannot be foreseen, if it failed. What it gives is then not known either."""
        if not self._hold(cell) and not (self.are_files and on_files):
            return ""
        self.add(cell)
        if event.failure is None or cell.key in self.certain or getattr(event, "cause", ""):
            return ""
        self._doubtful.add(cell.key)
        return f"failed on what is assumed: {event.failure.message}"

    def decided(self, ended: RunEnded, root: Cell) -> bool:
        """Whether a run has failed because of what is assumed: in a step, or in what the plan says at its end."""
        if ended.cause:
            return ended.cause in self._doubtful
        return self._are_used(root, uses_of_plan(root.scope.outline.plan))

    def _hold(self, cell: Cell) -> bool:
        """Whether a step, or a group that it is in, looks at something that is assumed."""
        return any(self._are_used(each, uses_of(each.step)) for each in _outwards(cell) if each.step is not None)

    def _are_used(self, cell: Cell, uses: Iterable[Use]) -> bool:
        found = (use.expression.references for use in uses if not isinstance(use.expression, Exception))
        return any(self._is_assumed(cell, each) for references in found for each in references)

    def _is_assumed(self, cell: Cell, reference: Reference) -> bool:
        match reference.root:
            case "secrets":
                return True
            case "output" | "exit":
                return cell.key in self._keys
            case "steps" if reference.parts:
                return any(self._is_step(scope.find(str(reference.parts[0]))) for scope in (cell.scope, cell.within))
            case _:
                return reference.root == "steps" and bool(self._keys)

    def _is_step(self, cell: Cell | None) -> bool:
        return cell is not None and cell.key in self._keys


def _outwards(cell: Cell | None) -> Iterator[Cell]:
    while cell is not None:
        yield cell
        cell = cell.parent


def assumed_answer(question: QuestionAsked, cell: Cell) -> Any:
    """What a friendly person would say."""
    step = cell.step
    if isinstance(step, AskStep) and step.default is not None and question.about == "plan":
        return step.default
    match question.answer:
        case "approval":
            return "approved"
        case "choice":
            return question.choices[0]
        case "text":
            return ""
        case _:
            return sample(question.form or {})

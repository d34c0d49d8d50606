"""What is only assumed in a rehearsal, and what hangs on it.

A step that fails on a value nobody knows has not shown that it would fail.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from perdure.core.cells import Cell
from perdure.plan.expr import Reference
from perdure.plan.model.document import Plan
from perdure.plan.uses import Use, uses_of, uses_of_plan


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

    def add(self, cell: Cell) -> None:
        """Nobody knows what a step gives, nor what the groups around it give."""
        self._keys.update(each.key for each in _outwards(cell))

    def hold(self, cell: Cell) -> bool:
        """Whether a step, or a group that it is in, looks at something that is assumed."""
        return any(self._are_used(each, uses_of(each.step)) for each in _outwards(cell) if each.step is not None)

    def hold_end(self, root: Cell, plan: Plan) -> bool:
        """Whether what a plan says at its end looks at something that is assumed."""
        return self._are_used(root, uses_of_plan(plan))

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

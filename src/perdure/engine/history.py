"""What was done on the way: every visit of a step that is over, in order, also those that later ones came after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.engine.result import StepResult
from perdure.engine.viewing import View
from perdure.ports import Journal


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a step, as it ended."""

    step: str
    """Its key."""
    number: int
    exit: str
    output: Any
    failure: Failure | None
    at: int
    """When it ended, in milliseconds."""


async def history(journal: Journal, run: str, about: Callable[[str], bool]) -> list[Visit]:
    """The finished visits of the steps whose keys are wanted. Nothing is done: the journal is folded once more."""
    _, entries = await journal.load(run)
    view, found = View(journal, run), list[Visit]()
    for entry in entries:
        event = view.take(entry)
        if e.ends_step(event) and not isinstance(event, e.StepPassed) and about(event.step):
            found.append(_visit(view, event.step, entry.at))
    return found


def _visit(view: View, step: str, at: int) -> Visit:
    made = StepResult(view.state, view.state.cells[step])
    return Visit(step, made.visits, made.exit, made.output, made.failure, at)

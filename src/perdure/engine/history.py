"""What was done on the way: every visit of a step that is over, in order, also those that later ones came after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.engine.result import StepResult
from perdure.engine.viewing import View
from perdure.plan.model.steps import AgentStep, Grouping, SubplanStep, ToolStep
from perdure.ports import Entry, Journal


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
    is_group: bool = False
    """Whether it has given what steps in it gave."""
    agent: str = ""
    """Whom the plan names for it, if it is an agent's."""
    tool: str = ""
    """What the plan calls, if it is a call."""


async def history(journal: Journal, run: str, about: Callable[[str], bool]) -> list[Visit]:
    """The finished visits of the steps whose keys are wanted. Nothing is done: the journal is folded once more."""
    _, entries = await journal.load(run)
    view, found = View(journal, run), list[Visit]()
    for entry in entries:
        visit = visit_of(view, entry, view.take(entry), about)
        found += (visit,) if visit else ()
    return found


def visit_of(view: View, entry: Entry, event: e.Event, about: Callable[[str], bool]) -> Visit | None:
    """The visit that is over with the fact that a view has just taken, if one is and its step is wanted."""
    if not e.ends_step(event) or isinstance(event, e.StepPassed) or not about(event.step):
        return None
    cell = view.state.cells[event.step]
    is_group = isinstance(cell.step, (Grouping, SubplanStep))
    agent = cell.step.agent if isinstance(cell.step, AgentStep) else ""
    tool = cell.step.tool if isinstance(cell.step, ToolStep) else ""
    made = StepResult(view.state, cell)
    return Visit(event.step, made.visits, made.exit, made.output, made.failure, entry.at, is_group, agent, tool)

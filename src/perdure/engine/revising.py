"""What somebody wants a plan to become, as a message to its run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perdure.core import events as e
from perdure.core.deciding import Moment
from perdure.core.revising import ANY, as_facts
from perdure.core.state import Rules, State
from perdure.core.turn import turn
from perdure.engine.viewing import View
from perdure.plan.edits import AnyEdit, Insert, Replace, read_edits
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import AnyStep
from perdure.ports import Journal


def message_of(edits: Sequence[AnyEdit | Mapping[str, Any]], *, base: int | None, **said: Any) -> e.RunRevised:
    """The message; `NotRevised` if something in it is no edit."""
    return e.RunRevised(base=ANY if base is None else base, edits=as_facts(edits), **said)


def steps_in(message: e.RunRevised) -> Iterator[AnyStep]:
    """The steps that it would bring."""
    for edit in read_edits(message.edits):
        if isinstance(edit, Insert):
            yield edit.insert
        elif isinstance(edit, Replace):
            yield edit.step


def number_of(state: State, message: e.RunRevised) -> int:
    """The revision that a message has made; others may have come since."""
    mine = (each.base for each in reversed(state.revised) if each.edits is message.edits)
    return next(mine, state.revision - 1) + 1


async def proposed(journal: Journal, rules: Rules, run: str, message: e.RunRevised) -> tuple[Plan, Plan]:
    """The plan of a run, and the one that a message would make of it; `Refused` says why it would not."""
    view = await View.of(journal, run)
    state, before = view.state, view.plan
    state.rules = replace(rules, read=state.rules.read, outline=state.rules.outline)
    turn(state, message, Moment(state.at, slots=0, held=True))
    return before, view.plan

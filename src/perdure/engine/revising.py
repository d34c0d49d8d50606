"""What somebody wants a plan to become, as a message to its run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perdure.core import events as e
from perdure.core.revising import ANY, as_facts
from perdure.core.state import State
from perdure.plan.edits import AnyEdit, Insert, Replace, read_edits
from perdure.plan.model.steps import AnyStep


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

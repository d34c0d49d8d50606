"""What is remembered of a run that is over: what it was for, how it ended, and why it failed."""

from typing import Final

from perdure.core import events as e
from perdure.core.state import State
from perdure.ports import OUTCOME, Memory

LONGEST: Final = 2_000
"""Letters of a goal or of a reason; whoever wants more looks at the run."""


def outcome_of(state: State, ended: e.RunEnded, at: int) -> Memory:
    """The memory of a run. A run that goes on after all and ends again has one memory, of its last end."""
    goal = state.started.goal if state.started else ""
    return Memory(
        id=f"m_{state.run}",
        kind=OUTCOME,
        text=_told(ended)[:LONGEST],
        about=goal[:LONGEST],
        run=state.run,
        step=ended.cause,
        by="run",
        at=at,
    )


def _told(ended: e.RunEnded) -> str:
    words = f"{ended.status} with what there was" if ended.partial else ended.status
    failure = ended.failure
    return f"{words}: {failure.kind}: {failure.message}" if failure is not None else words

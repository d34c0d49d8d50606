"""What is remembered of a run: what it was for, how it ended and why it failed; how its agents did, and learned."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.delegating import is_delegating
from perdure.core.lessons import LESSON, learned_in
from perdure.core.state import State
from perdure.plan.model.parts import ANYBODY, AgentCall
from perdure.ports import OUTCOME, TASK, Memory

LONGEST: Final = 2_000
"""Letters of a goal or of a reason; whoever wants more looks at the run."""


NO_FAULT: Final = frozenset({"budget", "denied", "cancelled", "in_doubt"})
"""Failures that say nothing about whoever was at work."""


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


def tasks_of(state: State, events: Iterable[e.Event], at: int) -> Iterator[Memory]:
    """How agents did whose work has ended just now."""
    for event in events:
        if isinstance(event, e.StepEnded) and (agent := _at_work(state, event)):
            told = "success" if event.failure is None else f"failure: {event.failure.kind}: {event.failure.message}"
            yield Memory(
                id=f"t_{state.run}_{event.step}_{event.visit}",
                kind=TASK,
                text=told[:LONGEST],
                about=agent,
                run=state.run,
                step=event.step,
                by="agent",
                at=at,
            )


def lessons_of(state: State, events: Iterable[e.Event], at: int) -> Iterator[Memory]:
    """What agents have learned whose work has ended just now."""
    for event in events:
        cell = state.cells.get(event.step) if isinstance(event, e.StepEnded) else None
        if cell is not None and cell.kind == "agent":
            about: dict[str, Any] = {"kind": LESSON, "run": state.run, "by": "agent", "at": at}
            for task, text, step in learned_in(state, cell):
                yield Memory(id=f"l_{state.run}_{step}", text=text, about=task, step=step, **about)


def _at_work(state: State, ended: e.StepEnded) -> str:
    """Whose work a step was; empty: nobody's, or it ended for reasons of others."""
    cell = state.cells.get(ended.step)
    call = cell.traits.call if cell is not None and cell.kind == "agent" else None
    if cell is None or not isinstance(call, AgentCall) or not _tells(ended):
        return ""
    return "" if call.agent == ANYBODY or is_delegating(cell) else call.agent


def _tells(ended: e.StepEnded) -> bool:
    failure: Failure | None = ended.failure
    return ended.exit != "cancelled" and (failure is None or failure.kind not in NO_FAULT)

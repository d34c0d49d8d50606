"""What a run waits for, what comes next, and the exact commands for it."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from perdure.cli.commands import command
from perdure.cli.telling import LONG, clock, failure_words
from perdure.core.events import QuestionAsked
from perdure.core.state import State
from perdure.core.turn import status_of
from perdure.documents.answers import answering
from perdure.engine import Result
from perdure.engine.ahead import Led
from perdure.engine.asking import Inquiry, inquiry
from perdure.plan.visible import number_of, visible

_FEW: Final = 5
"""So many steps are told one by one."""
_LINES: Final = 500
"""So many lines of what a question shows, such as a diff; whoever says yes has to have seen it."""
_MANY: Final = 10
"""So many questions are shown with the commands that answer them."""


# ------------------------------------------------------------------------------- waiting


def waits(state: State) -> Iterator[str]:
    """What a run waits for, and how to give it that: a line each, those of one thing below each other."""
    for question in islice(state.questions.values(), _MANY):
        yield from asked(state, question)
    if len(state.questions) > _MANY:
        yield f"and {len(state.questions) - _MANY:,} more questions: {command('questions', state.run)}"
    for name, cells in state.waiting.items():
        if cells:
            yield f"{visible(', '.join(list(cells)[:_FEW]))} waits for the signal {visible(name)}"
            yield f"  {command('signal', state.run, name)}"
    wake_at = state.wake_at
    if wake_at is not None and not state.questions:
        yield f"something is due at {clock(wake_at, LONG)}"


def asked(state: State, question: QuestionAsked) -> Iterator[str]:
    """A question: what is asked and why, until when, and the commands that answer it with what follows from each."""
    seen = inquiry(state, question)
    people = f" (to {visible(', '.join(question.people))})" if question.people else ""
    first, *more = question.text.splitlines() or [""]
    yield f"{visible(question.step) or 'the run'} asks{people}: {visible(first, 500)}"
    yield from (f"  {visible(line, 500)}".rstrip() for line in more[:_LINES])
    if len(more) > _LINES:
        yield f"  … and {number_of(len(more) - _LINES, 'line')} more: {command('show', state.run, '--json')}"
    yield from (f"  {line}" for line in _circumstances(seen))
    for line, (word, then) in zip(answering(state.run, question, command), seen.answers, strict=True):
        yield f"  {line}"
        yield f"    {visible(word)}: {visible(then, 300)}"


def _circumstances(seen: Inquiry) -> Iterator[str]:
    if seen.after is not None:
        yield f"because {led_words(seen.after)}"
    if seen.silence:
        until = "its time stands still; then" if seen.due is None else f"until {clock(seen.due, LONG)}; then"
        yield f"{until} {visible(seen.silence, 300)}"


def led_words(after: Led) -> str:
    """The failure that led to a question."""
    tried = f" after {number_of(after.attempts, 'attempt')}" if after.attempts > 1 else ""
    return f"{visible(after.step)} failed{tried} ({visible(after.kind)}): {visible(after.message, 300)}"


# ------------------------------------------------------------------------------- what comes next


def standing(state: State) -> str:
    """Where a run stands, in a sentence."""
    status = status_of(state)
    if state.ended is not None:
        return _ending(state)
    if status in {"paused", "stopping"}:
        return f"run {state.run} is {status}"
    if state.questions:
        return f"run {state.run} waits for {number_of(len(state.questions), 'answer')}"
    return f"run {state.run} {_going(state)}"


def _ending(state: State) -> str:
    assert state.ended is not None  # noqa: S101  asked of runs that are over
    said = f"run {state.run} {_WORDS.get(state.ended.status, state.ended.status)}"
    if state.ended.partial:
        return f"{said}, with what there was when its budget was used up"
    if state.ended.failure is None:
        return said + _without(state) + _unplanned(state)
    where = f" in {visible(state.ended.cause)}" if state.ended.cause else ""
    return f"{said}{where}: {failure_words(state.ended.failure)}"


def _without(state: State) -> str:
    """Which steps failed that the plan went on without."""
    keys = Result(state).missing
    more = f" and {len(keys) - _FEW:,} more" if len(keys) > _FEW else ""
    return f", without {visible(', '.join(keys[:_FEW]))}{more}" if keys else ""


def _unplanned(state: State) -> str:
    """That there was no plan, and why."""
    why = Result(state).unplanned
    return f", without a plan: {visible(why, _MOST_WHY)}" if why else ""


_MOST_WHY: Final = 300
_WORDS: Final = {"rolled_back": "was rolled back", "cancelled": "was cancelled"}


def _going(state: State) -> str:
    steps = [*state.flying, *(key for key in sorted(state.eager) if key not in state.flying)]
    if steps:
        more = f" and {len(steps) - _FEW:,} more" if len(steps) > _FEW else ""
        return f"goes on at {visible(', '.join(steps[:_FEW]))}{more}"
    names = [name for name, cells in state.waiting.items() if cells]
    if names:
        return f"waits for the signal {visible(names[0])}"
    wake_at = state.wake_at
    return "goes on" if wake_at is None else f"goes on at {clock(wake_at, LONG)}"

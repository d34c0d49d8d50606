"""Which messages are taken. A message is a fact that somebody outside claims; here it becomes one, or is refused."""

from dataclasses import dataclass
from typing import Any, Final

from perdure.core import events as e
from perdure.core import names
from perdure.core.affording import flaw_of_answer
from perdure.core.cells import Work
from perdure.core.consulting import answered
from perdure.core.patience import due_of
from perdure.core.refusing import (
    Answered,
    BadAnswer,
    NoQuestion,
    NoStep,
    NotMapped,
    Over,
    Refused,
    Stale,
    TooManySignals,
)
from perdure.core.reopening import doubt_in, is_there
from perdure.core.state import State
from perdure.core.values import digest_of, to_json
from perdure.plan.conforming import flaws

MOST_SIGNALS: Final = 1_000
"""The most signals of one name that are kept."""
MOST_SAID: Final = 200
"""How much of an earlier answer is told, in characters."""


AFTERWARDS: Final = (e.RunReopened, e.NamesMapped)
"""What can be said to a run that is over; what was done can be taken back, too."""


@dataclass(frozen=True, slots=True)
class Look:
    """Time has passed, or something became free."""


Message = (
    e.RunStarted
    | e.RunPaused
    | e.RunResumed
    | e.RunStopping
    | e.RunReopened
    | e.RunRevised
    | e.NamesMapped
    | e.RunForked
    | e.StepStopping
    | e.AttemptEnded
    | e.AttemptLost
    | e.AttemptProgressed
    | e.QuestionAnswered
    | e.SignalReceived
    | Look
)


@dataclass(frozen=True, slots=True)
class Mended:
    """A run that is over goes on with a plan that is another one: both, or neither."""

    reopened: e.RunReopened
    revised: e.RunRevised


def accept(state: State, message: Message, at: int) -> None:
    """Raise `Refused` if the message cannot be a fact of this run now."""
    if type(message) is e.QuestionAnswered:
        check_first(state, message)
    if state.ended is not None and type(message) not in AFTERWARDS and not _is_rollback(message):
        raise Over(f"the run {state.run} is over: {state.ended.status}", _instead(state.ended, message))
    if (state.started is None) is not (type(message) is e.RunStarted):
        raise Refused("the run has started already" if state.started else f"the run {state.run} has not started")
    match message:
        case e.AboutAttempt():
            _accept_report(state, message)
        case e.QuestionAnswered():
            _accept_answer(state, message, at)
        case e.StepStopping():
            if not message.step or message.step not in state.cells or state.cells[message.step].status != "active":
                raise NoStep(f"there is no live step {message.step!r}", "`perdure show` lists the steps")
        case e.SignalReceived():
            if len(state.signals.get(message.name, ())) >= MOST_SIGNALS:
                raise TooManySignals(f"{MOST_SIGNALS:,} signals {message.name!r} wait already")
        case _:
            _accept_about_run(state, message)


def _instead(ended: e.RunEnded, message: Message) -> str:
    """What somebody can do who wants to change what is over."""
    if not isinstance(message, e.RunRevised):
        return ""
    is_bad = ended.status in {"failed", "cancelled"}
    return "change it and go on: `perdure retry RUN --edit`" if is_bad else _FORK


_FORK: Final = "begin a new run with its history: `perdure fork RUN --from STEP --plan FILE`"


def _accept_about_run(state: State, message: Message) -> None:
    match message:
        case e.RunPaused() if state.paused_at is not None or state.stopping is not None:
            raise Refused(f"the run is {'stopping' if state.stopping else 'paused'} already")
        case e.RunResumed() if state.paused_at is None:
            raise Refused("the run is not paused")
        case e.RunStopping() if state.stopping is not None and state.ended is None:
            raise Refused("the run is stopping already")
        case e.RunStopping():
            _accept_stopping(state, message)
        case e.RunReopened():
            _accept_reopening(state, message)
        case e.RunRevised() if state.stopping is not None or state.cells[""].status != "active":
            raise Refused("the run is stopping, and its plan cannot be revised any more")
        case e.NamesMapped() if flaw := names.flaw_in(state.names, message):
            raise NotMapped(flaw, "say what each name that is gone is called now")
        case e.RunForked() if message.of == state.run:
            raise Refused("a run cannot be a fork of itself")
        case _:
            pass


def _is_rollback(message: Message) -> bool:
    """Whether it takes back what was done, which also a run may that is over."""
    return type(message) is e.RunStopping and message.exit == "rolled_back"


def _accept_stopping(state: State, message: e.RunStopping) -> None:
    if message.to and message.to not in state.marks:
        known = ", ".join(state.marks) or "none"
        raise NoStep(f"the run has not passed a checkpoint {message.to!r}", f"it has passed: {known}")
    if state.ended is not None and all(each.over and each.failure is None for each in state.effects.values()):
        raise Over(f"the run {state.run} is over: {state.ended.status}, and there is nothing to take back")


def _accept_reopening(state: State, message: e.RunReopened) -> None:
    if state.ended is None:
        raise Refused("the run is not over")
    if state.ended.status not in {"failed", "cancelled"}:
        raise Refused(f"the run has {state.ended.status}: there is nothing to do again", _FORK)
    if message.step and not _is_known(state, message.step):
        raise NoStep(f"no step {message.step!r} of this run is over", "`perdure show` lists the steps")


def _is_known(state: State, step: str) -> bool:
    return step in state.cells and state.cells[step].status == "over" and is_there(state.cells[step])


def reopened(state: State, message: e.RunReopened) -> str:
    """The step to go on with: the one that is named, or whose failure it was; empty: all that was cut off.

    A group is not done anew while nobody knows what a step in it has done: then it is that step that goes on.
    """
    step = message.step or culprit(state)
    return doubt_in(state, step) or step


def culprit(state: State) -> str:
    """The step whose failure ended the run; empty if it was nobody's, or it is not there any more."""
    cause = state.ended.cause if state.ended else ""
    return cause if _is_known(state, cause) else ""


def _accept_report(state: State, message: e.AboutAttempt) -> None:
    if message.deed == "undo":
        effect = state.undoing.get((message.step, message.visit))
        fits = effect is not None and effect.flying and effect.attempts == message.attempt
    else:
        cell = state.flying.get(message.step)
        fits = cell is not None and cell.visit == message.visit and _is_under_way(cell.work, message)
    if not fits:
        raise Stale(f"no attempt {message.attempt} of visit {message.visit} of {message.step!r} is under way")


def _is_under_way(work: Work, message: e.AboutAttempt) -> bool:
    look = work.looking
    if look is not None:
        return message.deed == look.deed and look.number == message.attempt
    return message.deed == "do" and work.attempt == message.attempt


def check_first(state: State, message: e.QuestionAnswered) -> None:
    """Raise `Answered` if somebody has answered before; the first answer stays."""
    first = state.answers.get(message.question)
    if first is None:
        return
    by = state.answerers[message.question]
    said, now = first.load(state.read), message.value.load(state.read)
    who = f" by {by}" if by else ""
    refusal = Answered(f"{message.question} was answered{who}: {_told(said)}", "the first answer counts")
    refusal.same = by == message.by and digest_of(said) == digest_of(now)
    raise refusal


def is_said_before(state: State, message: e.QuestionAnswered) -> bool:
    """Whether the same person gave the same answer before; `Answered` if it was another one."""
    try:
        check_first(state, message)
    except Answered as first:
        if not first.same:
            raise
        return True
    return False


def _told(value: Any) -> str:
    text = value if isinstance(value, str) else to_json(value).decode()
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}…"


def _accept_answer(state: State, message: e.QuestionAnswered, at: int) -> None:
    question = state.questions.get(message.question)
    if question is None:
        known = message.question in state.asked
        told = "is not needed any more" if known else "was never asked"
        raise NoQuestion(f"the question {message.question!r} {told}", "`perdure questions` lists those that are open")
    due = due_of(state, question)
    if due is not None and state.paused_at is None and due <= state.clock(max(at, state.at)):
        raise NoQuestion(f"nobody answered {message.question} in time", "what follows from that is decided now")
    if question.people and message.by not in question.people:
        raise BadAnswer(_not_asked(question, message.by), "say who you are with --by")
    if flaw := flaw_in(question, message.value.load(state.read)):
        raise BadAnswer(f"{message.question}: {flaw}")


def _not_asked(question: e.QuestionAsked, by: str) -> str:
    return f"only {', '.join(question.people)} may answer {question.question}, and {by or 'nobody'} is not among them"


def flaw_in(question: e.QuestionAsked, value: Any) -> str:
    """What is wrong with an answer; empty: nothing."""
    if question.about in {"doubt", "recovery"}:
        choice, _ = answered(value)
        known = isinstance(choice, str) and choice in question.choices
        return "" if known else f"answer one of {', '.join(question.choices)}"
    if question.about == "budget":
        return flaw_of_answer(value, question.of)
    match question.answer:
        case "approval":
            known = isinstance(value, bool) or value in ("approved", "rejected")
            return "" if known else "answer approved or rejected"
        case "choice":
            known = isinstance(value, str) and value in question.choices
            return "" if known else f"answer one of {', '.join(question.choices)}"
        case "text":
            return "" if isinstance(value, str) else "answer with a text"
        case _:
            return "; ".join(flaws(value, question.form or {}))

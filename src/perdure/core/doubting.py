"""In doubt: an attempt of which nobody knows whether it had its effect.

What is safe is done again. Else the tool's probe looks into the world; what it cannot tell is done again under the same
key, if that is known on the other side, and if not, a person is asked.
"""

from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import DOUBTFUL, Failure
from perdure.core.cells import Cell, Look
from perdure.core.chance import drawn, pause_before
from perdure.core.consulting import answered
from perdure.core.deciding import Deciding
from perdure.core.ending import fail, undo_of
from perdure.core.patience import terms, unasked
from perdure.core.quarantine import is_quarantined
from perdure.core.recovering import judge, recover, stop_and_undo
from perdure.core.trying import LOOK_SECONDS, LOOKING, again, call_at, is_same_deed, pause_of, repeat_of

MOST_DOUBTS: Final = 10
"""How often a visit is tried again without asking when its tries are lost one after the other."""
HAPPENED, NOT_HAPPENED, AGAIN, UNDO, GIVE_UP = "happened", "not_happened", "again", "undo", "give_up"
ANSWERS: Final = {
    HAPPENED: "it had its effect",
    NOT_HAPPENED: "it had none: try again",
    AGAIN: "try again, whatever it did",
    UNDO: "take back what it may have done; the step fails",
    GIVE_UP: "the step fails, and what it did stays",
}


def is_doubtful(turn: Deciding, cell: Cell, failure: Failure) -> bool:
    """Whether nobody knows if the deed was done, and that matters. What is safe to repeat may just fail."""
    if failure.kind not in DOUBTFUL:
        return False
    return failure.kind == "in_doubt" or repeat_of(turn, cell) != "safe"


def in_doubt(turn: Deciding, cell: Cell, failure: Failure) -> None:
    """Find out, or do it again if that is harmless, or else ask. Who does not know the tool leaves it to others."""
    if not turn.state.rules.knows(call_at(turn, cell)):
        return
    if cell.question:
        _hear(turn, cell)
    elif repeat_of(turn, cell) != "safe" and turn.state.rules.probes(cell.traits.tool):
        _find_out(turn, cell, failure)
    else:
        _again_or_ask(turn, cell, failure)


def _again_or_ask(turn: Deciding, cell: Cell, failure: Failure) -> None:
    pause = _harmless_pause(turn, cell, failure)
    if pause is not None:
        again(turn, cell, pause)
    else:
        _ask(turn, cell)


def _harmless_pause(turn: Deciding, cell: Cell, failure: Failure) -> int | None:
    """How long until the deed may be done again without asking; None if it may not."""
    repeat = repeat_of(turn, cell)
    if repeat == "never" or (repeat == "keyed" and not is_same_deed(turn, cell)):
        return None  # a key is known on the other side only as long as the deed is the same
    if failure.kind == "in_doubt":
        return 0 if _may_try(cell) else None
    return pause_of(turn, cell, failure)


def _may_try(cell: Cell) -> bool:
    return cell.work.attempt - cell.work.counted <= MOST_DOUBTS and not is_quarantined(cell.work)


# ------------------------------------------------------------------------------- looking into the world


def _find_out(turn: Deciding, cell: Cell, failure: Failure) -> None:
    probe = cell.work.probe
    if probe is None:
        _look(turn, cell, 1)
    elif probe.found is True and probe.told is not None:
        judge(turn, cell, _as_ended(cell, output=turn.keep(_given(turn, probe.told))))
    elif probe.found is False:
        _not_done(turn, cell, failure)
    elif probe.told is not None and probe.told.failure is None:
        _again_or_ask(turn, cell, failure)  # it looked, and could not tell
    else:
        _look_again(turn, cell, failure, probe)


def _given(turn: Deciding, told: e.AttemptEnded) -> Any:
    return told.output.load(turn.read).get("output")


def _not_done(turn: Deciding, cell: Cell, failure: Failure) -> None:
    """It surely had no effect: one that was lost was no try, and any other failed in the plain way."""
    if failure.kind != "in_doubt":
        recover(turn, cell, failure)
    elif _may_try(cell):
        again(turn, cell)
    else:
        _ask(turn, cell)


def _look(turn: Deciding, cell: Cell, number: int) -> None:
    if not is_same_deed(turn, cell):
        _ask(turn, cell)  # a probe is given what the deed was given, and would look for another one
        return
    seconds = turn.state.rules.seconds(call_at(turn, cell)) or LOOK_SECONDS
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": number, "deed": "probe"}
    turn.record_start(cell, e.AttemptStarted(**about, call=cell.work.digest, due=turn.now + round(seconds * 1000)))


def _look_again(turn: Deciding, cell: Cell, failure: Failure, probe: Look) -> None:
    """The look itself failed: wait, and look again."""
    if probe.number >= LOOKING.attempts:
        _again_or_ask(turn, cell, failure)
    elif probe.due is None:
        draw = drawn(turn.state, f"{cell.key}?", cell.visit, probe.number)
        pause = pause_before(draw, probe.number, LOOKING, probe.told.failure if probe.told else None)
        about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": probe.number, "deed": "probe"}
        turn.record(e.RetryPlanned(**about, due=turn.now + pause))
    elif probe.due <= turn.now:
        _look(turn, cell, probe.number + 1)


# ------------------------------------------------------------------------------- asking a person


def _ask(turn: Deciding, cell: Cell) -> None:
    call = call_at(turn, cell)
    choices = tuple(word for word in ANSWERS if word != UNDO or undo_of(turn, cell, "success", None) is not None)
    told = "; ".join(f"{word} ({ANSWERS[word]})" for word in choices)
    died = f"Its process died {cell.work.losses} times. " if is_quarantined(cell.work) else ""
    text = died + (
        f"Attempt {cell.work.attempt} of {cell.key} ({call.kind} {call.name}) was cut off, and nobody knows whether it "
        f"had its effect.{_looked(cell)} Look, then say {told}."
    )
    question = unasked(turn, f"q_{cell.key}_{cell.visit}_doubt{cell.work.attempt}")
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "question": question, "text": text}
    about |= terms(turn, cell)
    turn.record(e.QuestionAsked(answer="choice", about="doubt", choices=choices, **about))


def _looked(cell: Cell) -> str:
    """What a probe had to say."""
    probe = cell.work.probe
    if probe is None:
        return ""
    why = probe.told.failure.message if probe.told and probe.told.failure else "it could not tell"
    return f" The tool's probe was asked: {why}."


def _hear(turn: Deciding, cell: Cell) -> None:
    answer = turn.state.answers.get(cell.question)
    if answer is None:
        if cell.question not in turn.state.questions:
            fail(turn, cell, "in_doubt", "nobody said in time whether it had its effect")
        return
    choice, output = answered(answer.load(turn.read))
    match choice:
        case "happened":
            judge(turn, cell, _as_ended(cell, output=turn.keep(output)))
        case "undo":
            _take_back(turn, cell)
        case "give_up":
            fail(turn, cell, "in_doubt", "nobody knows whether it had its effect")
        case _:
            again(turn, cell)


def _as_ended(cell: Cell, **told: Any) -> e.AttemptEnded:
    """The end that nobody had seen."""
    return e.AttemptEnded(step=cell.key, visit=cell.visit, attempt=cell.work.attempt, **told)


def _take_back(turn: Deciding, cell: Cell) -> None:
    """Stop the visit, and take back what it may have done before it is over."""
    undo = undo_of(turn, cell, "success", None) or {"error": "there is nothing that takes it back"}
    failure = Failure("in_doubt", "nobody knew whether it had its effect, so it was taken back")
    stop_and_undo(turn, cell, failure, undo)

"""Facts in words: one line for each event."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure, Usage
from perdure.core.names import Names
from perdure.core.values import Value
from perdure.documents.entries import entry_json
from perdure.plan.visible import lapse, number_of, visible
from perdure.ports import Entry

SHORT: Final = "%H:%M:%S"
LONG: Final = "%Y-%m-%d %H:%M:%S"
MOST: Final = 100
"""Letters of a value that are shown."""


def line_of(entry: Entry, event: e.Event, form: str = SHORT) -> str:
    """When, which step, what happened."""
    step = getattr(event, "step", "")
    return "  ".join(filter(None, (clock(entry.at, form), visible(step), told(event))))


def clock(at: int, form: str = SHORT) -> str:
    """A time as people here read it."""
    try:
        return datetime.fromtimestamp(at / 1000).astimezone().strftime(form)
    except (OverflowError, ValueError, OSError):
        return "?"


def as_line(entry: Entry) -> str:
    """An entry as one line of JSON, in ASCII."""
    return json.dumps(json.loads(entry_json(entry)))


def failure_words(failure: Failure | None, most: int | None = 300) -> str:
    """Why something failed."""
    return "" if failure is None else f"{failure.kind}: {visible(failure.message, most)}"


def value_words(value: Any, most: int = MOST) -> str:
    """A value on one line, cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return visible(text, most)


def told(event: e.Event) -> str:
    """What happened, in words."""
    words = _TOLD.get(event.type)
    return visible(event.type.replace("_", " ")) if words is None else words(event)


def _and(first: str, *others: str) -> str:
    return ": ".join(filter(None, (first, ", ".join(filter(None, others)))))


def _by(who: str) -> str:
    return f"by {visible(who, 40)}" if who else ""


def _output(value: Value | None) -> str:
    if value is None or (value.data is None and not value.sha256):
        return ""
    return f"a value {value.sha256[:12]}" if value.sha256 else value_words(value.data)


_DEEDS: Final = {
    "do": ("at work", "done"),
    "undo": ("undoing", "undone"),
    "probe": ("finding out whether it happened", "looked"),
    "judge": ("being judged", "judged"),
}


def _attempt(event: e.AboutAttempt) -> str:
    visit = f"visit {event.visit}" if event.visit > 1 else ""
    again = ", ".join(filter(None, (visit, f"attempt {event.attempt}" if event.attempt > 1 else "")))
    return _DEEDS[event.deed][0] + (f" ({again})" if again else "")


def _ended(event: e.AttemptEnded) -> str:
    if event.failure is not None:
        return _and("the attempt failed", failure_words(event.failure), _usage(event.usage), lowered(event.sandboxed))
    done = _DEEDS[event.deed][1]
    exit_ = "" if event.exit == "success" else visible(event.exit)
    told_ = (_output(event.output), _usage(event.usage), lowered(event.sandboxed), _led(event.to or "next"))
    return _and(", ".join(filter(None, (done, exit_))), *told_)


def _usage(usage: Usage | None) -> str:
    if usage is None:
        return ""
    counted = ((usage.tokens, "token"), (usage.calls, "call"))
    words = (number_of(amount, word) if amount else "" for amount, word in counted)
    return ", ".join(filter(None, (*words, "" if usage.usd is None else f"{usage.usd:g} usd")))


def lowered(tier: str) -> str:
    """That commands ran in a lower tier of the sandbox; mostly they did not."""
    return f"sandbox lowered to {visible(tier, 40)}" if tier else ""


def _led(to: str) -> str:
    return "" if to == "next" else f"goes to {visible(to)}"


def _step_ended(event: e.StepEnded) -> str:
    without = "the plan goes on without it" if event.partial else _led(event.to)
    return _and(f"over, {visible(event.exit)}", failure_words(event.failure), without)


def _run_ended(event: e.RunEnded) -> str:
    where = f"in {visible(event.cause)}" if event.cause else ""
    partly = "in part" if event.partial else ""
    return _and(f"the run {event.status.replace('_', ' ')}", partly, where, failure_words(event.failure))


def _asked(event: e.QuestionAsked) -> str:
    choices = f" ({visible(', '.join(event.choices), MOST)})" if event.choices else ""
    return f"asks {visible(event.question)}: {visible(event.text, 300)}{choices}"


def _answered(event: e.QuestionAnswered) -> str:
    return _and(
        f"{visible(event.question)} is answered", _output(event.value), _by(event.by), visible(event.reason, MOST)
    )


def _after(step: str) -> str:
    return f"after {visible(step)}" if step else ""


def names_words(said: e.NamesMapped | Names) -> str:
    """Which name stands for which."""
    pairs = (*said.tools.items(), *said.strategies.items(), *said.plans.items())
    return ", ".join(f"{old} is called {new}" for old, new in pairs)


_RUNGS: Final = {
    "retry": "is done again",
    "simplify": "goes on in its simpler way",
    "relax": "is good enough by its relaxed criteria",
    "alternate": "goes on in another way",
}


def _rung(event: e.RungTaken) -> str:
    by = f", by {visible(event.tool)}" if event.tool else ""
    return _RUNGS.get(event.rung, visible(event.rung)) + by


_TOLD: Final[dict[str, Callable[[Any], str]]] = {
    "run_started": lambda event: _and("the run starts", visible(event.goal, MOST)),
    "run_paused": lambda event: _and("the run is paused", visible(event.reason, MOST), _by(event.by)),
    "run_resumed": lambda event: _and("the run goes on", _by(event.by)),
    "run_stopping": lambda event: _and(
        "the run is stopped", visible(event.reason, MOST), _by(event.by), failure_words(event.failure)
    ),
    "run_forked": lambda event: _and(f"goes its own way from {visible(event.of)} at {event.seq}", _by(event.by)),
    "run_reopened": lambda event: _and("is tried again", _by(event.by)),
    "run_revised": lambda event: _and(
        f"revision {event.base + 1} of the plan", _after(event.after), _by(event.by), visible(event.why, MOST)
    ),
    "revision_refused": lambda event: _and(
        "the plan stays as it is", _after(event.after), _by(event.by), visible(event.reason, 300)
    ),
    "names_mapped": lambda event: _and(f"from now on {visible(names_words(event), MOST)}", _by(event.by)),
    "run_ended": _run_ended,
    "step_entered": lambda event: "begins" + (f" (visit {event.visit})" if event.visit > 1 else ""),
    "step_passed": lambda event: _and(f"is passed by, {visible(event.exit)}", failure_words(event.failure)),
    "locks_taken": lambda _: "has its locks",
    "step_stopping": lambda event: _and("is stopped", failure_words(event.failure)),
    "step_ended": _step_ended,
    "steps_grown": lambda event: f"has {event.items if event.items is not None else len(event.add)} more steps",
    "attempt_started": _attempt,
    "attempt_progressed": lambda event: _and(f"{event.fraction:.0%}", visible(event.message, MOST)),
    "attempt_stopping": lambda _: "took too long and is stopped",
    "attempt_ended": _ended,
    "attempt_lost": lambda _: "its process is gone; nobody saw the end of the attempt",
    "retry_planned": lambda event: f"will be tried again at {clock(event.due)}",
    "rung_taken": _rung,
    "effect_kept": lambda event: _and("cannot be taken back", failure_words(event.failure)),
    "question_asked": _asked,
    "question_answered": _answered,
    "question_closed": lambda event: f"{visible(event.question)} needs no answer any more",
    "signal_received": lambda event: _and(f"signal {visible(event.name)}", _output(event.value), _by(event.by)),
    "signal_taken": lambda event: f"takes the signal {visible(event.name)}",
}


def seconds(milliseconds: int) -> str:
    """A length of time: `250ms`, `3s`, `1m30s`."""
    return lapse(max(0, milliseconds) / 1000)

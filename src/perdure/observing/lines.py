"""Lines of a log: each fact that an operator wants to hear of, as one object of JSON. Facts hold no secrets."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from perdure.observing.spans import trace_of
from perdure.observing.story import Story
from perdure.plan.raw import is_mapping
from perdure.ports import Entry

_QUIET: Final = frozenset({"attempt_progressed", "locks_taken", "steps_grown"})
"""Facts that nobody wants a line about."""
_BAD: Final = frozenset({"attempt_lost", "effect_kept", "revision_refused", "run_stopping"})
_SAID: Final = ("step", "visit", "attempt", "deed", "exit", "status", "reason", "by", "why", "rung", "question", "name")
"""Fields of a fact that are told as they stand."""
_MOST: Final = 500
"""Letters of a text."""


def line_of(entry: Entry, story: Story) -> dict[str, Any] | None:
    """The line about a fact; None: there is none."""
    if entry.type in _QUIET:
        return None
    body = _body_of(entry)
    said = {word: _short(body[word]) for word in _SAID if body.get(word) not in (None, "")}
    failure = body.get("failure")
    found = {**_about(entry, story), "level": _level_of(entry, failure), "event": entry.type, **said}
    if is_mapping(failure):
        found["failure"] = {"kind": failure.get("kind"), "message": _short(failure.get("message"))}
    step = body.get("step")
    if isinstance(step, str) and step:
        kind, name = story.callee(step)
        found |= {"kind": kind, **({"calls": name} if name else {})}
    return {**found, **_of_plans(entry, body, story)}


def _about(entry: Entry, story: Story) -> dict[str, Any]:
    about = {"at": _moment(entry.at), "run": entry.run, "seq": entry.seq, "trace_id": f"{trace_of(entry.run):032x}"}
    return {**about, **({"plan": story.digest} if story.digest else {})}


def _of_plans(entry: Entry, body: Mapping[str, Any], story: Story) -> dict[str, Any]:
    """What is told of a plan when it is used, and when it is changed: against which failures, and how many edits."""
    if entry.type == "run_started":
        return {"planner": story.planner, "plan_name": story.plan, "goal": _short(body.get("goal", ""))}
    if entry.type == "run_revised":
        return {"after": body.get("after", ""), "against": body.get("kind", ""), "edits": len(body.get("edits", ()))}
    return {}


def _level_of(entry: Entry, failure: Any) -> str:
    if entry.type == "run_ended" and failure is not None:
        return "error"
    return "warning" if failure is not None or entry.type in _BAD else "info"


def _body_of(entry: Entry) -> Mapping[str, Any]:
    try:
        found: Any = msgspec.json.decode(entry.body)
    except (ValueError, RecursionError):
        return {}
    return found if is_mapping(found) else {}


def _short(value: Any) -> Any:
    return f"{value[:_MOST]}…" if isinstance(value, str) and len(value) > _MOST else value


def _moment(milliseconds: float) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return ""


class JsonFormatter(logging.Formatter):
    """What this program says of itself, in the same form."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        found = {
            "at": _moment(record.created * 1000),
            "level": record.levelname.lower(),
            "event": "log",
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            found["exception"] = self.formatException(record.exc_info)
        return written(found)


def written(line: Mapping[str, Any]) -> str:
    """A line, in ASCII, so that nothing in it can end it or move the cursor of a terminal."""
    return json.dumps(line, ensure_ascii=True, separators=(",", ":"))

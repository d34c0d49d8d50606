"""Listings of runs. Nothing of a plan has to be loaded for one."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from perdure.documents.moments import moment
from perdure.documents.owning import is_interrupted
from perdure.journal.listing import PAGE
from perdure.ports import Filter, Journal, Run


def runs_document(runs: Sequence[Run], asked: Counter[str], more: int | None, owner: str) -> dict[str, Any]:
    """A page of runs. `asked`: how many questions each has open; `more`: where the next page begins."""
    shown = [{**listed(each), "questions": asked[each.id], "interrupted": _stands(each, owner)} for each in runs]
    return {"schema": "perdure.runs/1", "runs": shown, "next": more, "owner": owner or None}


async def found_runs(journal: Journal, where: Filter, text: str, before: int | None, most: int) -> list[Run]:
    """A page of runs with a text in their goals, newest first; large and small letters are the same."""
    found: list[Run] = []
    wanted = text.casefold()
    while page := await journal.runs(where, before, PAGE if text else most):
        before = page[-1].number
        found += [run for run in page if wanted in run.summary.goal.casefold()]
        if not text or len(found) >= most:
            break
    return found[:most]


def _stands(run: Run, owner: str) -> bool:
    return is_interrupted(run.summary.status, owner)


def listed(run: Run) -> dict[str, Any]:
    """A run as a listing shows it."""
    summary = run.summary
    return {
        "id": run.id,
        "number": run.number,
        "status": summary.status,
        "over": summary.over,
        "goal": summary.goal,
        "session": summary.session or None,
        "parent": summary.parent or None,
        "fork": forked(*fork_of(run)),
        "created": moment(run.created),
        "updated": moment(run.updated),
        "wake_at": moment(summary.wake_at),
        "entries": run.head_seq,
        "head": run.head,
    }


def forked(of: str, seq: int) -> dict[str, Any] | None:
    """Which run another one is a fork of, and from where on."""
    return {"of": of, "seq": seq} if of else None


def fork_of(run: Run) -> tuple[str, int]:
    """The run that another one is a fork of, and the last fact that they share; empty: it is none."""
    try:
        found = json.loads(run.summary.counters).get("fork", {})
        return str(found["of"]), int(found["seq"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", 0


async def open_questions(journal: Journal) -> Counter[str]:
    """How many questions each run has open."""
    counted, after = Counter[str](), 0
    while page := await journal.questions(after=after, limit=PAGE):
        counted.update(question.run for question in page)
        after = page[-1].number
    return counted

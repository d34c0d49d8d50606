"""Revisions: the plan of a run as it was at each of them, and what each has changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from perdure.core.events import RunRevised
from perdure.documents.moments import moment
from perdure.engine import View
from perdure.plan.diff import diff
from perdure.plan.model.document import Plan
from perdure.ports import Entry, Journal


@dataclass(frozen=True, slots=True)
class Revision:
    """A plan, and how it came to be."""

    number: int
    plan: Plan
    by: str = ""
    why: str = ""
    at: str | None = None


async def revisions_in(journal: Journal, run: str) -> Sequence[Revision]:
    """Every plan that a run had, the first one first."""
    found, entries = await journal.load((await journal.run(run)).id)
    return revisions_among(View(journal, found.id), entries)


def revisions_among(view: View, entries: Iterable[Entry]) -> Sequence[Revision]:
    """The same, of all entries of a run. They are folded here, which takes its time."""
    found = list[Revision]()
    for entry in entries:
        event = view.take(entry)
        if isinstance(event, RunRevised):
            found.append(Revision(len(found), view.plan, event.by, event.why, moment(entry.at)))
        elif not found:
            found.append(Revision(0, view.plan, at=moment(entry.at)))
    return found


def revisions_document(revisions: Sequence[Revision]) -> dict[str, Any]:
    """What each revision has changed."""
    return {"schema": "perdure.revisions/1", "revisions": [_revision(*pair) for pair in pairwise(revisions)]}


def _revision(old: Revision, new: Revision) -> dict[str, Any]:
    about = {"number": new.number, "at": new.at, "by": new.by, "why": new.why}
    return {**about, **diff(old.plan, new.plan).as_json()}


def diff_document(old: Plan, new: Plan) -> dict[str, Any]:
    """What differs between two plans."""
    return {"schema": "perdure.diff/1", "before": old.hash, "after": new.hash, **diff(old, new).as_json()}

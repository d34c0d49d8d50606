"""Progress: how far a run is, and when it will be over."""

from dataclasses import asdict
from typing import Any

from perdure.documents.moments import moment
from perdure.engine import View
from perdure.estimates.history import History
from perdure.estimates.progress import Pace, Progress
from perdure.estimates.sources import Means
from perdure.ports import Journal


def progress_document(run: str, found: Progress | None, now: int) -> dict[str, Any]:
    """How far a run is at a moment, in milliseconds; times left are in seconds."""
    told = {} if found is None else asdict(found)
    over = None if found is None or not found.left.p90 else {
        word: moment(now + round(getattr(found.left, word) * 1000)) for word in ("p50", "p90")
    }  # fmt: skip
    return {"schema": "perdure.progress/1", "id": run, "at": moment(now), "over": over, **told}


async def paced(journal: Journal, run: str, history: History, means: Means | None = None) -> tuple[View, Pace]:
    """A run that is followed, as it stands; whoever goes on following it lets the pace see what the view takes."""
    _, entries = await journal.load(run)
    view = View(journal, run)
    pace = Pace(view.state, history, means)
    for entry in entries:
        pace.see(view.take(entry))
    return view, pace

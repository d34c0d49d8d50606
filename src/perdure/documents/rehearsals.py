"""Rehearsals: what a plan would do, told without doing it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.engine.rehearsing import Rehearsal
from perdure.plan.problems import Problem


def rehearsal_document(found: Rehearsal, lacks: Sequence[Problem] = ()) -> dict[str, Any]:
    """What came of one; `lacks` are what would stand in its way."""
    return {
        "schema": "perdure.rehearsal/1",
        "status": found.status,
        "failure": found.failure or None,
        "output": found.output,
        "steps": [{"step": step, "exit": exit_} for step, exit_ in found.steps],
        "deeds": [msgspec.to_builtins(each) for each in found.deeds],
        "questions": [{"step": step, "text": text} for step, text in found.questions],
        "outside": [{"step": step, "text": text} for step, text in found.outside],
        "unforeseen": [{"step": step, "text": text} for step, text in found.unforeseen],
        "costs": found.costs,
        "diff": found.diff,
        "lacks": [each.as_json() for each in lacks],
    }

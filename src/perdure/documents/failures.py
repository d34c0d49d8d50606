"""Failures: what failed in a run, what was tried next, what it cost, and what helped."""

from collections.abc import Iterable
from typing import Any

from perdure.documents.moments import moment
from perdure.engine.auditing import Case


def failures_document(run: str, status: str, cases: Iterable[Case]) -> dict[str, Any]:
    """All that failed in a run."""
    return {"schema": "perdure.failures/1", "id": run, "status": status, "failures": list(map(_case, cases))}


def _case(case: Case) -> dict[str, Any]:
    told = case.data()
    told["at"] = moment(case.at)
    for trouble in told["troubles"]:
        trouble["at"] = moment(trouble["at"])
        for remedy in trouble["remedies"]:
            remedy["at"] = moment(remedy["at"])
    return told

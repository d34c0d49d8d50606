"""Checks: what is wrong with a plan, and what it measures."""

from collections.abc import Sequence
from typing import Any

from perdure.plan.measures import measure
from perdure.plan.reading import Reading


def check_document(plans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Plans that were checked."""
    return {"schema": "perdure.check/1", "plans": list(plans)}


def checked(name: str, reading: Reading, unknown: Sequence[str] = ()) -> dict[str, Any]:
    """One of them. `unknown`: tools that are known nowhere here, and so were not checked."""
    usable = reading.plan if not reading.errors else None
    return {
        "file": name,
        "ok": usable is not None,
        "dialect": reading.dialect,
        "hash": usable.hash if usable else None,
        "measures": measure(usable).as_json() if usable else None,
        "problems": [problem.as_json() for problem in reading.problems],
        "unknown_tools": list(unknown),
    }

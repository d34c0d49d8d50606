"""Exit codes, the same for every command."""

from typing import Final

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
WAITING: Final = 4
CANCELLED: Final = 5
INVALID_PLAN: Final = 6
BROKEN: Final = 7
BUDGET: Final = 8
LOCKED: Final = 75
LATE: Final = 124
INTERRUPTED: Final = 130

_BY_STATUS: Final = {"succeeded": OK, "failed": FAILED, "rolled_back": FAILED, "cancelled": CANCELLED}


def code_of(status: str, kind: str = "") -> int:
    """What a command ends with that followed a run as far as this; `kind` is that of the run's failure."""
    if status == "failed" and kind == "budget":
        return BUDGET
    return _BY_STATUS.get(status, WAITING)

"""Whether somebody carries a run on. A run whose process is gone is still `running`: nobody was there to write more."""

from collections.abc import Sequence
from typing import Final

from perdure.journal.lock import writer_of

__all__ = ["CHOICES", "INTERRUPTED", "is_interrupted", "wanted", "writer_of"]

INTERRUPTED: Final = "interrupted"
"""What a listing calls a run that is under way, while no process has its journal. It is no status of a run."""
UNDER_WAY: Final = ("running", "stopping")
STATUSES: Final = ("running", "waiting", "paused", "stopping", "succeeded", "failed", "cancelled", "rolled_back")
CHOICES: Final = (*STATUSES, INTERRUPTED)
"""What a listing can be narrowed to."""


def is_interrupted(status: str, owner: str) -> bool:
    """Whether a run stands still until somebody resumes it. `owner`: who has the journal, if anybody does."""
    return not owner and status in UNDER_WAY


def wanted(statuses: Sequence[str], owner: str) -> tuple[str, ...]:
    """The statuses that a filter stands for, which may name what is interrupted."""
    interrupted = UNDER_WAY if INTERRUPTED in statuses and not owner else ()
    return tuple(dict.fromkeys([each for each in statuses if each != INTERRUPTED] + list(interrupted)))

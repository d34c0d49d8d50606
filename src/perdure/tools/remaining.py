"""Which of the things that hands keep are still needed.

A record is kept for a run: what was changed, what a command has found, what was done to a repository. As long as the
run is in the journal it can go on or be taken back, and nothing of it is touched. What no such run needs may go.
"""

import math
from typing import NamedTuple


class Remaining(NamedTuple):
    """The runs that are in the journal, and how old something has to be before it goes."""

    runs: frozenset[str]
    before: float
    """Seconds since 1970. What was written later stays, whoever wrote it."""
    since: float = math.inf
    """When the oldest of these runs began. What names no run and is older belongs to none of them."""

    def needs(self, run: str, written: float) -> bool:
        """Whether what was kept for a run has to stay; an empty id: it was kept by a release that did not say whose."""
        if written >= self.before:
            return True
        return run in self.runs if run else written >= self.since

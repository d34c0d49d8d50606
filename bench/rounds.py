"""Rounds: every workload on every engine, those of the same workload side by side in time, in an order drawn by lot.

A machine that others use changes from minute to minute, so numbers are compared within a round only: a ratio is the
median of what each round says.
"""

import random
import statistics
from dataclasses import dataclass, field

from trial import Job, Row
from venvs import PEERS

LIMIT = 120.0
"""Seconds of one trial; what takes longer once is not tried again."""
USUAL = 1_000
"""What is larger than this is about growth."""


def jobs(peers: list[str]) -> list[Job]:
    """All there is to try."""
    return [
        Job(workload, n, peer, variant)
        for peer in peers
        for variant, workloads in PEERS[peer]["variants"].items()
        for workload, sizes in workloads.items()
        for n in sizes
    ]


def order(all_jobs: list[Job], turn: int) -> list[Job]:
    """One round: a workload after another, the large ones last, and their engines in another order each time."""
    draw = random.Random(turn)
    places = {job: draw.random() for job in sorted(all_jobs)}
    return sorted(all_jobs, key=lambda job: (job.n > USUAL, job.workload, job.n, places[job]))


@dataclass
class Found:
    """What the trials of all rounds have told."""

    rows: dict[Job, list[Row | None]] = field(default_factory=dict[Job, list[Row | None]])
    """By round; None where one was not tried."""
    hopeless: set[Job] = field(default_factory=set[Job])

    def note(self, job: Job, turn: int, row: Row) -> None:
        """Remember one more trial."""
        if "error" in row:
            self.hopeless.add(job)
        rows = self.rows.setdefault(job, [])
        rows += [None] * (turn - len(rows))
        rows.append(row)

    def values(self, job: Job, what: str) -> list[float]:
        """What the rounds say about something."""
        return [row[what] for row in self.rows.get(job, []) if row is not None and what in row]

    def ratios(self, mine: Job, other: Job, what: str) -> list[float]:
        """How often one is the other, in each round that has both."""
        pairs = zip(self.rows.get(mine, []), self.rows.get(other, []), strict=False)
        return [a[what] / b[what] for a, b in pairs if a and b and what in a and b.get(what)]

    def median(self, job: Job, what: str) -> float | None:
        """The middle of what the rounds say."""
        values = self.values(job, what)
        return statistics.median(values) if values else None

    def error(self, job: Job) -> str:
        """Why there is nothing to tell, if there is not."""
        return next((row["error"] for row in self.rows.get(job, []) if row and "error" in row), "")

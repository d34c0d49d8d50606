"""What is not counted from facts, but looked at when somebody asks."""

from typing import Final

from perdure.observing.counts import Metric

PREFIX: Final = "perdure_"
"""What the names of all metrics begin with."""
OPEN_RUNS: Final = Metric("open_runs", "Runs that are not over, by how they stand.", ("status",))
WAITING: Final = Metric("waiting_approvals", "Questions that wait for a person: approvals, choices and all others.")
COUNTED: Final = Metric(
    "counted", "1 if all facts are counted; 0 while a journal is counted for the first time: then no numbers are told."
)
COMMITS: Final = Metric(
    "journal_commit_seconds",
    "How long commits of the journal took in this process, with the wait for the disk.",
    (),
    (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
LIVE: Final = (OPEN_RUNS, WAITING, COUNTED, COMMITS)

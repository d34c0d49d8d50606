"""The bars that Perdure is held to beside others: ratios within one run, round by round."""

from figures import Figure
from rounds import Found
from trial import Job

SPEED = "steps_per_s"
OTHERS = {
    "floor": "the bare loop",
    "langgraph": "LangGraph (sync)",
    "burr": "Burr",
}
VARIANTS = {"perdure": "sqlite", "floor": "sqlite-full", "langgraph": "sync", "burr": "sync", "dbos": "sqlite"}
NAMES = {
    "w1": "a chain of {n:,} steps",
    "w2": "a fan-out of {n:,} steps",
    "w3": "{n:,} runs of 10 steps at once",
    "w4": "a graph of {n:,} steps",
    "w5": "a chain of {n:,} steps, killed in its middle",
    "w7": "a chain of {n:,} steps, in memory",
    "w8": "a chain of {n:,} steps of 4 KB each",
}
FASTER = (
    ("w1", 1_000, "floor", 0.6),
    ("w1", 1_000, "langgraph", 4.0),
    ("w2", 1_000, "floor", 1.5),
    ("w2", 1_000, "langgraph", 8.0),
    ("w3", 200, "floor", 1.5),
    ("w3", 200, "langgraph", 8.0),
    ("w4", 1_000, "langgraph", 8.0),
    ("w7", 1_000, "burr", 1.0),
    ("w8", 300, "floor", 0.5),
)
"""Perdure makes at least so many times the steps a second that the other one makes."""


def job(workload: str, n: int, peer: str) -> Job:
    """The trial of a bar."""
    return Job(workload, n, peer, "memory" if workload == "w7" else VARIANTS[peer])


def name_of(workload: str, n: int) -> str:
    """A workload in words."""
    return NAMES[workload].format(n=n)


def bars(found: Found) -> list[Figure]:
    """All that can be said by now."""
    return [*_speed(found), *_disk(found), *_kill(found)]


def _speed(found: Found) -> list[Figure]:
    told: list[Figure] = []
    for workload, n, other, least in FASTER:
        ratios = found.ratios(job(workload, n, "perdure"), job(workload, n, other), SPEED)
        if ratios:
            told.append(Figure.of(f"{name_of(workload, n)}: speed, of {OTHERS[other]}", ratios, "x", least=least))
    return told


def _disk(found: Found) -> list[Figure]:
    small, large = job("w1", 1_000, "perdure"), job("w8", 300, "perdure")
    told: list[Figure] = []
    if bytes_ := found.values(small, "bytes"):
        each = [size / small.n for size in bytes_]
        told.append(
            Figure.of(f"{name_of('w1', small.n)}: disk for a step with a small result", each, "bytes", most=900)
        )
    if sizes := found.values(large, "bytes"):
        pairs = zip(sizes, found.values(large, "payload_bytes"), strict=True)
        ratios = [size / payload for size, payload in pairs]
        told.append(Figure.of(f"{name_of('w8', large.n)}: disk, of the payload", ratios, "x", most=1.3))
    return told


def _kill(found: Found) -> list[Figure]:
    mine, bare = job("w5", 1_000, "perdure"), job("w5", 1_000, "floor")
    who = name_of("w5", mine.n)
    told: list[Figure] = []
    if ratios := found.ratios(mine, bare, "first_new_s"):
        told.append(Figure.of(f"{who}: first new step, of {OTHERS['floor']}", ratios, "x", most=2))
    if twice := found.values(mine, "twice"):
        told.append(Figure.of(f"{who}: steps executed twice (the one in flight)", twice, "", most=1))
        told.append(Figure.of(f"{who}: steps never executed", found.values(mine, "never"), "", most=0))
    return told

"""Statistics: what became of many runs, in numbers."""

from collections import defaultdict
from typing import Any, NamedTuple

from perdure.documents.listing import fork_of
from perdure.documents.moments import moment
from perdure.journal.listing import PAGE, every_run
from perdure.observing import metrics as m
from perdure.observing.counts import Counts, Histogram, Metric
from perdure.observing.folding import Fold
from perdure.ports import Journal, Run

_HOUR = 3_600_000


class Counted(NamedTuple):
    """What was counted, and since when there is something to count, in milliseconds."""

    counts: Counts
    began: int | None


async def counted(journal: Journal, since: int = 0) -> Counted:
    """What the facts of a journal come to, or those from a time on."""
    counts, fold = Counts(), Fold(journal.fetch)
    runs = await every_run(journal)
    for run in runs:
        if run.updated >= since:
            await _count(counts, fold, journal, run, since)
    return Counted(counts, since or min((run.created for run in runs), default=None))


async def _count(counts: Counts, fold: Fold, journal: Journal, run: Run, since: int) -> None:
    """One run. What a fork has taken over was counted where it happened."""
    copied, after = fork_of(run)[1], 0
    while page := await journal.read(run.id, after, PAGE):
        after = page[-1].seq
        found = fold.take(run.id, page)
        m.count(counts, (each for each in found if each.seq > copied and each.till >= since))
    fold.forget(run.id)


def stats_document(found: Counted, now: int) -> dict[str, Any]:
    """The numbers, up to now."""
    counts, began = found
    return {
        "schema": "perdure.stats/1",
        "since": moment(began),
        "until": moment(now),
        "runs": _runs(counts, None if began is None else (now - began) / _HOUR),
        "planners": _planners(counts),
        "planning": _sizes(counts.whole(m.PLANNING_SECONDS)),
        "steps": _steps(counts),
        "attempts": _attempts(counts),
        "failures": _by(counts, m.FAILURES, "failure"),
        "retries": int(counts.total(m.RETRIES)),
        "recoveries": _by(counts, m.RUNGS, "rung"),
        "effects_kept": int(counts.total(m.KEPT)),
        "models": _models(counts),
        "chosen_tools": _by(counts, m.CHOSEN, "status"),
        "revisions": _by(counts, m.REVISIONS, "by"),
        "revisions_refused": int(counts.total(m.REFUSALS)),
        "questions": _questions(counts),
    }


def _runs(counts: Counts, hours: float | None) -> dict[str, Any]:
    started, over = int(counts.total(m.STARTED)), _by(counts, m.RUNS, "status")
    ended = sum(over.values())
    return {
        "started": started,
        "per_hour": round(started / hours, 3) if hours else None,
        "over": over,
        "success_rate": round(over.get("succeeded", 0) / ended, 4) if ended else None,
        "seconds": _sizes(counts.whole(m.RUN_SECONDS)),
        "steps_in_plan": _sizes(counts.whole(m.PLAN_STEPS)),
        "steps_done": _sizes(counts.whole(m.RUN_STEPS)),
        "failures": _by(counts, m.FAILED_RUNS, "failure"),
    }


def _planners(counts: Counts) -> dict[str, Any]:
    names = {labels["planner"] for labels, _ in counts.of(m.STARTED)}
    whole = counts.total(m.STARTED)
    return {
        name: {
            "started": int(started := counts.total(m.STARTED, planner=name)),
            "share": round(started / whole, 4),
            "over": _by(counts, m.RUNS_BY_PLANNER, "status", planner=name),
            "failures": _by(counts, m.FAILED_RUNS, "failure", planner=name),
            "usd": _money(counts.total(m.COST, planner=name)),
        }
        for name in sorted(names)
    }


def _steps(counts: Counts) -> dict[str, Any]:
    over = defaultdict[str, dict[str, int]](dict)
    for labels, number in sorted(counts.of(m.STEPS), key=str):
        over[labels["tool"]][labels["status"]] = int(number)
    times = {labels["kind"]: _sizes(each) for labels, each in sorted(counts.sizes(m.STEP_SECONDS), key=_first)}
    return {"over": dict(over), "passed": _by(counts, m.PASSED, "status"), "seconds": times}


def _attempts(counts: Counts) -> list[dict[str, Any]]:
    """Tries at deeds, by what was called."""
    return [
        {
            **labels,
            "over": _by(counts, m.ATTEMPTS, "status", kind=labels["kind"], name=labels["name"]),
            "seconds": _sizes(times),
        }
        for labels, times in sorted(counts.sizes(m.ATTEMPT_SECONDS), key=_first)
    ]


def _models(counts: Counts) -> dict[str, Any]:
    """What was asked of each model; by an empty name what was asked for by others, such as agents and judges."""
    names = {labels["model"] for metric in (m.CALLS, m.TOKENS, m.COST) for labels, _ in counts.of(metric)}
    return {
        name: {
            "calls": int(counts.total(m.CALLS, model=name)),
            "tokens": int(counts.total(m.TOKENS, model=name)),
            "usd": _money(counts.total(m.COST, model=name)),
            "unpriced": int(counts.total(m.UNPRICED, model=name)),
        }
        for name in sorted(names)
    }


def _questions(counts: Counts) -> dict[str, Any]:
    return {
        labels["about"]: {
            "asked": int(number),
            "closed": _by(counts, m.ANSWERED, "status", about=labels["about"]),
            "seconds": _sizes(counts.whole(m.ANSWER_SECONDS, about=labels["about"])),
        }
        for labels, number in sorted(counts.of(m.ASKED), key=str)
    }


def _by(counts: Counts, metric: Metric, label: str, **where: str) -> dict[str, int]:
    """What a counter has counted, by one of its labels."""
    found = defaultdict[str, float](float)
    for labels, number in counts.of(metric):
        if where.items() <= labels.items():
            found[labels[label]] += number
    return {word: int(number) for word, number in sorted(found.items())}


def _sizes(histogram: Histogram) -> dict[str, Any]:
    """How many, how large together, and about how large the smallest are that half, 90 and 99 of 100 stay below."""
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    about = {
        word: None if (size := histogram.quantile(share)) is None else round(size, 3) for word, share in shares.items()
    }
    return {"count": histogram.count, "sum": round(histogram.total, 3), **about}


def _first(pair: tuple[dict[str, str], Histogram]) -> str:
    return str(pair[0])


def _money(usd: float) -> float:
    return round(usd, 6)

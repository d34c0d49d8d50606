"""The page: everything that was measured, in tables. No number in it was typed by a hand."""

import ast
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from figures import Figure, number
from machine import Meter
from plot import plot
from ratios import SPEED, bars, job, name_of
from rounds import USUAL, Found
from trial import Job

HEAD = """\
# Results

Written by `make bench`, which writes it anew each time. What the numbers mean, and how they were measured, is said in
[README.md](README.md). Ratios are within one run, round by round; the rest depends on the machine.
"""
BUSY = 0.15
"""The share of the processors from which on a machine counts as busy with others."""
GROWING = ("w1", "w2", "w4")


@dataclass
class Report:
    """What was found."""

    machine: dict[str, str]
    meter: Meter
    found: Found
    peers: list[str] = field(default_factory=list[str])
    own: dict[str, list[Figure]] = field(default_factory=dict[str, list[Figure]])
    syncs: dict[str, float] = field(default_factory=dict[str, float])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    is_whole: bool = False

    @property
    def barred(self) -> list[Figure]:
        """All that has a bar."""
        every = [*bars(self.found), *(figure for figures in self.own.values() for figure in figures)]
        return [figure for figure in every if figure.holds is not None]

    @property
    def verdict(self) -> str:
        """How many bars hold."""
        return f"{sum(bool(each.holds) for each in self.barred)} of {len(self.barred)} bars hold"


def write(report: Report, where: Path) -> None:
    """The page and its plot; each is there as a whole, or as it was before."""
    for name, text in (("results.svg", plot(report.found, report.peers)), ("RESULTS.md", page(report))):
        new = where / f"{name}.new"
        new.write_text(text, encoding="utf-8")
        new.replace(where / name)


def page(report: Report) -> str:
    """All of it."""
    parts = [HEAD, *_verdict(report), *_machine(report), "![How fast, and how it grows](results.svg)\n"]
    parts += ["## Beside others\n", _figures(bars(report.found)), *_workloads(report), *_kills(report)]
    parts += [*_growth(report), *_syncs(report), *_own(report), *_left_out(report)]
    return "\n".join(parts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table; the first columns are words, the others numbers."""
    marks = ["---"] * words + ["--:"] * (len(head) - words)
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(each) + " |" for each in lines) + "\n"


def _figures(figures: Sequence[Figure]) -> str:
    rows = [
        (each.name, f"{number(each.value)} {each.unit}".strip(), each.spread, each.bar, _word(each)) for each in figures
    ]
    return table(("", "median", "min..max", "bar", "holds"), rows)


def _word(figure: Figure) -> str:
    return {True: "yes", False: "**no**", None: ""}[figure.holds]


def _verdict(report: Report) -> Iterator[str]:
    if not report.is_whole:
        yield "**Not whole**: it goes on, was stopped, or had no time for the rest.\n"
    yield f"**{report.verdict}.**" + (" Not:\n" if any(not each.holds for each in report.barred) else "\n")
    missed = [each for each in report.barred if not each.holds]
    if missed:
        yield "".join(f"- {each.name}: {number(each.value)} {each.unit} ({each.bar})\n" for each in missed)


def _machine(report: Report) -> Iterator[str]:
    yield table(("", ""), [(name, told) for name, told in report.machine.items()], words=2)
    meter, rounds = report.meter, max((len(rows) for rows in report.found.rows.values()), default=0)
    count = "1 round" if rounds == 1 else f"{rounds} rounds"
    told = f"{count}, {meter.minutes:.0f} minutes. Others had {meter.others:.0%} of the processors meanwhile"
    if meter.loads:
        told += f"; the load was {statistics.median(meter.loads):.1f} (at most {max(meter.loads):.1f}), ours included"
    yield told + ".\n"
    if meter.others > BUSY:
        yield "**The machine was busy with other things: times are worth little, ratios something.**\n"


def _workloads(report: Report) -> Iterator[str]:
    found = report.found
    kinds = sorted({(each.workload, each.n) for each in found.rows if each.workload[:2] != "w5"})
    for workload, n in kinds:
        if "group" in workload or "task" in workload or (workload in GROWING and n != USUAL):
            continue
        alike = [each for each in found.rows if each.workload.startswith(workload) and each.n == n]
        alike.sort(key=lambda each: -(found.median(each, SPEED) or 0))
        rows = [_row(found, each) for each in alike]
        head = ("", "steps/s", "min..max", "Perdure is", "processor µs/step", "disk bytes/step", "memory MB")
        yield f"### {name_of(workload, n)[0].upper()}{name_of(workload, n)[1:]} ({workload})\n"
        yield table(head, rows)


def engine_of(job: Job) -> str:
    """Who it is, and how it keeps what it does."""
    more = {"group": ", grouped", "task": ", a task each"}
    shared = next((words for end, words in more.items() if job.workload.endswith(end)), "")
    return f"{job.peer} ({job.variant}{shared})"


def _row(found: Found, each: Job) -> tuple[str, ...]:
    name = f"**{engine_of(each)}**" if each.peer == "perdure" else engine_of(each)
    if error := found.error(each):
        return (name, "", "", error, "", "", "")
    speeds = Figure.of("", found.values(each, SPEED))
    mine = job(each.workload.removesuffix("group").removesuffix("task"), each.n, "perdure")
    ratios = found.ratios(mine, each, SPEED)
    steps = found.median(each, "steps") or each.n
    return (
        name,
        number(speeds.value),
        speeds.spread,
        f"{number(statistics.median(ratios))} x" if ratios and each.peer != "perdure" else "",
        number(found.median(each, "cpu_us_per_step") or 0),
        number((found.median(each, "bytes") or 0) / steps),
        number((found.median(each, "rss_peak_kb") or 0) / 1024),
    )


def _kills(report: Report) -> Iterator[str]:
    found = report.found
    killed = [each for each in found.rows if each.workload == "w5"]
    if not killed:
        return
    killed.sort(key=lambda each: found.median(each, "first_new_s") or 1e9)
    rows: list[tuple[str, ...]] = []
    for each in killed:
        if error := found.error(each):
            rows.append((engine_of(each), error, "", "", ""))
            continue
        new, whole = (Figure.of("", found.values(each, what)) for what in ("first_new_s", "resumed_s"))
        counts = (number(found.median(each, what) or 0) for what in ("twice", "never"))
        rows.append((engine_of(each), number(new.value), new.spread, number(whole.value), *counts))
    head = ("", "first new step, s", "min..max", "to the end, s", "executed twice", "never executed")
    yield f"### {name_of('w5', killed[0].n)[0].upper()}{name_of('w5', killed[0].n)[1:]} (w5)\n"
    yield table(head, rows)


def _growth(report: Report) -> Iterator[str]:
    found = report.found
    yield "## Growth with N\n"
    yield "Processor time of a step, in microseconds; and that of a step of the largest, of one among 1,000.\n"
    for workload in GROWING:
        of = [each for each in found.rows if each.workload == workload and not found.error(each)]
        sizes = sorted({each.n for each in of})
        engines = sorted({(each.peer, each.variant) for each in of}, key=lambda each: report.peers.index(each[0]))
        rows = [_grown(found, [Job(workload, n, *engine) for n in sizes]) for engine in engines]
        if rows:
            yield table((name_of(workload, 0).replace("0 ", "N "), *(f"{n:,}" for n in sizes), "growth"), rows)


def _grown(found: Found, row: list[Job]) -> tuple[str, ...]:
    costs = {each.n: cost for each in row if (cost := found.median(each, "cpu_us_per_step")) is not None}
    largest = max(costs, default=0)
    growth = f"{number(costs[largest] / costs[USUAL])} x" if USUAL in costs and largest > USUAL else ""
    return (engine_of(row[0]), *(number(costs[each.n]) if each.n in costs else "" for each in row), growth)


def _syncs(report: Report) -> Iterator[str]:
    if report.syncs:
        yield "## Waits for the disk\n"
        yield "`fsync` and its like in each step of a chain, as `strace` counts them. Who never waits can lose steps.\n"
        yield table(("", "in a step"), [(peer, f"{count:.2f}") for peer, count in report.syncs.items()])


def _own(report: Report) -> Iterator[str]:
    for name, figures in report.own.items():
        told = ast.get_docstring(ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))) or ""
        yield f"## {name[0].upper()}{name[1:]}\n"
        yield f"{told.splitlines()[0]}\n"
        yield _figures(figures)


def _left_out(report: Report) -> Iterator[str]:
    failed = {str(each): error for each in report.found.rows if (error := report.found.error(each))}
    if left := {**report.left_out, **failed}:
        yield "## Left out\n"
        yield "".join(f"- {what}: {why}\n" for what, why in left.items())

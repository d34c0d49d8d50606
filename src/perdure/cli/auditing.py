"""The audit of a run, for people and as data: what failed, what was tried, what it cost, what helped."""

from collections.abc import Iterator
from typing import Final

import click
import msgspec

from perdure.cli.printing import print_json, print_table
from perdure.cli.telling import LONG, clock, seconds, value_words
from perdure.core.calls import Usage
from perdure.documents.failures import failures_document
from perdure.engine.auditing import Case, Remedy, Trouble, audit
from perdure.plan.visible import number_of, visible
from perdure.ports import Entry

MESSAGE: Final = 160
"""Letters of a message that are shown."""
Line = tuple[int, str, str, str]
"""When, which step, what, and more about it."""


def show_failures(run: str, status: str, entries: list[Entry], *, as_json: bool) -> None:
    """Show what failed in a run."""
    cases = audit(entries)
    if as_json:
        print_json(failures_document(run, status, cases))
        return
    if not cases:
        click.echo(f"run {run} ({status.replace('_', ' ')}): nothing failed")
        return
    click.echo(f"run {run} ({status.replace('_', ' ')}): {_summary(cases)}")
    click.echo()
    lines = sorted((line for case in cases for line in _lines(case)), key=lambda line: line[0])
    print_table(["when", "step", "", ""], [(clock(at, LONG), *words) for at, *words in lines])


def _summary(cases: list[Case]) -> str:
    failed = sum(len(case.troubles) for case in cases)
    helped = sum(1 for case in cases if case.helped)
    return f"{number_of(failed, 'failure')} in {number_of(len(cases), 'visit')}, {helped:,} of them helped"


# ------------------------------------------------------------------------------- one visit in lines


def _lines(case: Case) -> Iterator[Line]:
    name = f"{case.step}#{case.visit}" if case.visit > 1 else case.step
    for trouble in case.troubles:
        yield trouble.at, name, f"✗ {trouble.kind}", _told(trouble)
        for remedy in trouble.remedies:
            yield remedy.at, name, f"→ {remedy.did}", _tried(remedy)
    if case.at is not None:
        yield case.at, name, *_end(case)


def _told(trouble: Trouble) -> str:
    deed = "" if trouble.deed == "do" else f" ({trouble.deed})"
    attempt = f"attempt {trouble.attempt}{deed}" if trouble.attempt else ""
    by = f"by {trouble.rule}" if trouble.rule else ""
    cost = Usage(seconds=trouble.seconds) if trouble.usage is None else _with(trouble.usage, trouble.seconds)
    pause = "" if trouble.retry_after is None else f"asks to stay away {trouble.retry_after:g}s"
    return "; ".join(filter(None, (visible(trouble.message, MESSAGE), attempt, by, trouble.where, pause, _cost(cost))))


def _with(usage: Usage, took: float) -> Usage:
    return msgspec.structs.replace(usage, seconds=took)


def _tried(remedy: Remedy) -> str:
    after = "" if remedy.after is None else f"after {seconds(round(remedy.after * 1000))}"
    answer = "" if remedy.answer is None else value_words(remedy.answer)
    by = f"by {remedy.by}" if remedy.by else ""
    tool = f"with {visible(remedy.tool)}" if remedy.tool else ""
    return ", ".join(filter(None, (tool, after, remedy.question, answer, by)))


def _end(case: Case) -> tuple[str, str]:
    cost = _cost(case.cost) if len(case.troubles) > 1 else ""
    lost = f"the failures took {cost}" if cost else ""
    if case.helped:
        return f"✓ {case.exit}", ", ".join(filter(None, (f"{case.helped} helped", lost)))
    because = f"because of {case.cause}" if case.cause else ""
    goes = "" if case.to in ("next", "recover", "") else f"goes to {case.to}"
    mark = "✓" if case.partial else "✗" if case.failure else "■"
    words = ("in part" if case.partial else "", because, _held_back(case), goes, lost)
    return f"{mark} {case.exit}", ", ".join(filter(None, words))


def _held_back(case: Case) -> str:
    """Why a group was not done again, or in another way that it has."""
    named = ", ".join(visible(each) for each in case.stays)
    return f"not tried in any other way, for this cannot be taken back: {named}" if named else ""


def _cost(usage: Usage) -> str:
    took = seconds(round(usage.seconds * 1000)) if usage.seconds else ""
    counted = [number_of(usage.tokens, "token") if usage.tokens else "", f"{usage.usd:g} usd" if usage.usd else ""]
    return ", ".join(filter(None, (took, *counted)))

"""`perdure stats`: many runs in numbers."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from perdure.cli.arguments import length_of_time
from perdure.cli.journals import db_option, is_there, opened, settings_for
from perdure.cli.printing import json_option, print_json, print_table
from perdure.config import Settings
from perdure.plan.visible import lapse

_SECOND: Final = 1000


@click.command()
@click.option(
    "--since", callback=length_of_time, metavar="TIME", help="Only what happened since then, as in 7d or 12h ago."
)
@click.option("--dashboard", "for_grafana", is_flag=True, help="Print a dashboard for Grafana instead, as JSON.")
@db_option
@json_option
def stats(since: float | None, for_grafana: bool, db: str | None, as_json: bool) -> None:
    """Count what became of runs: how they ended, what they took, what failed, who was asked.

    Times and sizes are told as the numbers that half, and 90 of 100, stay below; they are about right.

    What /metrics of a server tells is the same, for Prometheus; --dashboard prints one that shows it in Grafana.
    """
    if for_grafana:
        from perdure.observing.dashboard import dashboard  # noqa: PLC0415  only when it is asked for

        click.echo(dashboard(), nl=False)
        return
    now = int(time.time() * _SECOND)
    document = asyncio.run(_document(settings_for(db), now, 0 if since is None else now - int(since * _SECOND)))
    if as_json:
        print_json(document)
        return
    print_table(["what", "how", "number", "half below", "90% below"], _rows(document))


async def _document(settings: Settings, now: int, since: int) -> dict[str, Any]:
    from perdure.documents.stats import Counted, counted, stats_document  # noqa: PLC0415  only when it is called
    from perdure.observing.counts import Counts  # noqa: PLC0415  as above

    if not is_there(settings):
        return stats_document(Counted(Counts(), since or None), now)
    from perdure.documents.estimates import calibration_document  # noqa: PLC0415  as above

    async with opened(settings) as journal:
        return {**stats_document(await counted(journal, since), now), "estimates": await calibration_document(journal)}


def _rows(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    yield from _of_runs(document["runs"])
    for planner, told in document["planners"].items():
        yield f"plans by {planner}", _words(told["over"]), str(told["started"]), "", _dollars(told["usd"])
    yield from _timed("planning", "", document["planning"])
    for name, over in document["steps"]["over"].items():
        yield f"steps {name}", _words(over), str(sum(over.values())), "", ""
    for each in document["attempts"]:
        name = " ".join(filter(None, (each["kind"], each["name"])))
        yield from _timed(f"tries {name}", _words(each["over"]), each["seconds"])
    for word in ("failures", "recoveries", "revisions", "chosen_tools"):
        for kind, number in document[word].items():
            yield word.replace("_", " "), kind, str(number), "", ""
    for name, told in document["models"].items():
        used = f"{told['calls']} calls, {told['tokens']:,} tokens"
        yield f"model {name or 'of others'}", used, _dollars(told["usd"]), "", ""
    for about, told in document["questions"].items():
        yield from _timed(f"questions {about}", _words(told["closed"]), {**told["seconds"], "count": told["asked"]})
    yield from _of_estimates(document.get("estimates") or {"runs": 0})


def _of_estimates(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    if found["runs"]:
        yield "estimates", f"{found['within_p90']:.0%} of the runs took no longer than p90", str(found["runs"]), "", ""
        off = f"p50 was off by {found['p50_off']:.0%}, in the middle"
        yield "estimates", off, str(found["runs"]), _lasting(found["seconds_off"]), ""


def _of_runs(runs: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    rate = runs["per_hour"]
    yield "runs", "started", str(runs["started"]), "", "" if rate is None else f"{rate:g} an hour"
    for status, number in runs["over"].items():
        yield "runs", status, str(number), "", ""
    if runs["success_rate"] is not None:
        yield "runs", "succeeded, of those that are over", f"{runs['success_rate']:.1%}", "", ""
    yield from _timed("runs", "took", runs["seconds"])
    for word, how in (("steps_in_plan", "steps in the plan"), ("steps_done", "steps done")):
        sizes = runs[word]
        if sizes["count"]:
            yield "runs", how, str(int(sizes["sum"])), f"{sizes['p50']:.0f}", f"{sizes['p90']:.0f}"


def _timed(what: str, how: str, sizes: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    if sizes["count"]:
        yield what, how, str(sizes["count"]), _lasting(sizes["p50"]), _lasting(sizes["p90"])


def _lasting(seconds: float | None) -> str:
    return "" if seconds is None else lapse(seconds)


def _words(over: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {word}" for word, number in over.items())


def _dollars(usd: float) -> str:
    return f"${usd:.4f}" if usd else ""

"""`perdure replay --stub`: a plan is carried out with what a run has recorded, and nothing is executed."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import click

from perdure.cli.arguments import usable
from perdure.cli.codes import FAILED, NOT_FOUND, OK
from perdure.cli.granting import rules_for
from perdure.cli.inputs import inputs_from
from perdure.cli.journals import opened
from perdure.cli.printing import print_json
from perdure.cli.redeciding import heads_of, tools_here
from perdure.cli.telling import failure_words, value_words
from perdure.config import Settings
from perdure.core.calls import Call
from perdure.documents.runs import failure_document
from perdure.engine import View
from perdure.engine.knowing import rules_of
from perdure.engine.stubbing import Missing, Stubbed, Unlike, stubbed
from perdure.engine.unlike import unlike
from perdure.plan.limits import Limits
from perdure.plan.visible import number_of, visible

LONG: Final = 500
"""Letters of a value that are shown."""
FEW: Final = 3
"""Places that are shown where two calls differ."""


async def stub(settings: Settings, name: str, file: str, given: Mapping[str, Any]) -> int:
    """Do it and show what came of it; the exit code."""
    plan = usable(file, Limits(), as_json=given["as_json"]) if file else None
    tools = tools_here(given["addresses"])
    async with opened(settings) as journal:
        view = await View.of(journal, (await journal.run(name)).id, 1)
        wanted = (plan or view.state.cells[""].scope.outline.plan).inputs
        inputs = inputs_from(wanted, given["pairs"], None)
        layers = await rules_for(settings, view.run)
        heads = await heads_of(settings, view.run, tools, layers)
        rules = rules_of(journal, tools.values(), layers, planning=settings.agent_planning, heads=heads)
        found = await stubbed(journal, rules, view.run, plan, inputs)
    if given["as_json"]:
        print_json({"schema": "perdure.stubbed/1", "id": view.run, **_document(found)})
    else:
        for line in _lines(view.run, found):
            click.echo(line)
    return OK if found.is_same else FAILED if found.missing is None else NOT_FOUND


def _document(found: Stubbed) -> dict[str, Any]:
    return {
        "ok": found.is_same,
        "status": found.status,
        "output": found.output,
        "failure": failure_document(found.failure),
        "calls": found.calls,
        "missing": None if found.missing is None else _missing(found.missing),
        "unanswered": list(found.unanswered),
        "difference": None if found.difference is None else _difference(found.difference),
    }


def _missing(missing: Missing) -> dict[str, Any]:
    return {
        "step": missing.step,
        "call": _call(missing.call),
        "digest": missing.digest,
        "recorded": missing.times,
        "nearest": _call(missing.nearest),
        "nearest_step": missing.nearest_step or None,
    }


def _call(call: Call | None) -> dict[str, Any] | None:
    return None if call is None else call.data


def _difference(found: Unlike) -> dict[str, Any]:
    return {"step": found.where or None, "recorded": found.recorded, "now": found.now}


def _lines(run: str, found: Stubbed) -> Iterator[str]:
    yield f"stub of  {run}: {number_of(found.calls, 'recorded call')} used, nothing executed"
    yield f"status   {visible(found.status.replace('_', ' '))}" + (
        f": {failure_words(found.failure)}" if found.failure else ""
    )
    if found.output is not None:
        yield f"output   {value_words(found.output, LONG)}"
    yield from (f"asks     {visible(text, LONG)} (nobody had answered that)" for text in found.unanswered)
    if found.missing is not None:
        yield from _told_missing(found.missing)
    elif found.difference is not None:
        yield from _told_difference(found.difference)
    else:
        yield "it came to the end that was recorded"


def _told_missing(missing: Missing) -> Iterator[str]:
    often = f"recorded only {number_of(missing.times, 'time')}" if missing.times else "never recorded"
    yield f"stopped  in {visible(missing.step)}: its call was {often}"
    yield f"call     {value_words(_call(missing.call), LONG)}"
    if missing.nearest is not None:
        yield f"nearest  {value_words(missing.nearest.data, LONG)} in {visible(missing.nearest_step)}"
        for where, was, now in islice(unlike(missing.nearest.data, _call(missing.call)), FEW):
            yield f"differs  {visible(where)}: {value_words(was, LONG)} → {value_words(now, LONG)}"


def _told_difference(found: Unlike) -> Iterator[str]:
    yield f"it came out otherwise first in {visible(found.where) or 'the run itself'}"
    yield f"recorded {value_words(found.recorded, LONG)}"
    yield f"now      {value_words(found.now, LONG)}"

"""`perdure run --dry-run`: what a plan would do, told; nothing is done, and no journal is touched."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import click

from perdure.cli.codes import INVALID_PLAN, code_of
from perdure.cli.forecasting import told_briefly
from perdure.cli.journals import opened
from perdure.cli.printing import print_json
from perdure.cli.reaching import full_id
from perdure.config import Settings
from perdure.core.policy import Judgement, told
from perdure.documents.rehearsals import rehearsal_document
from perdure.engine import Engine, View
from perdure.engine.rehearsing import ASSUMED, Rehearsal, outputs_of
from perdure.plan import Plan
from perdure.plan.problems import Problem, errors_in
from perdure.plan.visible import lapse, money, number_of, visible

MOST_LINES: Final = 500
"""Lines of a diff that are shown; all of it is in `--json`."""
_TITLES: Final = {"read": "reads", "write": "writes", "run": "runs", "connect": "connects to", "use": "uses"}


async def rehearse(
    plan: Plan, inputs: Mapping[str, Any], world: Mapping[str, Any], like: Mapping[str, Any]
) -> Rehearsal:
    """Walk a plan with an engine that remembers nothing."""
    async with Engine.open(**world) as engine:
        return await engine.rehearse(plan, inputs, like=like)


async def outputs_from(settings: Settings, run: str | None) -> Mapping[str, Any]:
    """What the steps of an earlier run gave."""
    if run is None:
        return {}
    id_ = await full_id(settings, run)
    async with opened(settings) as journal:
        return dict(outputs_of((await View.of(journal, id_)).state))


def show(found: Rehearsal, estimate: Mapping[str, Any], lacks: Sequence[Problem] = (), *, as_json: bool) -> int:
    """Tell it; the exit code that a run of this kind would have. `lacks` are what would stand in its way."""
    if as_json:
        print_json({**rehearsal_document(found, lacks), "estimate": estimate})
    else:
        for line in _lines(found, lacks, estimate):
            click.echo(line)
    return INVALID_PLAN if errors_in(lacks) else code_of(found.status, "")


# ------------------------------------------------------------------------------- for people


def _lines(found: Rehearsal, lacks: Sequence[Problem], estimate: Mapping[str, Any]) -> Iterator[str]:
    end = "how it would end cannot be foreseen" if found.status == "unforeseen" else f"it would have {found.status}"
    if errors_in(lacks):
        end = "it would not begin; with all that it needs, " + end
    yield f"dry run: {end}" + (f": {visible(found.failure)}" if found.failure else "")
    yield from _section("lacks", (visible(str(each)) for each in lacks))
    yield from _section("steps", (f"{visible(step)}  {exit_}" for step, exit_ in found.steps))
    for kind, title in _TITLES.items():
        yield from _section(title, dict.fromkeys(_deed(each) for each in found.deeds if each.deed.kind == kind))
    yield from _section("asks", (f"{visible(step)}: {visible(text, 300)}" for step, text in found.questions))
    outside = (f"{visible(step)}: {visible(text)}" for step, text in found.outside)
    yield from _section("from outside", dict.fromkeys(outside))
    yield from _section("not foreseen", (f"{visible(step)}: {visible(text)}" for step, text in found.unforeseen))
    yield from _section("declared to take", _costs(found.costs))
    yield from _section("changes in the workspace", _diff(found.diff))
    yield from _section("would take", (f"{title}: {visible(words)}" for title, words in told_briefly(estimate)))
    yield from _hints(found)
    yield "nothing was done"


def _hints(found: Rehearsal) -> Iterator[str]:
    """What to do about what was told."""
    if any(ASSUMED in text for _, text in found.unforeseen):
        yield "hint: with --like RUN, what the steps of an earlier run gave is taken instead of what was assumed"
    if any(each.verdict == "deny" for each in found.deeds):
        yield "hint: which rules hold, and whose they are: perdure policy show PLAN"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    told_lines = list(lines)
    if told_lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in told_lines)


def _deed(judged: Judgement) -> str:
    what = told(judged.deed).partition(" ")[2]
    mind = {"allow": "", "ask": "  (asks first)", "deny": f"  (denied: {judged.why})"}[judged.verdict]
    return visible(f"{what}{mind}")


def _costs(costs: Mapping[str, float]) -> Iterator[str]:
    if "seconds" in costs:
        yield f"{lapse(costs['seconds'])}, one after another"
    if "usd" in costs:
        yield money(costs["usd"])
    yield from (f"{number_of(int(costs[each]), each[:-1])}" for each in ("tokens", "calls") if each in costs)


def _diff(diff: str) -> Iterator[str]:
    lines = diff.splitlines()
    yield from (visible(line) for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"… and {len(lines) - MOST_LINES:,} more lines; all of them with --json"

"""`perdure replay`: put a run together again from its facts, and verify every byte. Nothing is executed."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from perdure.cli.codes import BROKEN
from perdure.cli.journals import db_option, opened, settings_for
from perdure.cli.manners import tools_option
from perdure.cli.printing import json_option, print_json
from perdure.config import Settings
from perdure.core.cells import Cell
from perdure.core.values import digest_of
from perdure.engine import View
from perdure.plan.visible import number_of, visible
from perdure.ports import Corrupt, Journal, Run, UnknownArtifact


@dataclass(frozen=True, slots=True)
class _Replayed:
    run: Run
    facts: Counter[str]
    status: str
    digest: str
    """Over all that the facts come to: two replays of the same facts have the same."""
    bad: int | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": "perdure.replay/1",
            "id": self.run.id,
            "ok": self.bad is None,
            "entries": self.run.head_seq,
            "facts": dict(self.facts),
            "status": self.status,
            "digest": self.digest,
            "head": self.run.head,
            "bad": self.bad,
            "reason": self.reason or None,
        }


@click.command()
@click.argument("run")
@click.option("--decide", "again", is_flag=True, help="Decide every turn again, and show the first that differs.")
@click.option("--strict", is_flag=True, help="With --decide: end with 7 also if another release began the run.")
@click.option(
    "--stub",
    "file",
    is_flag=False,
    flag_value="",
    metavar="[PLAN]",
    help="Carry out the plan of RUN, or PLAN, with what RUN has recorded of the world.",
)
@click.option("-i", "pairs", multiple=True, metavar="NAME=VALUE", help="With --stub: an input; VALUE may be @FILE.")
@tools_option
@db_option
@json_option
@click.pass_context
def replay(ctx: click.Context, run: str, again: bool, strict: bool, file: str | None, **given: Any) -> None:
    """Read RUN, verify its chain and its values, and fold every fact. Nothing is executed and nothing is changed.

    RUN is an id, the beginning of one, or @last. Exit code 0: all can be believed. 7: it is broken; the first bad place
    is named.

    With --decide, every turn is decided again by the rules of this release. Exit code 7: a turn would be another one.

    With --stub, a plan is carried out in memory: what was called gives what it gave, people say what they said, clocks
    jump. Exit code 0: it came to the recorded end. 1: it came to another one. 3: it wants a call that RUN never made.
    """
    settings, as_json = settings_for(given["db"]), given["as_json"]
    if again and file is not None:
        raise click.UsageError("--decide and --stub are two different things: say one of them")
    if file is not None:
        from perdure.cli.stubbing import stub  # noqa: PLC0415  few need it, and it loads all tools

        ctx.exit(asyncio.run(stub(settings, run, file, given)))
    if again:
        from perdure.cli.redeciding import decide  # noqa: PLC0415  few need it, and it loads all tools

        ctx.exit(asyncio.run(decide(settings, run, given["addresses"], strict=strict, as_json=as_json)))
    found = asyncio.run(_replay(settings, run))
    if as_json:
        print_json(found.as_json())
    elif found.bad is None:
        _print(found)
    else:
        click.echo(f"{found.run.id} is broken at entry {found.bad}: {visible(found.reason)}", err=True)
    ctx.exit(BROKEN if found.bad is not None else 0)


def _print(found: _Replayed) -> None:
    kinds = ", ".join(f"{count:,} {visible(word)}" for word, count in sorted(found.facts.items()))
    click.echo(f"run     {found.run.id}")
    click.echo(f"facts   {number_of(found.run.head_seq, 'fact')}: {kinds}")
    click.echo(f"status  {found.status}")
    click.echo(f"state   sha256:{found.digest}")
    click.echo(f"head    {found.run.head}")


async def _replay(settings: Settings, name: str) -> _Replayed:
    async with opened(settings) as journal:
        run = await journal.run(name)
        verdict = await journal.verify(run.id)
        if verdict.bad_seq is not None:
            return _Replayed(run, Counter(), "", "", verdict.bad_seq, verdict.reason)
        return await _folded(journal, run)


async def _folded(journal: Journal, run: Run) -> _Replayed:
    view, facts = View(journal, run.id), Counter[str]()
    try:
        while page := await journal.read(run.id, view.seq):
            for entry in page:
                view.take(entry)
                facts[entry.type] += 1
        digest = state_digest(view)
    except (Corrupt, UnknownArtifact) as error:
        return _Replayed(run, facts, "", "", view.seq + 1, error.message)
    return _Replayed(run, facts, view.status, digest)


def state_digest(view: View) -> str:
    """A digest over how every step stands, what is asked, and what is held."""
    state = view.state
    cells = {key: _cell(cell) for key, cell in state.cells.items()}
    others: dict[str, Any] = {
        "status": view.status,
        "at": state.at,
        "paused": state.paused,
        "steps_over": state.steps_over,
        "attempts": state.attempts,
        "flying": sorted(state.flying),
        "eager": sorted(state.eager),
        "questions": sorted(state.questions),
        "locks": sorted(state.locks),
        "signals": {name: len(kept) for name, kept in state.signals.items()},
        "effects": [[each.cell.key, each.visit, each.attempts, each.over] for each in state.effects.values()],
    }
    if state.books.ledgers:
        others["books"] = {key: [each.spent, each.reserved, each.raised] for key, each in state.books.ledgers.items()}
    return digest_of({"cells": cells, **others})


def _cell(cell: Cell) -> list[Any]:
    result = cell.result
    ended = None
    if result is not None:
        failure = result.failure
        value = msgspec.to_builtins(result.output) if result.output is not None else None
        ended = [result.exit, result.to, result.undone, result.partial, failure and failure.kind, value]
    return [cell.kind, cell.status, cell.visit, cell.laps, cell.due, cell.question, ended]

"""`perdure replay --decide`: every turn is decided again, and the first that differs is shown."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from perdure import __version__
from perdure.cli.codes import BROKEN, OK
from perdure.cli.granting import place_of, rules_for
from perdure.cli.heads import known_agents
from perdure.cli.journals import opened
from perdure.cli.kits import provided
from perdure.cli.manners import all_tools_from
from perdure.cli.printing import print_json
from perdure.cli.telling import told
from perdure.cli.toolsets import toolset_or_note
from perdure.config import Settings
from perdure.config.heads import models_of
from perdure.core import events as e
from perdure.core.policy import Layer
from perdure.engine.heads import Heads
from perdure.engine.knowing import rules_of
from perdure.engine.redeciding import Difference, Redecided, redecided
from perdure.plan.visible import number_of, visible
from perdure.tools import AnyTool
from perdure.tools.box import by_name


def tools_here(addresses: tuple[str, ...]) -> dict[str, AnyTool]:
    """All tools that are known here, by name. None is called, and no server is started."""
    toolset = toolset_or_note()
    theirs = toolset.tools() if toolset else ()
    return by_name([*provided(), *all_tools_from(addresses), *theirs])


async def heads_of(settings: Settings, run: str, tools: Mapping[str, AnyTool], layers: tuple[Layer, ...]) -> Heads:
    """The models and agents that a run has, for those who decide about it again and ask nobody."""
    place = await place_of(settings, run) or Path.cwd()
    agents = [each.agent for each in known_agents(place)]
    return Heads(
        lambda: models_of(settings.heads), agents, tools, layers, is_all=True, planning=settings.agent_planning
    )


async def decide(settings: Settings, name: str, addresses: tuple[str, ...], *, strict: bool, as_json: bool) -> int:
    """Do it and show what came of it; the exit code."""
    tools = tools_here(addresses)
    async with opened(settings) as journal:
        run = (await journal.run(name)).id
        first = await journal.read(run, 0, 1)
        layers = await rules_for(settings, run)
        heads = await heads_of(settings, run, tools, layers)
        rules = rules_of(journal, tools.values(), layers, heads=heads)
        found = await redecided(journal, run, rules, tools)
    began = e.decode(first[0].type, first[0].body)
    is_ours = isinstance(began, e.RunStarted) and (began.release, began.v) == (__version__, e.VERSION)
    if as_json:
        print_json({"schema": "perdure.decided/1", "id": run, "same_release": is_ours, **_document(found)})
    else:
        _print(run, found, _whose(began, is_ours=is_ours))
    return BROKEN if found.difference is not None and (is_ours or strict) else OK


def _document(found: Redecided) -> dict[str, Any]:
    difference = found.difference
    return {
        "ok": difference is None,
        "turns": found.turns,
        "facts": found.facts,
        "difference": None if difference is None else _as_data(difference),
    }


def _as_data(difference: Difference) -> dict[str, Any]:
    return {
        "seq": difference.seq,
        "turn": difference.turn,
        "message": difference.message,
        "recorded": list(map(_fact, difference.recorded)),
        "decided": list(map(_fact, difference.decided)),
        "error": difference.error or None,
    }


def _fact(event: e.Event) -> dict[str, Any]:
    return {"type": event.type, "body": json.loads(e.encode(event))}


def _whose(began: e.Event, *, is_ours: bool) -> str:
    if is_ours:
        return ""
    release = began.release if isinstance(began, e.RunStarted) else ""
    return f"it was begun by {f'release {visible(release)}' if release else 'a release that did not say which'}"


def _print(run: str, found: Redecided, whose: str) -> None:
    difference = found.difference
    if difference is None:
        turns, facts = number_of(found.turns, "turn"), number_of(found.facts, "fact")
        click.echo(f"{run} would be decided the same: {turns}, {facts}")
        return
    click.echo(f"{run} would be decided otherwise in turn {difference.turn}, from fact {difference.seq} on")
    click.echo(f"message   {difference.message.replace('_', ' ')}")
    for line in _both(difference):
        click.echo(line)
    if whose:
        click.echo(f"{whose}, and this is {__version__}: rules may have changed, so that is no error", err=True)


def _both(difference: Difference) -> Iterator[str]:
    """What was recorded and what is decided now, from the first fact that is not the same."""
    yield from _side("recorded", difference.recorded[difference.same :])
    yield from _side("now", difference.decided[difference.same :])
    if difference.error:
        yield f"now       {visible(difference.error, 300)}"


def _side(word: str, events: Sequence[e.Event]) -> Iterator[str]:
    for event in events or ():
        step = getattr(event, "step", "")
        yield f"{word:<8}  {visible('  '.join(filter(None, (event.type, step, told(event)))), 300)}"
    if not events:
        yield f"{word:<8}  nothing more"

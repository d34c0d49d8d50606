"""`perdure agents`: whom plans may give work to, and all that is known about them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import click

from perdure.agents.agent import Agent
from perdure.agents.choosing import LAST_TASKS, records_of
from perdure.cli.codes import NOT_FOUND
from perdure.cli.heads import known_agents, roster_here
from perdure.cli.journals import db_option, opened, settings_for
from perdure.cli.printing import json_option, print_json, print_table
from perdure.config import Settings
from perdure.documents.agents import Known, agent_document, agents_document
from perdure.errors import PerdureError
from perdure.plan.problems import did_you_mean
from perdure.plan.visible import visible
from perdure.ports import TASK, Memory


class NoAgent(PerdureError):
    """There is no such agent."""

    code: ClassVar[str] = "PRD4102"
    exit_code: int = NOT_FOUND


@click.group()
def agents() -> None:
    """Agents: built in, of the project (`perdure/agents/*.md`), and your own (`agents/*.md` beside your settings)."""


@agents.command()
@json_option
def ls(as_json: bool) -> None:
    """List the agents."""
    found = known_agents(Path.cwd())
    _warn_of_broken()
    if as_json:
        print_json(agents_document(found))
        return
    rows = [_row(each) for each in found]
    print_table(["agent", "strategy", "model", "skills", "tools", "from"], rows)


def _warn_of_broken() -> None:
    """Say which one cannot be what it says: while it is here, no plan that has work for agents is begun."""
    try:
        roster_here(Path.cwd())
    except PerdureError as wrong:
        click.echo(visible(f"warning {wrong.code}: {wrong.message}"), err=True)
        click.echo(visible(f"  help: {wrong.help}"), err=True)


@agents.command()
@click.argument("name")
@db_option
@json_option
def show(name: str, db: str | None, as_json: bool) -> None:
    """Show one agent: what it is told, and how it did with its last tasks."""
    found = {each.agent.name: each for each in known_agents(Path.cwd())}
    if name not in found:
        raise NoAgent(f'there is no agent "{name}"', did_you_mean(name, found) or "see: perdure agents ls")
    good, bad = _record(name, settings_for(db))
    if as_json:
        print_json(agent_document(found[name], good, bad))
        return
    record = f"{good} of the last {good + bad} went well" if good + bad else "none yet"
    for word, text in (*_lines(found[name]), ("tasks", record)):
        click.echo(f"{word:13}{visible(text)}".rstrip())
    click.echo()
    for line in found[name].agent.instructions.splitlines():
        click.echo(visible(line))


def _record(name: str, settings: Settings) -> tuple[int, int]:
    """How many of its tasks went well, and how many did not, of the last that there were."""
    if not settings.db.exists():
        return 0, 0
    return records_of(asyncio.run(_tasks(settings))).get(name, (0, 0))


async def _tasks(settings: Settings) -> list[Memory]:
    async with opened(settings) as journal:
        return await journal.memories([TASK], None, LAST_TASKS)


def _row(known: Known) -> tuple[str, ...]:
    agent = known.agent
    return agent.name, agent.strategy, agent.model, _listed(agent.skills), _listed(agent.tools), known.origin


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words) or "-"


def _lines(known: Known) -> Iterator[tuple[str, str]]:
    agent = known.agent
    yield "agent", agent.name
    yield "from", known.origin
    for word in ("role", "goal", "backstory", "model", "strategy"):
        if text := getattr(agent, word):
            yield word, text
    for word in ("skills", "tools", "fallbacks"):
        if words := getattr(agent, word):
            yield word, ", ".join(words)
    yield from _amounts(agent)


def _amounts(agent: Agent) -> Iterator[tuple[str, str]]:
    for word in ("options", "tokens", "temperature", "price", "limit"):
        value = getattr(agent, word)
        if value not in (None, {}):
            yield word, str(value)

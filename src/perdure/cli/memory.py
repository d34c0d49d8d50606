"""`perdure memory`: what runs have taught, looked up, added to, forgotten."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from perdure.cli.journals import db_option, is_there, opened, settings_for
from perdure.cli.ls import age
from perdure.cli.printing import json_option, print_json, print_table
from perdure.cli.reaching import by_option, reach, whoever
from perdure.config import Settings
from perdure.documents.memories import memories_document, memory_document
from perdure.plan.visible import visible
from perdure.ports import TASK, Memory, UnknownMemory

Command = TypeVar("Command", bound=Callable[..., Any])
KINDS: Final = ("outcome", "lesson", "fact")
NOTED: Final = ("lesson", "fact")
MOST: Final = 1_000
_LARGEST: Final = 2**63 - 1
_TEXT: Final = 100
"""How much of a memory is shown in a list."""
_HEADINGS: Final = ("memory", "kind", "age", "run", "says", "about")


def _kind_option(*kinds: str) -> Callable[[Command], Command]:
    return click.option("--kind", "kinds", multiple=True, type=click.Choice(kinds), help="Only these; can be repeated.")


@click.group()
def memory() -> None:
    """What runs have taught: how each one ended, and the lessons and facts that steps and people have noted.

    Plans look it up with the tool `memory.search` and add to it with `memory.note`.
    """


# ------------------------------------------------------------------------------- looking


@memory.command()
@click.argument("text")
@_kind_option(*KINDS)
@click.option("--limit", type=click.IntRange(1, MOST), default=10, show_default=True, help="Most memories to show.")
@db_option
@json_option
def search(text: str, kinds: tuple[str, ...], limit: int, db: str | None, as_json: bool) -> None:
    """Show the memories that have words of TEXT, the best first.

    Any text will do: it is words, never a query. What several memories say in the same words is shown once.
    """
    settings = settings_for(db)
    _print(asyncio.run(_searched(settings, text, kinds, limit)) if is_there(settings) else [], None, as_json=as_json)


async def _searched(settings: Settings, text: str, kinds: Sequence[str], limit: int) -> list[Memory]:
    async with opened(settings) as journal:
        return await journal.search(text, kinds, limit)


@memory.command()
@_kind_option(*KINDS, TASK)
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="Most memories to list.")
@click.option("--before", type=click.IntRange(1, _LARGEST), metavar="N", help="Go on where an earlier list ended.")
@db_option
@json_option
def ls(kinds: tuple[str, ...], limit: int, before: int | None, db: str | None, as_json: bool) -> None:
    """List memories, newest first.

    How agents did with their tasks is listed only with `--kind task`.
    """
    settings = settings_for(db)
    found = asyncio.run(_listed(settings, kinds, before, limit + 1)) if is_there(settings) else []
    more = found[limit - 1].number if len(found) > limit else None
    _print(found[:limit], more, as_json=as_json)


async def _listed(settings: Settings, kinds: Sequence[str], before: int | None, most: int) -> list[Memory]:
    async with opened(settings) as journal:
        return await journal.memories(kinds, before, most)


def _print(found: Sequence[Memory], more: int | None, *, as_json: bool) -> None:
    if as_json:
        print_json(memories_document(found, more))
        return
    print_table(_HEADINGS, [_row(each) for each in found])
    if more is not None:
        click.echo(f"there are more: add --before {more}", err=True)


def _row(found: Memory) -> tuple[str, ...]:
    text, about = visible(found.text, _TEXT), visible(found.about, _TEXT)
    return found.id, found.kind, age(found.at), found.run, text, about


# ------------------------------------------------------------------------------- changing


@memory.command()
@click.argument("text")
@click.option("--kind", type=click.Choice(NOTED), default="lesson", show_default=True, help="What it is.")
@click.option("--about", default="", metavar="WORDS", help="What it is about.")
@by_option
@db_option
@json_option
def note(text: str, kind: str, about: str, by: str | None, db: str | None, as_json: bool) -> None:  # noqa: PLR0913, PLR0917  one for each option
    """Keep TEXT for later runs: a lesson, or a fact."""
    asked = {"do": "note", "text": text, "kind": kind, "about": about, "by": whoever(by)}
    done = asyncio.run(reach(settings_for(db), asked)).done
    if as_json:
        print_json(memory_document(done))
    else:
        click.echo(f"noted as {done}", err=True)


@memory.command()
@click.argument("id_", metavar="ID")
@db_option
@json_option
def forget(id_: str, db: str | None, as_json: bool) -> None:
    """Forget the memory with this ID, for good. Exit code 3: there is none."""
    settings = settings_for(db)
    if not is_there(settings):
        raise UnknownMemory(f"there is no memory {id_}")
    asyncio.run(reach(settings, {"do": "forget", "memory": id_}))
    if as_json:
        print_json(memory_document(id_))
    else:
        click.echo(f"forgot {visible(id_)}", err=True)

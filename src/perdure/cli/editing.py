"""The plan of a run in an editor, and what becomes of the changes."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import click

from perdure.cli.arguments import read, refuse
from perdure.cli.codes import OK
from perdure.cli.commands import command
from perdure.cli.drafts import Draft
from perdure.cli.journals import opened
from perdure.cli.messages import tell
from perdure.cli.printing import print_json, print_problems
from perdure.cli.reaching import full_id, is_owned
from perdure.config import Settings
from perdure.core import events as e
from perdure.core.accepting import accept, reopened
from perdure.core.cells import Cell
from perdure.core.evolve import evolve
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.plan.between import edits_between
from perdure.plan.checks.adjusting import BAD_RULE
from perdure.plan.diff import diff
from perdure.plan.edits import as_data
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan
from perdure.plan.problems import PlanError, Problem
from perdure.plan.reading import Reading, read_bytes
from perdure.plan.visible import visible
from perdure.plan.writing import to_yaml

MOST: Final = 40
"""Steps that a line of the file names."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants, besides the plan."""

    by: str
    limits: Limits
    file: str | None = None
    yes: bool = False
    why: str = ""
    widen: bool = False
    as_json: bool = False
    draft: Draft = field(default_factory=Draft)
    """What they wrote."""


async def edited(settings: Settings, run: str, wish: Wish) -> None:
    """Have the plan of a run edited, and send the edits to whoever drives it."""
    id_ = await full_id(settings, run)
    async with opened(settings) as journal:
        view = await View.of(journal, id_)
    accept(view.state, e.RunRevised(edits=()), view.state.at)  # better said before somebody edits than afterwards
    with wish.draft.kept(lambda file: command("edit", id_, "--file", file)):
        edits = _edits(view, wish, err=wish.as_json)
        if edits:
            done = f"the plan is revised: revision {view.state.revision + 1}"
            await tell(settings, id_, {"do": "revise", **edits, "by": wish.by}, done, as_json=wish.as_json)
        elif wish.as_json:
            print_json({**run_document(view, command=command), "driven": await is_owned(settings)})


async def mended(settings: Settings, run: str, step: str, wish: Wish) -> dict[str, Any]:
    """Have the plan of a run edited that is over and shall go on with a step; what goes with the message to it."""
    async with opened(settings) as journal:
        view = await View.of(journal, run)
    message = e.RunReopened(step=step)
    accept(view.state, message, view.state.at)
    evolve(view.state, e.RunReopened(step=reopened(view.state, message)), view.state.at)  # as it will stand then
    return _edits(view, wish, err=True)  # standard output is for what comes of the run


def _edits(view: View, wish: Wish, *, err: bool) -> dict[str, Any]:
    """What somebody wants to be different, as far as they are sure; empty: nothing."""
    plan = _wanted(view, wish)
    edits = edits_between(view.plan, plan)
    if not edits:
        click.echo("nothing was changed", err=True)
        return {}
    for line in diff(view.plan, plan).lines():
        click.echo(line, err=err)
    if not wish.yes and not click.confirm("Is that right?", err=True):
        click.echo("the plan is as it was", err=True)
        raise click.exceptions.Exit(OK)
    said = {"why": wish.why, "widen": wish.widen, "base": view.state.revision}
    return {"edits": [as_data(edit) for edit in edits], **said}


def _wanted(view: View, wish: Wish) -> Plan:
    """The plan as it shall be; where it cannot be used, say why and leave."""
    if wish.file is not None:
        reading = read(wish.file, wish.limits)
    else:
        reading = _from_editor("\n".join([*_told(view), "", to_yaml(view.plan)]), wish)
    if reading.plan is None or _errors(reading):
        refuse(_errors(reading), as_json=wish.as_json)
    return reading.plan


def _errors(reading: Reading) -> list[Problem]:
    """What is wrong with a plan that was begun: rules that were taken already cannot be taken once more."""
    return [each for each in reading.errors if reading.plan is None or each.code != BAD_RULE]


def _from_editor(text: str, wish: Wish) -> Reading:
    """Let a person edit a text until it is a plan, or until they have enough."""
    while True:
        text = wish.draft.text = _edited(text)
        reading = read_bytes(text.encode(), "<editor>", None, wish.limits, None)
        if not _errors(reading) or not sys.stdin.isatty():
            return reading
        print_problems(_errors(reading), err=True)
        if not click.confirm("Edit it again?", default=True, err=True):
            return reading


def _edited(text: str) -> str:
    try:
        return click.edit(text, extension=".yaml") or text
    except UnicodeDecodeError as error:
        raise PlanError([Problem("PRD1002", f"the text is not UTF-8: {error.reason}", file="<editor>")]) from error


def _told(view: View) -> Iterator[str]:
    """What cannot be changed, as comments."""
    yield f"# The plan of {view.run}, revision {view.state.revision}."
    for word, cells in (("at work", _acting(view)), ("comes again", _coming(view)), ("over", _over(view))):
        names = sorted({visible(cell.node.id) for cell in cells})
        more = f", and {len(names) - MOST} more" if len(names) > MOST else ""
        if names:
            yield f"# {word}: {', '.join(names[:MOST])}{more}"
    yield "# What is at work cannot be changed or taken out; what is over stays, and can be changed only if something"
    yield "# leads back to it, or it comes again. Everything else is free: change it, take it out, put new steps in."


def _own(view: View) -> Iterator[Cell]:
    outline = view.state.cells[""].scope.outline
    return (cell for cell in view.state.cells.values() if cell.scope.outline is outline and cell.parent is not None)


def _acting(view: View) -> Iterator[Cell]:
    return (cell for cell in _own(view) if cell.is_live)


def _coming(view: View) -> Iterator[Cell]:
    return (cell for cell in _own(view) if cell.status == "idle" and cell.result is not None)


def _over(view: View) -> Iterator[Cell]:
    return (cell for cell in _own(view) if cell.status == "over")

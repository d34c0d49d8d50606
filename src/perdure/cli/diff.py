"""`perdure diff`: what differs between two plans, or between the revisions of a run's plan."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import click

from perdure.cli.arguments import is_run, limit_options, limits_from, usable
from perdure.cli.journals import db_option, settings_for
from perdure.cli.printing import json_option, print_json
from perdure.cli.revisions import chosen, revisions_of
from perdure.documents.revisions import Revision, diff_document, revisions_document
from perdure.plan.diff import Diff
from perdure.plan.diff import diff as compare
from perdure.plan.model.document import Plan
from perdure.plan.visible import visible


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="BEFORE AFTER | RUN [REV [REV]]")
@db_option
@json_option
@limit_options
def diff(words: tuple[str, ...], db: str | None, as_json: bool, **settings: Any) -> None:
    """Show what differs between the plans BEFORE and AFTER, step by step; or what each revision of RUN has changed.

    A step is known by its id: + added, - removed, ~ changed, > moved. RUN is an id, the beginning of one, or @last.
    With one REV, what has changed since; with two, what differs between them; 0 is the plan at the start.
    """
    if is_run(words[0]):
        _of_run(asyncio.run(revisions_of(settings_for(db), words[0])), words[1:], as_json=as_json)
        return
    if len(words) != len(("before", "after")):
        raise click.UsageError("name two plans, or a run")
    limits = limits_from(settings)
    old, new = (usable(word, limits, as_json=as_json) for word in words)
    _print(old, new, as_json=as_json)


def _print(old: Plan, new: Plan, *, as_json: bool) -> None:
    if as_json:
        print_json(diff_document(old, new))
        return
    _print_lines(compare(old, new))


def _print_lines(found: Diff) -> None:
    for line in found.lines():
        click.echo(line)
    if not found:
        click.echo("the plans are the same", err=True)


def _of_run(revisions: Sequence[Revision], words: Sequence[str], *, as_json: bool) -> None:
    if len(words) > len(("rev", "rev")):
        raise click.UsageError("name at most two revisions")
    if words:
        old, new = [*(chosen(revisions, word) for word in words), revisions[-1]][:2]
        _print(old.plan, new.plan, as_json=as_json)
        return
    if as_json:
        print_json(revisions_document(revisions))
        return
    for old, new in pairwise(revisions):
        click.echo(
            visible(f"revision {new.number}  {new.at}  by {new.by or '-'}" + (f": {new.why}" if new.why else ""))
        )
        _print_lines(compare(old.plan, new.plan))
    if len(revisions) == 1:
        click.echo("the plan is as it was when the run was started", err=True)

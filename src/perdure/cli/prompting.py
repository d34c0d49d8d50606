"""Questions on a terminal: somebody is asked again until the answer fits."""

import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from perdure.cli.commands import command
from perdure.cli.hints import asked
from perdure.cli.inputs import json_or_text, value_from
from perdure.core.accepting import flaw_in
from perdure.core.events import QuestionAsked
from perdure.core.refusing import NoQuestion
from perdure.core.state import State
from perdure.plan.raw import is_mapping
from perdure.plan.visible import visible

MOST_FIELDS: Final = 20
"""A form with more fields is answered with a file."""


def prompted(question: QuestionAsked, state: State) -> Any:
    """What somebody at the terminal answers; nothing that does not fit comes back."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"a VALUE is missing; `{command('questions', state.run)}` tells what fits")
    if question.question not in state.questions:
        more = command("questions", state.run, "--all")
        raise NoQuestion(f"{question.question} is not open any more", f"what came of it: {more}")
    for line in asked(state, question):
        click.echo(line, err=True)
    while True:
        value = _ask(question)
        flaw = flaw_in(question, value)
        if not flaw:
            return value
        click.echo(f"that does not fit: {visible(flaw, 300)}", err=True)


def _ask(question: QuestionAsked) -> Any:
    if question.answer == "approval":
        return click.confirm("yes or no", default=None, err=True)
    fields = _fields(question)
    if fields:
        return {name: value for name, schema in fields.items() if (value := _field(question, name, schema)) is not None}
    text: str = click.prompt(_wanted(question), err=True)
    is_word = question.about == "plan" and question.answer in {"text", "choice"}
    return text if is_word else json_or_text(text)


def _wanted(question: QuestionAsked) -> str:
    if question.about == "budget":
        return f"a number, {' or '.join(question.choices)}"
    return visible(" or ".join(question.choices)) or ("JSON" if question.answer == "form" else "text")


# ------------------------------------------------------------------------------- forms


def _fields(question: QuestionAsked) -> Mapping[str, Any]:
    """The fields of a form that can be asked for one by one; none: it is asked for as a whole."""
    properties: Any = (question.form or {}).get("properties")
    if question.answer != "form" or not is_mapping(properties) or len(properties) > MOST_FIELDS:
        return {}
    return properties


def _field(question: QuestionAsked, name: str, schema: Any) -> Any:
    """One field; None if it is left out."""
    needed = name in (question.form or {}).get("required", ())
    prompt = f"{visible(name)}{_hint(schema, needed=needed)}"
    while True:
        text: str = click.prompt(prompt, default="", show_default=False, err=True)
        if not text and not needed:
            return None
        try:
            return value_from(name, text, schema, "VALUE")
        except click.BadParameter as error:
            click.echo(visible(error.message, 300), err=True)


def _hint(schema: Any, *, needed: bool) -> str:
    described: list[str] = []
    if is_mapping(schema):
        words: list[Any] = schema.get("enum") or [schema.get("type"), schema.get("description")]
        described = [str(each) for each in words if each]
    told = ", ".join([*described, *([] if needed else ["may be left out"])])
    return f" ({visible(told, 100)})" if told else ""

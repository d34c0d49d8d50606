"""Answers: the command lines that give one to a question."""

import json
from collections.abc import Iterator
from typing import Any

from perdure.core.events import QuestionAsked
from perdure.documents.commands import CommandLine, command_line


def answering(run: str, question: QuestionAsked, command: CommandLine = command_line) -> Iterator[str]:
    """The commands that answer a question."""
    for verb, words in _answers(question):
        yield command(verb, run, *words)


def _answers(question: QuestionAsked) -> Iterator[tuple[str, list[str]]]:
    id_ = question.question
    if question.answer == "approval":
        yield "approve", [id_]
        yield "reject", [id_]
    elif question.about == "budget":
        yield "answer", [id_, "NUMBER"]
        yield from (("answer", [id_, choice]) for choice in question.choices)
    elif question.choices:
        for choice in question.choices:
            yield "answer", [id_, choice]
    elif question.answer == "form":
        yield "answer", [id_, json.dumps(_sketch(question.form or {}))]
    else:
        yield "answer", [id_, "TEXT"]


def _sketch(schema: dict[str, Any]) -> dict[str, str]:
    """A form to fill in: what each field takes, in the place of its value."""
    fields: dict[str, Any] = schema.get("properties") or {}
    return {name: str(field.get("type", "…")) if isinstance(field, dict) else "…" for name, field in fields.items()}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

"""Questions: what people are asked, what follows from each answer, and what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from perdure.core.events import QuestionAsked
from perdure.documents.answers import answering
from perdure.documents.commands import CommandLine, command_line
from perdure.documents.moments import moment
from perdure.engine import View
from perdure.engine.asking import Put, inquiry, said
from perdure.errors import PerdureError
from perdure.ports import Journal, Question


@dataclass(frozen=True, slots=True)
class Found:
    """A question and the run that asks it."""

    number: int
    view: View
    put: Put


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which questions to list."""

    run: str | None = None
    closed: bool = False
    """Whether those are listed too that need no answer any more."""
    name: str | None = None
    """Only those that this person may answer."""

    def has(self, put: Put) -> bool:
        """Whether a question is one of them."""
        return self.name is None or not put.asked.people or self.name in put.asked.people


def questions_document(
    found: Sequence[Found], limit: int, command: CommandLine | None = command_line
) -> dict[str, Any]:
    """A page of questions; of one more than `limit`, where the next page begins is told."""
    shown = [_listed(each, command) for each in found[:limit]]
    return {"schema": "perdure.questions/1", "questions": shown, "next": next_after(found, limit)}


def next_after(found: Sequence[Found], limit: int) -> int | None:
    """Where the next page begins."""
    return found[limit - 1].number if len(found) > limit else None


def _listed(found: Found, command: CommandLine | None) -> dict[str, Any]:
    about = {"number": found.number, "run": found.view.run, "id": found.put.asked.question}
    return {**about, **question_document(found.view, found.put, command)}


def question_document(view: View, put: Put, command: CommandLine | None = command_line) -> dict[str, Any]:
    """A question: what was asked, what follows from each answer while it is open, and what came of it.

    `command` makes the command lines that answer it; None: whoever reads this types none.
    """
    asked = put.asked
    return {
        "step": asked.step,
        "text": asked.text,
        "answer": asked.answer,
        "about": asked.about,
        "choices": list(asked.choices),
        "form": asked.form,
        "people": list(asked.people),
        "asked": moment(put.at),
        "status": put.status,
        **(_open_question(view, asked, command) if put.over is None else _closed_question(view, put)),
    }


def _open_question(view: View, asked: QuestionAsked, command: CommandLine | None) -> dict[str, Any]:
    seen = inquiry(view.state, asked)
    return {
        "after": None if seen.after is None else asdict(seen.after),
        "until": moment(seen.due),
        "silence": seen.silence or None,
        "answers": dict(seen.answers),
        **({} if command is None else {"commands": list(answering(view.run, asked, command))}),
    }


def _closed_question(view: View, put: Put) -> dict[str, Any]:
    answer = put.answer
    said_ = {} if answer is None else {"value": said(put, view.state), "by": answer.by, "reason": answer.reason or None}
    return {"over": moment(put.over), **said_}


# ------------------------------------------------------------------------------- finding


def pass_by(error: PerdureError) -> None:
    """Say nothing of it."""


async def find_questions(
    journal: Journal, wanted: Wanted, after: int, most: int, doubt: Callable[[PerdureError], None] = pass_by
) -> list[Found]:
    """A page of questions in the order of asking. `doubt` is told of each run that cannot be believed."""
    run = None if wanted.run is None else (await journal.run(wanted.run)).id
    views: dict[str, View | None] = {}
    found: list[Found] = []
    while len(found) < most and (page := await _page(journal, run, after, most, closed=wanted.closed)):
        after = page[-1].number
        for question in page:
            if question.run not in views:
                views[question.run] = await _view(journal, question.run, doubt)
            view = views[question.run]
            put = view.put.get(question.id) if view is not None else None
            if view is not None and put is not None and wanted.has(put):
                found.append(Found(question.number, view, put))
    return found[:most]


async def _page(journal: Journal, run: str | None, after: int, most: int, *, closed: bool) -> list[Question]:
    """The next questions, the open ones and, if they are wanted, the others too."""
    page = await journal.questions(run=run, after=after, limit=most)
    if closed:
        page += await journal.questions(run=run, after=after, limit=most, answered=True)
    return sorted(page, key=lambda each: each.number)[:most]


async def _view(journal: Journal, run: str, doubt: Callable[[PerdureError], None]) -> View | None:
    """A run; None if its facts cannot be believed, which must not hide what others ask."""
    try:
        return await View.of(journal, run)
    except PerdureError as error:
        doubt(error)
        return None

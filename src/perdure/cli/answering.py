"""Answers as people type them: which question is meant, and what the value is to be."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from perdure.cli.codes import USAGE
from perdure.cli.commands import command
from perdure.cli.inputs import json_or_text, value_from
from perdure.cli.journals import opened
from perdure.cli.messages import tell
from perdure.cli.printing import STANDARD_STREAM
from perdure.cli.reaching import whoever
from perdure.config import Settings
from perdure.core.events import QuestionAsked
from perdure.core.refusing import NoQuestion
from perdure.core.state import State
from perdure.documents.answers import answering
from perdure.engine import View
from perdure.engine.asking import said
from perdure.errors import PerdureError
from perdure.journal.listing import PAGE
from perdure.plan.visible import visible
from perdure.ports import Journal, Question

YES: Final = frozenset({"yes", "y", "true", "approve", "approved", "ok"})
NO: Final = frozenset({"no", "n", "false", "reject", "rejected"})


class WhichQuestion(PerdureError):
    """More than one question is open, and none was named."""

    code: ClassVar[str] = "PRD3106"
    exit_code: int = USAGE


class OtherQuestion(PerdureError):
    """The question wants another kind of answer."""

    code: ClassVar[str] = "PRD3107"
    exit_code: int = USAGE


Answer = Callable[[QuestionAsked, State, tuple[str, ...]], Any]
"""Makes the value that fits the question, from the words that are left."""


async def give(  # noqa: PLR0913  the words of a command line, and what to make of them
    settings: Settings,
    run: str,
    words: tuple[str, ...],
    answer: Answer,
    about: Mapping[str, Any],
    *,
    named: bool = False,
) -> None:
    """Send an answer to a question; `named`: the first word is the question and cannot be the answer."""
    async with opened(settings) as journal:
        if _is_question(run):
            run, words = await _asking(journal, run), (run, *words)
        view = await View.of(journal, (await journal.run(run)).id)
    found, rest = which(view, words, named=named)
    value = answer(found, view.state, rest)
    message = {"do": "answer", "question": found.question, "value": value}
    more = {"by": whoever(about["by"]), "reason": about.get("reason", "")}
    await tell(settings, view.run, {**message, **more}, _done(found, value), as_json=about["as_json"])


def _done(question: QuestionAsked, value: Any) -> Callable[[Any], str]:
    def done(news: Any) -> str:
        is_ = "was answered so before" if news is False else "is answered"
        return f"{visible(question.question)} {is_}: {visible(_shown(value), 200)}"

    return done


# ------------------------------------------------------------------------------- which question


def _is_question(word: str) -> bool:
    return word.startswith("q_")


async def _asking(journal: Journal, id_: str) -> str:
    """The one run that asks a question of this id, or has asked it."""
    for answered in (False, True):
        runs = [each.run async for each in _every(journal, answered=answered) if each.id == id_]
        if len(runs) > 1:
            hint = f"name the run before it: {', '.join(runs[:5])}"
            raise WhichQuestion(f"{len(runs)} runs ask {id_}", hint)
        if runs:
            return runs[0]
    raise NoQuestion(f"no run has asked {id_!r}", "`perdure questions` lists those that are open")


async def _every(journal: Journal, *, answered: bool) -> AsyncIterator[Question]:
    after = 0
    while page := await journal.questions(after=after, limit=PAGE, answered=answered):
        for question in page:
            yield question
        after = page[-1].number


def which(view: View, words: tuple[str, ...], *, named: bool = False) -> tuple[QuestionAsked, tuple[str, ...]]:
    """The question that is meant, by its id, by its step, or because there is one only; and the words that are left."""
    if not words:
        return _only(view), ()
    first, *rest = words
    if first in view.put:
        return view.put[first].asked, tuple(rest)
    if named or _is_question(first) or (rest and not all(map(_is_pair, words))) or _names_step(view, first):
        return _of_step(view, first), tuple(rest)
    return _only(view), words


def _names_step(view: View, word: str) -> bool:
    """Whether a word that stands alone is a step that asks for yes or no: then it cannot be the answer."""
    return any(each.step == word and each.answer == "approval" for each in view.state.questions.values())


def _of_step(view: View, name: str) -> QuestionAsked:
    of_step = [put.asked for put in view.put.values() if put.asked.step == name]
    still = [each for each in of_step if each.question in view.state.questions]
    if len(still) == 1 or (of_step and not still):
        return (still or of_step)[-1]  # one that was answered is sent too: whoever gets it says by whom
    known = ", ".join(list(view.state.questions)[:10])
    raise NoQuestion(f"{view.run} does not ask {name!r}", f"open are: {known}" if known else "no question is open")


def _only(view: View) -> QuestionAsked:
    questions = list(view.state.questions.values())
    if not questions:
        raise NoQuestion(f"{view.run} asks nothing now", _lately(view))
    if len(questions) > 1:
        lines = [next(answering(view.run, each, command)) for each in questions[:5]]
        raise WhichQuestion(f"{view.run} asks {len(questions)} questions", "name one: " + "; ".join(lines))
    return questions[0]


def _lately(view: View) -> str:
    """What came of the question that was asked last: perhaps somebody else was faster."""
    last = next(reversed(view.put.values()), None)
    if last is None or last.answer is None:
        return "`perdure show` tells what it waits for"
    by = f" by {last.answer.by}" if last.answer.by else ""
    return f"{last.asked.question} was answered{by}: {visible(_shown(said(last, view.state)), 200)}"


# ------------------------------------------------------------------------------- values


def typed(question: QuestionAsked, words: tuple[str, ...]) -> Any:
    """What somebody typed, as the question wants it."""
    if question.answer == "form" and words and all(map(_is_pair, words)):
        return _filled_in(question, words)
    if len(words) != 1:
        raise click.UsageError("there is one VALUE; put quotes around it if it has spaces")
    return _typed(question, words[0])


def _typed(question: QuestionAsked, text: str) -> Any:
    if question.about in {"doubt", "budget", "recovery"}:
        return json_or_text(text)
    match question.answer:
        case "approval":
            return _yes_or_no(question, text)
        case "choice" | "text":
            return text
        case _:
            return json_or_text(text)


def _is_pair(word: str) -> bool:
    """Whether it gives a field of a form its value."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _filled_in(question: QuestionAsked, pairs: tuple[str, ...]) -> dict[str, Any]:
    fields: Any = (question.form or {}).get("properties") or {}
    given: dict[str, Any] = {}
    for name, _, text in (pair.partition("=") for pair in pairs):
        if name in given:
            raise click.UsageError(f"{name} is given twice")
        given[name] = value_from(name, text, fields.get(name), "VALUE")
    return given


def read(name: str) -> str:
    """The text of a file, or of standard input, without the end of its last line."""
    try:
        text = sys.stdin.read() if name == STANDARD_STREAM else Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or "it is not UTF-8"
        raise click.UsageError(f"cannot read {visible(name)}: {told}") from error
    return text.removesuffix("\n")


def _yes_or_no(question: QuestionAsked, text: str) -> bool:
    word = text.strip().lower()
    if word not in YES | NO:
        raise OtherQuestion(
            f"{question.question} is answered with yes or no", "or use `perdure approve`, `perdure reject`"
        )
    return word in YES


def approval(question: QuestionAsked, *, yes: bool) -> bool:
    """Yes or no, to a question that wants that."""
    if question.answer != "approval":
        hint = f"answer with: perdure answer RUN {question.question} VALUE"
        raise OtherQuestion(f"{question.question} is not answered with yes or no", hint)
    return yes


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

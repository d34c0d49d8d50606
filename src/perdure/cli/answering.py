"""Answers as people type them: which question is meant, and what the value is to be."""

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from perdure.cli.hints import answering as commands
from perdure.cli.journals import opened
from perdure.cli.messages import tell
from perdure.cli.reaching import whoever
from perdure.config import Settings
from perdure.core.accepting import NoQuestion
from perdure.core.events import QuestionAsked
from perdure.engine import View
from perdure.errors import PerdureError
from perdure.plan.visible import visible

YES: Final = frozenset({"yes", "y", "true", "approve", "approved", "ok"})
NO: Final = frozenset({"no", "n", "false", "reject", "rejected"})


class WhichQuestion(PerdureError):
    """More than one question is open, and none was named."""

    code: ClassVar[str] = "PRD3106"
    exit_code: int = 2


class OtherQuestion(PerdureError):
    """The question wants another kind of answer."""

    code: ClassVar[str] = "PRD3107"
    exit_code: int = 2


Answer = Callable[[QuestionAsked], Any]
"""Makes the value that fits the question."""


async def give(settings: Settings, run: str, question: str | None, answer: Answer, about: Mapping[str, Any]) -> None:
    """Send an answer to a question."""
    async with opened(settings) as journal:
        view = await View.of(journal, (await journal.run(run)).id)
    found = which(view, question)
    value = answer(found)
    message = {"do": "answer", "question": found.question, "value": value}
    more = {"by": whoever(about["by"]), "reason": about.get("reason", "")}
    done = f"{visible(found.question)} is answered: {visible(_shown(value), 200)}"
    await tell(settings, view.run, {**message, **more}, done, as_json=about["as_json"])


def which(view: View, name: str | None) -> QuestionAsked:
    """The open question of this name, or of the step of this name; without a name, the only one."""
    questions = view.state.questions
    if name is None:
        return _only(view)
    if name in questions:
        return questions[name]
    of_step = [each for each in questions.values() if each.step == name]
    if len(of_step) == 1:
        return of_step[0]
    known = ", ".join(list(questions)[:10])
    told = f"{view.run} does not ask {name!r}" + (", or it was answered" if name in view.state.asked else "")
    raise NoQuestion(told, f"open are: {known}" if known else "no question is open")


def _only(view: View) -> QuestionAsked:
    questions = list(view.state.questions.values())
    if not questions:
        raise NoQuestion(f"{view.run} asks nothing now", "`perdure show` tells what it waits for")
    if len(questions) > 1:
        lines = [next(commands(view.run, each)) for each in questions[:5]]
        raise WhichQuestion(f"{view.run} asks {len(questions)} questions", "name one: " + "; ".join(lines))
    return questions[0]


# ------------------------------------------------------------------------------- values


def typed(question: QuestionAsked, text: str) -> Any:
    """What somebody typed, as the question wants it."""
    if question.about in {"doubt", "budget"}:
        return json_or_text(text)
    match question.answer:
        case "approval":
            return _yes_or_no(question, text)
        case "choice" | "text":
            return text
        case _:
            return json_or_text(text)


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


def json_or_text(text: str) -> Any:
    """JSON, or else the text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

"""Questions: listed, and answered. An answer is a person's: who may not give it has to let a person confirm it."""

import json
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Final

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Elicit, Resolve
from pydantic import BaseModel, Field

from perdure.documents.questions import Wanted, find_questions, questions_document
from perdure.engine import View
from perdure.engine.asking import Inquiry, inquiry
from perdure.errors import PerdureError
from perdure.mcp.plans import Document
from perdure.mcp.reach import Reach
from perdure.mcp.refusing import as_tool
from perdure.mcp.runs import Ctx, Run, Why
from perdure.mcp.scopes import APPROVE, RUN, Callers
from perdure.plan.shortening import shortened
from perdure.plan.visible import visible

QuestionId = Annotated[str, Field(description="The question's id, as perdure_questions lists it.")]
Value = Annotated[
    Any, Field(description="The answer: approved or rejected, one of the choices, a text, or an object for a form.")
]
SHOWN: Final = 200
"""Pieces of tokens that a person is shown of a proposed answer."""


class NotConfirmed(PerdureError):
    """A person has to confirm an answer, and has not."""

    code: ClassVar[str] = "PRD6051"


class NoSuchQuestion(PerdureError):
    """A run asks no such question, or not any more."""

    code: ClassVar[str] = "PRD6052"
    exit_code: int = 3


class Consent(BaseModel):
    """What a person says to an answer that a model proposes."""

    confirm: bool = Field(description="Give this answer.")


class Questions:
    """The tools about questions."""

    def __init__(self, reach: Reach, callers: Callers) -> None:
        self._reach = reach
        self._callers = callers

    @as_tool
    async def perdure_questions(
        self,
        run: Annotated[str | None, Field(description="Only those of this run.")] = None,
        after: Annotated[int, Field(ge=0, description="`next` of the page before.")] = 0,
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
    ) -> Document:
        """List what people are asked, oldest first, with what follows from each answer and from silence."""
        async with self._reach.journal() as journal:
            found = await find_questions(journal, Wanted(run), after, limit + 1)
            return questions_document(found, limit)

    async def consent(self, context: Ctx, run: str, question: str, value: Any) -> Consent | Elicit[Consent]:
        """What there is of a person's consent: the caller's own, or what a person says who is shown the proposal."""
        caller = self._callers(context)
        caller.check(APPROVE if caller.may(APPROVE) else RUN)
        view = await self._asking(run, question)
        if caller.may(APPROVE):
            return Consent(confirm=True)
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.elicitation is None:
            raise NotConfirmed(
                "a person has to confirm this answer, and your client cannot ask one",
                f"have a person run: perdure answer {view.run} {question} …; or serve with: perdure mcp --let-answer",
            )
        return Elicit(_proposal(view, question, value), Consent)

    async def answer(  # noqa: PLR0913, PLR0917  each is a word of its own
        self, context: Ctx, run: str, question: str, value: Any, reason: str, consent: ElicitationResult[Consent]
    ) -> Document:
        """Give an answer that a person stands behind."""
        if not (isinstance(consent, AcceptedElicitation) and consent.data.confirm):
            raise NotConfirmed("the person who was asked did not confirm the answer", "ask them what they want")
        caller = self._callers(context)
        id_ = (await self._asking(run, question)).run
        asked = {"do": "answer", "run": id_, "question": question, "value": value}
        is_news = await self._reach.ask({**asked, "by": caller.name, "reason": reason})
        return {"schema": "perdure.answered/1", "run": id_, "question": question, "news": bool(is_news)}

    async def _asking(self, run: str, question: str) -> View:
        """A run that asks this question."""
        async with self._reach.journal() as journal:
            view = await View.of(journal, (await journal.run(run)).id)
        if question not in view.state.questions:
            known = ", ".join(view.state.questions) or "none"
            raise NoSuchQuestion(f'the run {view.run} does not ask "{question}"', f"its open questions: {known}")
        return view


def _proposal(view: View, question: str, value: Any) -> str:
    """What a person is shown: the question, the answer, and what follows from it."""
    seen = inquiry(view.state, view.state.questions[question])
    proposed = visible(json.dumps(shortened(value, SHOWN), ensure_ascii=False, default=str))
    lines = [f"The run {view.run} asks: {visible(seen.asked.text)}", f"Proposed answer: {proposed}"]
    return "\n".join([*lines, *(f"What follows: {each}" for each in _consequence(seen, value))])


def _consequence(seen: Inquiry, value: Any) -> list[str]:
    """What follows from an answer; of one that is no word of the question, what follows from each."""
    known = dict(seen.answers)
    exact = known.get(value) if isinstance(value, str) else None
    return [visible(exact)] if exact else [visible(f"{word}: {what}") for word, what in seen.answers]


def answer_tool(questions: Questions) -> Callable[..., Any]:
    """The tool that answers. Who must consent is found out before it is called."""

    async def consent(context: Ctx, run: str, question: str, value: Any) -> Consent | Elicit[Consent]:
        return await as_tool(questions.consent)(context, run, question, value)

    async def perdure_answer(  # noqa: PLR0913, PLR0917  each is a word that a model may give
        context: Ctx,
        run: Run,
        question: QuestionId,
        value: Value,
        consent: Annotated[ElicitationResult[Consent], Resolve(consent)],
        reason: Why = "",
    ) -> Document:
        """Answer a question of a run. Unless your key may approve, a person is shown the answer and has to confirm it.

        Answers are given once; look at what follows from each with perdure_questions first.
        """
        return await as_tool(questions.answer)(context, run, question, value, reason, consent)

    return perdure_answer

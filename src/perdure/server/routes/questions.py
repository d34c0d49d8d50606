"""Questions: what people are asked, and their answers."""

from typing import Annotated, Final

from fastapi import Header, Query
from starlette.responses import Response

from perdure.documents.questions import Wanted, find_questions, questions_document
from perdure.server.answers.questions import Questions
from perdure.server.answers.runs import Done
from perdure.server.bodies import Answer
from perdure.server.callers import Asking
from perdure.server.here import Limit, Place, Serving, answered, check_revision
from perdure.server.routing import Routes

routes: Final = Routes("questions")
Match = Annotated[str | None, Header(alias="If-Match", description="The revision of the plan that was looked at.")]


@routes.get("/v1/questions", "read", Questions, (404,))
async def list_questions(  # noqa: PLR0913  each is a filter
    here: Serving,
    *,
    run: Annotated[str | None, Query(description="Only those of this run.")] = None,
    closed: Annotated[bool, Query(description="Also those that need no answer any more.")] = False,
    name: Annotated[str | None, Query(alias="for", description="Only those that this person may answer.")] = None,
    after: Place = 0,
    limit: Limit = 50,
) -> Response:
    """List what people are asked, over all runs, in the order of asking."""
    found = await find_questions(here.journal, Wanted(run, closed, name), after, limit + 1)
    return answered(questions_document(found, limit, None))


@routes.post("/v1/runs/{run}/questions/{question}", "approve", Done, (404, 409, 412))
async def answer_question(  # noqa: PLR0913, PLR0917  what is asked, who answers, and what
    here: Serving, caller: Asking, run: str, question: str, asked: Answer, match: Match = None
) -> Response:
    """Answer a question. The first valid answer counts; who comes later is told who was faster, and what they said."""
    await check_revision(here, run, match)
    said = {"question": question, "value": asked.value, "reason": asked.reason, "by": caller.named(asked.by)}
    return answered(await here.tell("answer", run, said))

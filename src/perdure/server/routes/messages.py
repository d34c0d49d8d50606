"""Messages to a run: each stands for one of those that the control socket takes."""

import asyncio
from typing import Annotated, Any, Final, TypeVar

from fastapi import Body, Header
from pydantic import BaseModel
from starlette.responses import Response

from perdure.core.refusing import OtherRevision
from perdure.documents.revisions import diff_document
from perdure.plan.reading import read_data
from perdure.server.answers.revisions import Diff
from perdure.server.answers.runs import Begun, Done
from perdure.server.bodies import Cancel, Edited, Fork, Reasoned, Resume, Retry, Revise, Rollback, Signal
from perdure.server.callers import Asking, Caller
from perdure.server.here import Here, Serving, answered, revision_in
from perdure.server.routes.runs import begun
from perdure.server.routing import Routes

routes: Final = Routes("messages")
Edits = TypeVar("Edits", bound=Edited)
Match = Annotated[str | None, Header(alias="If-Match", description="The revision that the edits were made for.")]


async def _told(here: Here, caller: Caller, verb: str, run: str, asked: BaseModel) -> Response:
    """Send what was asked as the message of that name, in the name of whoever asks."""
    said = asked.model_dump(exclude_unset=True, exclude={"dry"})
    return answered(await here.tell(verb, run, {**said, "by": caller.named(said.get("by", ""))}))


@routes.post("/v1/runs/{run}/pause", "run", Done, (404, 409))
async def pause_run(
    here: Serving, caller: Asking, run: str, asked: Annotated[Reasoned, Body(default_factory=Reasoned)]
) -> Response:
    """Begin nothing new in a run. What is at work goes on to its end."""
    return await _told(here, caller, "pause", run, asked)


@routes.post("/v1/runs/{run}/resume", "run", Done, (404, 409))
async def resume_run(
    here: Serving, caller: Asking, run: str, asked: Annotated[Resume, Body(default_factory=Resume)]
) -> Response:
    """Go on with a run that was paused, or that nobody carried on."""
    return await _told(here, caller, "resume", run, asked)


@routes.post("/v1/runs/{run}/cancel", "run", Done, (404, 409))
async def cancel_run(
    here: Serving, caller: Asking, run: str, asked: Annotated[Cancel, Body(default_factory=Cancel)]
) -> Response:
    """End a run, or one of its steps. What was done stays done."""
    return await _told(here, caller, "cancel", run, asked)


@routes.post("/v1/runs/{run}/rollback", "run", Done, (404, 409))
async def roll_run_back(
    here: Serving, caller: Asking, run: str, asked: Annotated[Rollback, Body(default_factory=Rollback)]
) -> Response:
    """Take back what a run has done, the latest first: all of it, or what came after a checkpoint."""
    return await _told(here, caller, "rollback", run, asked)


@routes.post("/v1/runs/{run}/signals", "run", Done, (404, 409))
async def signal_run(here: Serving, caller: Asking, run: str, asked: Signal) -> Response:
    """Tell a run that something happened outside. It is kept until a step takes it."""
    return await _told(here, caller, "signal", run, asked)


@routes.post("/v1/runs/{run}/retry", "run", Done, (404, 409, 412))
async def retry_run(
    here: Serving, caller: Asking, run: str, asked: Annotated[Retry, Body(default_factory=Retry)], match: Match = None
) -> Response:
    """Go on with a run that failed or was cancelled; `edits` change its plan first."""
    return await _told(here, caller, "retry", run, _based(asked, match))


@routes.post("/v1/runs/{run}/fork", "run", Begun, (404, 409), status_code=202)
async def fork_run(
    here: Serving, caller: Asking, run: str, asked: Annotated[Fork, Body(default_factory=Fork)]
) -> Response:
    """Begin a new run with the facts of another one up to a point. What was done by then is not done again."""
    said: dict[str, Any] = asked.model_dump(exclude={"plan", "by"})
    if asked.plan is not None:
        said["plan"] = (await asyncio.to_thread(read_data, asked.plan)).usable()
    id_ = (await here.journal.run(run)).id
    return begun((await here.engine.fork(id_, by=caller.named(asked.by), **said)).id)


# ------------------------------------------------------------------------------- revisions


@routes.post("/v1/runs/{run}/revise", "run", Done | Diff, (404, 409, 412))
async def revise_run(here: Serving, caller: Asking, run: str, asked: Revise, match: Match = None) -> Response:
    """Change the plan of a run: taken whole or refused whole, with every reason. `dry` only says what it would be."""
    based = _based(asked, match)
    if asked.dry:
        return await _tried(here, run, based)
    return await _told(here, caller, "revise", run, based)


async def _tried(here: Here, run: str, asked: Revise) -> Response:
    """What the edits would change."""
    id_ = (await here.journal.run(run)).id
    said = asked.model_dump(include={"base", "widen"})
    return answered(diff_document(*await here.engine.proposed(id_, asked.edits, **said)))


def _based(asked: Edits, match: str | None) -> Edits:
    """The edits, for the revision that `If-Match` names."""
    number = revision_in(match)
    if number is None:
        return asked
    if asked.base not in (None, number):
        raise OtherRevision(f"If-Match says {number}, and the body says {asked.base}", "say one revision")
    return asked.model_copy(update={"base": number})

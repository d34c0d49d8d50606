"""Runs: they are listed, begun and looked at."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import AwareDatetime
from starlette.responses import Response, StreamingResponse

from perdure.core.values import to_json
from perdure.documents.artifacts import artifacts_document
from perdure.documents.entries import listed_json
from perdure.documents.failures import failures_document
from perdure.documents.listing import found_runs, open_questions, runs_document
from perdure.documents.owning import is_interrupted, wanted
from perdure.documents.plans import plan_document
from perdure.documents.progress import paced, progress_document
from perdure.documents.revisions import Revision, revisions_among, revisions_document
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.engine.auditing import audit
from perdure.estimates.history import gather
from perdure.journal.believing import believed
from perdure.plan.problems import Problem
from perdure.ports import Entry, Filter
from perdure.server.answers import failures, revisions
from perdure.server.answers.runs import Artifacts, Begun, Entries, Progress, Run, RunPlan, Runs
from perdure.server.answers.told import Status
from perdure.server.bodies import Start
from perdure.server.errors import Invalid
from perdure.server.here import Limit, NewRun, Place, Serving, answered, as_json, etag, folded, milliseconds, read_plan
from perdure.server.routing import Routes

routes: Final = Routes("runs")


@routes.get("/v1/runs", "read", Runs)
async def list_runs(  # noqa: PLR0913, PLR0917  each is a filter
    here: Serving,
    status: Annotated[list[Status], Query(default_factory=list, description="Only these; can be repeated.")],
    session: Annotated[str | None, Query(description="Only runs of this session.")] = None,
    parent: Annotated[str | None, Query(description="Only runs that this one has begun.")] = None,
    since: Annotated[AwareDatetime | None, Query(description="Created at this time or later.")] = None,
    q: Annotated[str, Query(description="Only runs with this text in their goal.")] = "",
    before: Annotated[int | None, Query(ge=0, le=2**53, description="Go on where an earlier list ended.")] = None,
    limit: Limit = 50,
) -> Response:
    """List runs, newest first."""
    where = Filter(statuses=wanted(status, here.owner), session=session, parent=parent, since=milliseconds(since))
    found = await found_runs(here.journal, where, q, before, limit + 1)
    more = found[limit - 1].number if len(found) > limit else None
    return answered(runs_document(found[:limit], await open_questions(here.journal), more, here.owner))


# ------------------------------------------------------------------------------- beginning


@routes.post("/v1/runs", "run", Begun, (409,), status_code=202)
async def start_run(here: Serving, run: NewRun, asked: Start) -> Response:
    """Begin a run. When this answers it is in the journal, and no crash makes it unheard of.

    For a goal a plan is made first, and a model may be asked, which takes its time.
    """
    plan, inputs = await read_plan(here, asked), asked.inputs
    if plan is None:
        plan, inputs = (await here.made(asked.goal or "", asked)).whole(), {}
    said = asked.model_dump(include={"session", "seed", "workspace"})
    return begun((await here.engine.start(plan, inputs, run=run, **said)).id)


def begun(run: str) -> Response:
    """What is said of a run that has begun."""
    return answered({"schema": "perdure.begun/1", "id": run}, 202, Location=f"/v1/runs/{run}")


# ------------------------------------------------------------------------------- looking at one


@routes.get("/v1/runs/{run}", "read", Run, (404,))
async def show_run(
    here: Serving,
    run: str,
    at: Annotated[int | None, Query(ge=1, le=2**53, description="As it stood after so many facts.")] = None,
) -> Response:
    """Show a run as it stands, or as it stood. `ETag` is the revision of its plan."""

    def made(view: View, entries: Sequence[Entry]) -> Response:
        view.after(entries[:at])
        interrupted = at is None and is_interrupted(view.status, here.owner)
        document = run_document(view, interrupted=interrupted, command=None)
        return answered(document, ETag=etag(view.state.revision))

    return await folded(here, run, made)


@routes.get("/v1/runs/{run}/entries", "read", Entries, (404,))
async def list_entries(here: Serving, run: str, after: Place = 0, limit: Limit = 500) -> Response:
    """List the facts of a run, in order, as they are stored."""
    arrival, found = await here.journal.last_arrival(), await here.journal.run(run)
    entries = await here.journal.read(found.id, after, limit)
    more = entries[-1].seq if len(entries) == limit and entries[-1].seq < found.head_seq else None
    return as_json(await asyncio.to_thread(_page, {"run": found.id, "next": more, "arrival": arrival}, entries))


def _page(said: Mapping[str, Any], entries: Sequence[Entry]) -> bytes:
    """Bodies are handed on as the bytes that are stored."""
    about = to_json({"schema": "perdure.entries/1", **said})
    return about[:-1] + b',"entries":' + listed_json(entries) + b"}"


@routes.get("/v1/runs/{run}/plan", "read", RunPlan, (404,))
async def show_run_plan(
    here: Serving,
    run: str,
    revision: Annotated[int | None, Query(ge=0, le=2**53, description="As it was then; else as it is.")] = None,
) -> Response:
    """Show the plan of a run. `ETag` is its revision, which `If-Match` takes when it is edited."""

    def made(view: View, entries: Sequence[Entry]) -> Response:
        every = revisions_among(view, entries)
        chosen = every[-1] if revision is None else _one(every, revision)
        document = plan_document(chosen.plan, run=view.run, revision=chosen.number)
        return answered(document, ETag=etag(chosen.number))

    return await folded(here, run, made)


def _one(every: Sequence[Revision], number: int) -> Revision:
    if number >= len(every):
        told = f"there is no revision {number}"
        raise Invalid(told, f"there are 0 to {len(every) - 1}", [Problem(Invalid.code, told, ("query", "revision"))])
    return every[number]


@routes.get("/v1/runs/{run}/revisions", "read", revisions.Revisions, (404,))
async def list_revisions(here: Serving, run: str) -> Response:
    """Show what each revision of the plan of a run has changed."""
    return await folded(here, run, lambda view, entries: answered(revisions_document(revisions_among(view, entries))))


@routes.get("/v1/runs/{run}/failures", "read", failures.Failures, (404,))
async def list_failures(here: Serving, run: str) -> Response:
    """Show what failed in a run, what was tried next, what it cost and what helped."""

    def made(view: View, entries: Sequence[Entry]) -> Response:
        return answered(failures_document(view.run, view.after(entries).status, audit(entries)))

    return await folded(here, run, made)


@routes.get("/v1/runs/{run}/progress", "read", Progress, (404,))
async def show_progress(here: Serving, run: str) -> Response:
    """Say how far a run is, and when it will be over, by what earlier runs took."""
    id_, now = (await here.journal.run(run)).id, here.engine.host.clock.now()
    _, pace = await paced(here.journal, id_, await gather(here.journal), here.engine.known)
    return await asyncio.to_thread(lambda: answered(progress_document(id_, pace.progress(now), now)))


@routes.get("/v1/runs/{run}/artifacts", "read", Artifacts, (404,))
async def list_artifacts(here: Serving, run: str) -> Response:
    """List the large values that the facts of a run name."""
    return await folded(here, run, lambda view, entries: answered(artifacts_document(view.run, entries)))


@routes.get("/v1/runs/{run}/export", "read", None, (404,), answers={200: {"content": {"application/jsonl": {}}}})
async def export_run(here: Serving, run: str) -> Response:
    """Give a run with all that belongs to it, as lines of JSON, to be taken in elsewhere. It is verified first."""
    found = await believed(here.journal, run)
    name = {"Content-Disposition": f'attachment; filename="{found.id}.jsonl"', "Cache-Control": "no-store"}
    lines: AsyncIterator[bytes] = here.journal.export(found.id)
    return StreamingResponse(lines, headers=name, media_type="application/jsonl")

"""Runs: begun, looked at, followed and steered. Each steering tool stands for one message of `engine.requests`."""

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from perdure.documents.listing import open_questions, runs_document
from perdure.documents.owning import UNDER_WAY, is_interrupted
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.mcp.plans import AnyPlan, Document, Inputs, Plans, Template
from perdure.mcp.reach import Reach
from perdure.mcp.refusing import as_tool
from perdure.mcp.scopes import RUN, Callers
from perdure.plan.shortening import shortened
from perdure.ports import LAST, Entry, Filter, Journal

Run = Annotated[str, Field(description="The run: its id, the beginning of it, or @last.")]
Step = Annotated[str, Field(description="A step of the run by its key, as perdure_show lists it.")]
Why = Annotated[str, Field(description="Why; it stands in the journal.")]
Ctx = Context[Any, Any]
Status = Literal["running", "waiting", "paused", "stopping", "succeeded", "failed", "cancelled", "rolled_back"]

TOLD: Final = 400
"""Pieces of tokens that a model is told of one value; resources have it whole."""
NEWS: Final = 50
"""Facts that are told at once."""
LONGEST: Final = 50.0
"""Seconds that one call waits; clients give up after a minute."""
GLANCE: Final = 1.0
"""Seconds after which it is looked again whether anybody carries the run on."""


class Runs:
    """The tools about runs."""

    def __init__(self, reach: Reach, plans: Plans, callers: Callers) -> None:
        self._reach = reach
        self._plans = plans
        self._callers = callers

    # ------------------------------------------------------------ beginning

    @as_tool
    async def perdure_run(  # noqa: PLR0913, PLR0917  each is a word that a model may give
        self,
        context: Ctx,
        plan: AnyPlan | None = None,
        goal: Annotated[str, Field(description="What is to be done, instead of a plan: one is made for it.")] = "",
        inputs: Inputs = None,
        template: Template = "",
        session: Annotated[str, Field(description="The session that the run belongs to, if there is one.")] = "",
    ) -> Document:
        """Begin to carry out a plan, or a goal. It returns at once with the run's id; follow it with perdure_follow.

        The run is kept on disk then: it goes on after a crash, and nothing that was done is done twice.
        """
        self._callers(context).check(RUN)
        given = inputs or {}
        async with self._reach.engine() as engine:
            wanted = await self._plans.wanted(engine, plan, goal, given, template)
        body = json.loads(wanted.canonical_json())
        asked = {"do": "start", "plan": body, "inputs": given if plan is not None else {}, "session": session}
        return _begun(await self._reach.ask(asked))

    @as_tool
    async def perdure_fork(self, context: Ctx, run: Run, step: Step = "", inputs: Inputs = None) -> Document:
        """Begin a new run that goes its own way from where another one stood: before a step, or before its failure.

        What was done by then is not done again, and is not taken back.
        """
        done = await self._told(context, "fork", run, step=step, inputs=inputs or {})
        return _begun(done)

    # ------------------------------------------------------------ looking

    @as_tool
    async def perdure_runs(
        self,
        status: Annotated[list[Status] | None, Field(description="Only runs of these statuses.")] = None,
        session: Annotated[str | None, Field(description="Only runs of this session.")] = None,
        before: Annotated[int | None, Field(description="`next` of the page before.")] = None,
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
    ) -> Document:
        """List runs, newest first: what each is for, how it stands, and how many questions it asks people."""
        async with self._reach.journal() as journal:
            where = Filter(tuple(status or ()), session)
            runs = await journal.runs(where, before, limit + 1)
            more = runs[limit - 1].number if len(runs) > limit else None
            return runs_document(runs[:limit], await open_questions(journal), more, self._reach.owner())

    @as_tool
    async def perdure_show(
        self,
        run: Run = LAST,
        at: Annotated[int | None, Field(ge=1, description="As it stood after so many facts.")] = None,
    ) -> Document:
        """Show a run: its status, its steps with their outputs and failures, what it waits for, what it has cost.

        Long values are shortened; the resource perdure://runs/{run} has them whole.
        """
        async with self._reach.journal() as journal:
            view = await View.of(journal, (await journal.run(run)).id, at)
            return _brief(self._document(view))

    @as_tool
    async def perdure_follow(
        self,
        context: Ctx,
        run: Run = LAST,
        after: Annotated[int, Field(ge=0, description="`next` of the call before; 0: from the beginning.")] = 0,
        seconds: Annotated[float, Field(ge=0, le=LONGEST, description="The longest time to wait for news.")] = 20.0,
    ) -> Document:
        """Wait until a run is over, or needs somebody, and tell what has happened since `after`.

        If `rests` is false when it returns, call it again with `next`. If the run waits for an answer, it says which.
        """
        async with self._reach.journal() as journal:
            view = View(journal, (await journal.run(run)).id)
            news = await self._until_rest(context, journal, view, after, seconds)
            told = {key: each for key, each in _brief(self._document(view)).items() if key not in {"schema", "steps"}}
            about = {"schema": "perdure.news/1", "rests": self._rests(view), "next": view.seq}
            return {
                **about,
                **told,
                "news": [_fact(each) for each in news[-NEWS:]],
                "left_out": max(len(news) - NEWS, 0),
            }

    async def _until_rest(
        self, context: Ctx, journal: Journal, view: View, after: int, seconds: float
    ) -> Sequence[Entry]:
        clock, news = asyncio.get_running_loop().time, list[Entry]()
        until = clock() + seconds
        while True:
            while page := await journal.read(view.run, view.seq):
                for entry in page:
                    view.take(entry)
                news += [each for each in page if each.seq > after]
            left = until - clock()
            if self._rests(view) or left <= 0:
                return news
            await _report(context, view)
            await journal.grown(view.run, view.seq, min(left, GLANCE))

    def _rests(self, view: View) -> bool:
        return view.status not in UNDER_WAY or self._is_interrupted(view)

    def _is_interrupted(self, view: View) -> bool:
        return is_interrupted(view.status, self._reach.owner())

    def _document(self, view: View) -> Document:
        return run_document(view, interrupted=self._is_interrupted(view))

    # ------------------------------------------------------------ steering

    @as_tool
    async def perdure_pause(self, context: Ctx, run: Run, reason: Why = "") -> Document:
        """Begin nothing new in a run. What is at work goes on to its end; perdure_resume goes on."""
        return await self._steered(context, "pause", run, reason=reason)

    @as_tool
    async def perdure_resume(self, context: Ctx, run: Run) -> Document:
        """Go on with a run that is paused, or whose process was interrupted."""
        return await self._steered(context, "resume", run)

    @as_tool
    async def perdure_retry(self, context: Ctx, run: Run, step: Step = "") -> Document:
        """Go on with a run that failed or was cancelled: a step of it, or whatever was cut off, is done anew."""
        return await self._steered(context, "retry", run, step=step)

    @as_tool
    async def perdure_cancel(self, context: Ctx, run: Run, step: Step = "", reason: Why = "") -> Document:
        """End a run, or one of its steps. What was done stays done; perdure_rollback takes it back."""
        return await self._steered(context, "cancel", run, step=step, reason=reason)

    @as_tool
    async def perdure_rollback(self, context: Ctx, run: Run, to: Step = "", reason: Why = "") -> Document:
        """Take back what a run has done, the latest first: all of it, or what came after the checkpoint `to`."""
        return await self._steered(context, "rollback", run, to=to, reason=reason)

    @as_tool
    async def perdure_signal(
        self,
        context: Ctx,
        run: Run,
        name: Annotated[str, Field(description="What a step of the run waits for, by its name.")],
        value: Annotated[Any, Field(description="What is to be told with it.")] = None,
    ) -> Document:
        """Tell a run that something has happened outside. It is kept until a step takes it."""
        return await self._steered(context, "signal", run, name=name, value=value)

    @as_tool
    async def perdure_revise(
        self,
        context: Ctx,
        run: Run,
        edits: Annotated[
            list[dict[str, Any]],
            Field(
                min_length=1,
                description="Edits: {insert: STEP, after | before | into: ID}, {replace: ID, step: STEP}, "
                "{remove: ID} or {amend: ID, fields: {…}}. What is refused is told with what to write instead.",
            ),
        ],
        why: Why = "",
        base: Annotated[
            int | None, Field(description="The revision that the edits are for; else the present one.")
        ] = None,
    ) -> Document:
        """Change the plan of a run that is under way. What is over or at work stays; all edits are taken, or none."""
        done = await self._told(context, "revise", run, edits=edits, why=why, base=base)
        return {**await self._standing(run), "revised_to": done}

    async def _steered(self, context: Ctx, verb: str, run: str, **said: Any) -> Document:
        await self._told(context, verb, run, **said)
        return await self._standing(run)

    async def _told(self, context: Ctx, verb: str, run: str, **said: Any) -> Any:
        """Have a message done by whoever owns the journal."""
        caller = self._callers(context)
        caller.check(RUN)
        async with self._reach.journal() as journal:
            id_ = (await journal.run(run)).id
        return await self._reach.ask({"do": verb, "run": id_, "by": caller.name, **said})

    async def _standing(self, run: str) -> Document:
        """How a run stands now, in a few words."""
        async with self._reach.journal() as journal:
            view = await View.of(journal, (await journal.run(run)).id)
            told = self._document(view)
        return {key: told[key] for key in ("id", "status", "interrupted", "revision")}


async def _report(context: Ctx, view: View) -> None:
    """Tell a client that waits how far it is. The number only grows, though steps may come again."""
    steps = view.result.steps.values()
    over = sum(each.status == "over" for each in steps)
    await context.report_progress(view.seq, None, f"{over} of {len(steps)} steps are over")


def _begun(run: str) -> Document:
    return {"schema": "perdure.begun/1", "id": run, "follow": f"perdure_follow with run {run}"}


def _brief(document: Document) -> Document:
    """A run with long values shortened."""
    steps = {key: {**each, "output": shortened(each["output"], TOLD)} for key, each in document["steps"].items()}
    return {**document, "steps": steps, "output": shortened(document["output"], 4 * TOLD)}


def _fact(entry: Entry) -> Document:
    body = shortened(json.loads(entry.body), TOLD)
    return {"seq": entry.seq, "type": entry.type, "at": entry.at, "body": body}

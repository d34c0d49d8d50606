"""Plans: they are checked, drawn, compared, rehearsed and made. Nothing is carried out."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Final

from fastapi import Path
from starlette.responses import Response

from perdure.documents.checks import check_document, checked
from perdure.documents.estimates import estimate_document
from perdure.documents.plans import plan_document, planned_document
from perdure.documents.rehearsals import rehearsal_document
from perdure.documents.revisions import diff_document
from perdure.estimates.forecast import Forecast
from perdure.estimates.history import gather
from perdure.estimates.parts import Layout
from perdure.plan import Plan
from perdure.plan.drawing.mermaid import mermaid
from perdure.plan.drawing.page import html
from perdure.plan.drawing.svg import svg
from perdure.plan.drawing.tree import plain_tree
from perdure.plan.model.recalling import recalled
from perdure.plan.reading import Reading
from perdure.ports import UnknownArtifact
from perdure.server.answers import plans
from perdure.server.answers.revisions import Diff
from perdure.server.bodies import Check, Compare, Draw, Estimate, Make, Planned, Rehearse
from perdure.server.here import Here, Serving, answered, read_plan, reading_of
from perdure.server.routing import Routes

routes: Final = Routes("plans")
_DRAWN: Final[dict[str, Callable[[Plan], str]]] = {"tree": plain_tree, "mermaid": mermaid, "svg": svg, "html": html}


async def _plan(here: Here, said: Planned) -> Plan:
    plan = await read_plan(here, said)
    assert plan is not None  # noqa: S101  the body has one
    return plan


@routes.post("/v1/plans/check", "read", plans.Check)
async def check_plan(here: Serving, asked: Check) -> Response:
    """Say everything that is wrong with a plan, and what it measures."""
    reading = await reading_of(here, asked)
    assert reading is not None  # noqa: S101  as above
    return await asyncio.to_thread(_checked, here, reading, asked.feasible)


def _checked(here: Here, reading: Reading, feasible: bool) -> Response:  # noqa: FBT001  as it was asked
    if feasible and reading.plan is not None and not reading.errors:
        reading = reading.with_more(here.engine.lacks(reading.plan))
    return answered(check_document([checked("", reading)]))


@routes.post("/v1/plans/draw", "read", plans.Drawing)
async def draw_plan(here: Serving, asked: Draw) -> Response:
    """Draw a plan: a tree in text, Mermaid, an SVG, or a page of HTML."""
    drawn = await asyncio.to_thread(_DRAWN[asked.form], await _plan(here, asked))
    return answered({"schema": "perdure.drawing/1", "form": asked.form, "drawing": drawn})


@routes.post("/v1/plans/diff", "read", Diff)
async def diff_plans(here: Serving, asked: Compare) -> Response:
    """Say what differs between two plans, step by step."""
    before, after = await _plan(here, asked.before), await _plan(here, asked.after)
    return answered(await asyncio.to_thread(diff_document, before, after))


@routes.post("/v1/plans/rehearse", "read", plans.Rehearsal, (404,))
async def rehearse_plan(here: Serving, asked: Rehearse) -> Response:
    """Walk a plan and do nothing to the world: what it would read, write, run, connect to and ask."""
    plan = await _plan(here, asked)
    like = {"like": (await here.journal.run(asked.like)).id} if asked.like else {}
    found = await here.engine.rehearse(plan, asked.inputs, seed=asked.seed, **like)
    return answered(rehearsal_document(found, here.engine.lacks(plan, asked.inputs)))


@routes.post("/v1/plans/estimate", "read", plans.Estimate)
async def estimate_plan(here: Serving, asked: Estimate) -> Response:
    """Say what a plan will take: time, tokens, money, memory. Many runs of it are simulated, and nothing is done."""
    plan, history = await _plan(here, asked), await gather(here.journal)
    layout = Layout(plan, history, here.engine.known, asked.inputs)
    return await asyncio.to_thread(lambda: answered(estimate_document(Forecast(layout))))


@routes.post("/v1/plans/make", "run", plans.Planned)
async def make_plan(here: Serving, asked: Make) -> Response:
    """Make a plan for a goal, in plain words. A model may be asked, in a run of its own, which takes its time."""
    made = await here.made(asked.goal, asked)
    return answered(planned_document(made, here.engine.lacks(made.plan)))


@routes.get("/v1/plans/{digest}", "read", plans.Plan, (404,))
async def show_plan(
    here: Serving, digest: Annotated[str, Path(description="Its hash, as `sha256:` and 64 digits in hex.")]
) -> Response:
    """Show a plan that some run was started with."""
    try:
        data = await here.journal.artifact(digest.removeprefix("sha256:"))
        plan = await asyncio.to_thread(recalled, data)
    except ValueError as error:
        raise UnknownArtifact(f"there is no plan {digest[:100]}") from error
    return answered(plan_document(plan))

"""Plans: made for goals, checked, and tried without doing anything."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from perdure.agents.feasibility import INPUT
from perdure.documents.checks import checked
from perdure.documents.plans import planned_document
from perdure.documents.rehearsals import rehearsal_document
from perdure.documents.tools import tools_document
from perdure.engine import Engine
from perdure.errors import PerdureError
from perdure.mcp.reach import Reach
from perdure.mcp.refusing import as_tool
from perdure.plan import Plan
from perdure.plan.problems import PlanError, errors_in
from perdure.plan.reading import Reading, read_data, read_text
from perdure.tools import toolbox_of
from perdure.tools.describing import described
from perdure.world import Goal, World

Document = dict[str, Any]
AnyPlan = Annotated[
    dict[str, Any] | str, Field(description="A plan: an object, or a text in YAML or JSON. perdure_plan shows one.")
]
Inputs = Annotated[dict[str, Any] | None, Field(description="Values for the inputs of the plan, by name.")]
GoalText = Annotated[str, Field(description="What is to be done, in plain words.", min_length=1)]
Template = Annotated[str, Field(description="Make the plan from this template, whatever fits better.")]
NOTHING: Final[Mapping[str, Any]] = {}


class Unclear(PerdureError):
    """What is to be carried out was not said, or said twice."""

    code: ClassVar[str] = "PRD6054"


class Plans:
    """The tools about plans. None of them does anything to the world."""

    def __init__(self, reach: Reach, world: World) -> None:
        self._reach = reach
        self._world = world

    @as_tool
    async def perdure_check(self, plan: AnyPlan) -> Document:
        """Say everything that is wrong with a plan, each with its place and what to write instead; nothing is begun."""
        async with self._reach.engine() as engine:
            reading = self._read(plan)
            lacks = engine.lacks(reading.plan) if reading.plan is not None and not reading.errors else ()
            more = [each for each in lacks if each.code != INPUT]  # inputs are given when a run begins
            return {"schema": "perdure.checked/1", **checked("plan", reading.with_more(more))}

    @as_tool
    async def perdure_plan(self, goal: GoalText, inputs: Inputs = None, template: Template = "") -> Document:
        """Make a plan for a goal, without carrying it out.

        A template that fits is taken, else tools that a search finds, else a model is asked if one is configured. What
        the goal does not say is asked for when the plan is carried out.
        """
        async with self._reach.engine() as engine:
            made = await self._world.made(engine, Goal(goal, inputs or {}, template=template))
            return planned_document(made, engine.lacks(made.plan))

    @as_tool
    async def perdure_rehearse(self, plan: AnyPlan, inputs: Inputs = None) -> Document:
        """Walk a plan and do nothing to the world: what it would read, write, run, connect to and ask people.

        Files are changed in a copy only, and the difference is shown. Do this before perdure_run.
        """
        async with self._reach.engine() as engine:
            found = self._read(plan).usable()
            return rehearsal_document(await engine.rehearse(found, inputs), engine.lacks(found, inputs))

    @as_tool
    async def perdure_tools(self) -> Document:
        """List the tools that steps of a plan may use, what each takes and gives, and whether it changes the world."""
        return tools_document(described(each) for each in self._world.tools())

    async def wanted(
        self, engine: Engine, plan: AnyPlan | None, goal: str, inputs: Mapping[str, Any], template: str
    ) -> Plan:
        """The plan that somebody wants to be carried out: theirs, or one for their goal. `PlanError`: it cannot be."""
        if (plan is None) == (not goal):
            raise Unclear("say what is to be carried out: either a plan, or a goal", "see: perdure_plan")
        if plan is not None:
            found = self._read(plan).usable()
        else:
            made = await self._world.made(engine, Goal(goal, inputs, template=template))
            found = made.whole("say it in other words, or look at the plan first: perdure_plan")
        if problems := errors_in(engine.lacks(found, inputs if plan is not None else NOTHING)):
            raise PlanError(problems)
        return found

    def _read(self, plan: AnyPlan) -> Reading:
        toolbox = toolbox_of(self._world.tools()) if self._world.tools() else None
        return read_text(plan, toolbox=toolbox) if isinstance(plan, str) else read_data(plan, toolbox=toolbox)

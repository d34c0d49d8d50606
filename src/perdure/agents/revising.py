"""What a wish for another plan means (X2, X8), and who is asked for another way where the plan says so (E12).

All of it is pure: the core asks in the turn in which it hears of a wish or of a failure, and remembers what was said. A
planner that needs a model is put into the plan as steps: it drafts, `planning.replan` takes the draft or refuses it,
what was refused goes back to it, and where it finds nothing tools with the same skills, or an agent without a plan, do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pydantic import ValidationError

from perdure.agents.replanning import BadReplan, NoWay
from perdure.agents.requests.selecting import PLANNING, Catalogue
from perdure.agents.rerouting import Route
from perdure.core.adjusting import MOST_SAID
from perdure.core.calls import Failure
from perdure.core.events import REPLANNER
from perdure.core.occasion import Adjustment, Occasion
from perdure.plan.expr import escaped
from perdure.plan.index import within
from perdure.plan.model.parts import TOOLS, UNPLANNED_STEP, Adjusting, Id, JsonObject, Line, Many, Name, Part
from perdure.plan.model.steps import ToolStep
from perdure.plan.sayings import sentence
from perdure.tools.tool import AnyTool

SHOWN: Final = 40
"""Tools that a planner is shown."""
DRAFTS: Final = 3
"""How often a planner is asked, if what it says cannot be taken."""


SAID: Final = ("type", "description")
"""What a planner is told of an input."""
LASTING: Final = frozenset({"in_doubt", "cancelled", "budget"})
"""Kinds of failure that nobody plans round by themselves: what may have been done must not be done in another way."""


class Wish(Part):
    """That a plan has to change, and how."""

    reason: Line
    failed_steps: Many[Id] = ()
    steps: Many[JsonObject] = ()
    edits: Many[JsonObject] = ()
    tools: Many[Line] = ()
    otherwise: Name | None = None


@dataclass(frozen=True)
class Replanner:
    """Finds another way, with what there is: tools by name, and what each agent may call."""

    tools: Mapping[str, AnyTool]
    lent: Callable[[str], Sequence[str] | None]
    """What an agent may call, by its name; None: there is no such agent."""

    @cached_property
    def able(self) -> Mapping[str, AnyTool]:
        """The tools that plans are made of: those that plan are not among them."""
        return {name: each for name, each in self.tools.items() if not name.startswith(PLANNING)}

    # ------------------------------------------------------------ a wish

    def revised(self, occasion: Occasion, wish: Any) -> Adjustment | Failure:
        """What a wish means for the plan as it is."""
        try:
            said = Wish.model_validate(wish)
        except ValidationError as error:
            return Failure("invalid", "; ".join(sentence(each) for each in error.errors(include_url=False)[:5]))
        otherwise = said.otherwise if _unplanned_step(occasion) is None else None
        said = said.model_copy(update={"reason": said.reason.strip()[:MOST_SAID], "otherwise": otherwise})
        if said.edits:
            return Adjustment(said.edits, said.reason, self._calls(occasion, said))
        if said.steps:
            edits, follows = Route.of(occasion, said.failed_steps).by_steps(said.steps)
            return Adjustment(edits, said.reason, self._calls(occasion, said), follows)
        if not said.failed_steps:
            told = "name `failed_steps`, or say `steps` or `edits`. The plan as it is:\n"
            return Failure("invalid", told + "\n".join(occasion.lines))
        return self._another_way(occasion, said)

    def _calls(self, occasion: Occasion, said: Wish) -> Sequence[str]:
        """What new steps may call: what the agent may that wants them; in a plan, what that says, or calls itself."""
        if occasion.agent:
            own = self.lent(occasion.agent) or ()
            return [name for name in own if not name.startswith(PLANNING)]
        nodes = occasion.index.nodes
        return said.tools or sorted({node.step.tool for node in nodes if isinstance(node.step, ToolStep)} - {REPLANNER})

    def _another_way(self, occasion: Occasion, said: Wish) -> Adjustment | Failure:
        route = Route.of(occasion, said.failed_steps)
        if (kind := _kind_of(occasion, said.failed_steps)) in LASTING:
            return Failure(kind, f"nothing stands in by itself for what ended {kind}: say `steps` or `edits`")
        try:
            edits, follows = route.by_tools(self.able, drops=bool(occasion.agent))
            return Adjustment(edits, said.reason, follows=follows)
        except NoWay as none:
            why = f"{said.reason}; {none.message}"
        if said.otherwise is None or occasion.agent:
            return Failure(kind, why)
        try:
            return _unplanned(route, said.otherwise, why)
        except NoWay as none:
            return Failure(kind, f"{why}; {none.message}")

    # ------------------------------------------------------------ a failure

    def planned(self, occasion: Occasion) -> Adjustment | None:
        """Another way after a failure, where the plan says who is to find one."""
        adjusting = occasion.index.plan.adjust
        if adjusting is None or adjusting.planner is None or _stays(occasion.failure):
            return None
        if self._is_ours(occasion) or _is_unplanned(occasion):
            return None
        if adjusting.planner == TOOLS:
            return self._by_tools(occasion, adjusting.otherwise if _unplanned_step(occasion) is None else None)
        if self.lent(adjusting.planner) is None:
            raise BadReplan(f'there is no agent "{adjusting.planner}" that could plan', "name one: perdure agents ls")
        route = Route.of(occasion, [occasion.step])
        edits = route.by_planner(self._steps(occasion, route))
        return Adjustment(edits, f"{occasion.step} failed; {adjusting.planner} plans anew what is left")

    def _is_ours(self, occasion: Occasion) -> bool:
        """Whether it was the planning itself that failed: nobody plans how to plan."""
        node = occasion.index.by_id.get(occasion.step)
        within = (node, *node.children) if node else ()
        return any(isinstance(each.step, ToolStep) and each.step.tool == REPLANNER for each in within)

    def _by_tools(self, occasion: Occasion, otherwise: str | None) -> Adjustment:
        route = Route.of(occasion, [occasion.step])
        try:
            edits, follows = route.by_tools(self.able)
            return Adjustment(edits, f"{occasion.step} failed; tools with the same skills stand in", follows=follows)
        except NoWay as none:
            if otherwise is None:
                raise
            return _unplanned(route, otherwise, f"{_failed(occasion)}; {none.message}")

    def _steps(self, occasion: Occasion, route: Route) -> dict[str, Any]:
        """The steps by which what is left is planned anew: a draft, its taking, and what comes where there is none."""
        name = {word: route.fresh(f"{occasion.step}_{word}") for word in ("plan", "draft", "take", "last")}
        shown = Catalogue(self.able).ranked(" ".join([occasion.index.plan.goal, *occasion.lines]))[:SHOWN]
        steps = [_draft(occasion, name, shown), _take(occasion, name, shown), _last(occasion, name)]
        return {"id": name["plan"], "title": f"Find another way for {occasion.step}", "steps": steps}


# ------------------------------------------------------------------------------- planning as steps of the plan


def _draft(occasion: Occasion, name: Mapping[str, str], shown: Sequence[str]) -> dict[str, Any]:
    given = {"so_far": escaped(_so_far(occasion)), "known": _known(occasion), "tools": shown, **_inputs(occasion)}
    return {
        "id": name["draft"],
        "agent": _adjusting(occasion).planner,
        "strategy": "draft",
        "task": "Find another way for what is left of this: ${run.goal}",
        "with": {**given, "refused": _why(name["take"])},
        "context": "all",
        "max_visits": DRAFTS,
        "on": {"failure": name["last"], "exhausted": name["last"]},
    }


def _inputs(occasion: Occasion) -> dict[str, Any]:
    """What the plan was given, which new steps may take too: by name, with what is said of each."""
    known = occasion.index.plan.inputs
    told = {name: {word: schema[word] for word in SAID if word in schema} for name, schema in known.items()}
    return {"inputs": escaped(told)} if told else {}


def _take(occasion: Occasion, name: Mapping[str, str], shown: Sequence[str]) -> dict[str, Any]:
    wish = {"failed_steps": [occasion.step], "steps": f"${{steps.{name['draft']}.output.steps}}", "tools": shown}
    return {
        "id": name["take"],
        "tool": REPLANNER,
        "with": {"reason": escaped(_failed(occasion)), **wish},
        "on": {"success": "done", "failure": name["draft"]},
    }


def _last(occasion: Occasion, name: Mapping[str, str]) -> dict[str, Any]:
    planner, otherwise = _adjusting(occasion).planner, _adjusting(occasion).otherwise
    reason = f"{escaped(_failed(occasion))}; {planner} finds no plan: {_why(name['draft'])} {_why(name['take'])}"
    wish = {"reason": reason, "failed_steps": [occasion.step], **({"otherwise": otherwise} if otherwise else {})}
    return {"id": name["last"], "tool": REPLANNER, "with": wish}


def _unplanned(route: Route, agent: str, why: str) -> Adjustment:
    edits, follows = route.without_plan(agent, why)
    return Adjustment(edits, f"{why}; it goes on without a plan", follows=follows)


def _why(step: str) -> str:
    """Why a step has failed, if it has, as a text of a plan."""
    return f"${{steps.?{step}.failure.?message.orValue('')}}"


def _adjusting(occasion: Occasion) -> Adjusting:
    return occasion.index.plan.adjust or Adjusting()


def _stays(failure: Failure | None) -> bool:
    """Whether another way would be wrong: nobody knows what was done, somebody has stopped it, or nothing is left."""
    return failure is not None and failure.kind in LASTING


def _unplanned_step(occasion: Occasion) -> str | None:
    """The step that does what is left without a plan, if there is one: it is tried once in a run."""
    name = occasion.index.plan.meta.get(UNPLANNED_STEP)
    return name if isinstance(name, str) else None


def _is_unplanned(occasion: Occasion) -> bool:
    """Whether it was done without a plan: whoever did it may have done anything, and none of it is done anew."""
    node, last = occasion.index.by_id.get(occasion.step), _unplanned_step(occasion)
    return node is not None and last is not None and any(each.id == last for each in (node, *within(node)))


def _failed(occasion: Occasion) -> str:
    failure = occasion.failure
    return f"{occasion.step} failed" + (f" ({failure.kind}: {failure.message})" if failure else "")


def _kind_of(occasion: Occasion, failed: Sequence[str]) -> str:
    """The kind of failure that nobody has found a way round: what follows from it is looked up as for itself."""
    for step in failed:
        try:
            failure = occasion.result(step).failure
        except KeyError:
            continue
        if failure is not None:
            return failure.kind
    return "unmet"


def _known(occasion: Occasion) -> list[str]:
    """The steps whose results a new step may take."""
    nodes = occasion.index.nodes
    over = (node.id for node in nodes if occasion.standing(node.id) == "over")
    return [each for each in over if occasion.result(each).exit == "success"]


def _so_far(occasion: Occasion) -> str:
    return "\n".join(
        [
            f"{_failed(occasion)}. Write only the steps that are to be done in its place; all others stay as they are.",
            f"A step whose result stands for that of {occasion.step} has the id {occasion.step}.",
            "What is over is not done again; its results are there as ${steps.ID.output}. The plan:",
            *occasion.lines,
        ]
    )

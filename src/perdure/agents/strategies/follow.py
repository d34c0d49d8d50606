"""Follow: work as `react` does, by a plan that is given, with how it stands before every thought.

The plan and the tools are facts of the task (`plan`, `tools`), so the agent is made when the work begins: with just
these tools, and with this plan in what it is told. How the plan stands follows from the calls of its group.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from pydantic import ValidationError

from perdure.agents.agent import Agent
from perdure.agents.prompts import prompt
from perdure.agents.strategies.checklist import claimed, items_in, ticked, told, unmarked
from perdure.agents.strategies.react import react
from perdure.agents.strategies.sketch import BESIDE, able_of
from perdure.agents.strategies.words import Words
from perdure.core.calls import Failure
from perdure.core.growth import Finish, Move, View
from perdure.plan.checks.order import check_order
from perdure.plan.flow import SerialFlow
from perdure.plan.index import Index
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Part
from perdure.plan.raw import is_list
from perdure.plan.sayings import sentence
from perdure.tools import AnyTool

PLAN: Final = "plan"
TOOLS: Final = "tools"
"""The facts by which a task says what to work by, and with what."""


class Following(Part):
    """Nothing of its own; how long it goes on stands under `react`."""


def follow(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> Move | Finish | None:
    """Think with the plan in view; mark what is begun, and what is over."""
    if view.live:
        return None
    if view.first and (wrong := _flaw(view, agent, tools)):
        return Finish("failure", failure=Failure("invalid", wrong))
    items = items_in(view.facts.get(PLAN))
    marks = ticked(items, unmarked(items) if view.first else view.memo["marks"], view.fresh)
    wish = react(view, _made(view, agent, tools), tools, told(items, marks) if items else Words())
    if not isinstance(wish, Move):
        return wish
    called = {f"s{view.born + n}": str(step["tool"]) for n, step in enumerate(wish.add, 1) if "tool" in step}
    mine = claimed(items, marks, called)
    tags = {**wish.tags, **{id_: {"item": item} for id_, item in mine.items()}}
    return replace(wish, tags=tags, memo={**wish.memo, "marks": {**marks, **dict.fromkeys(mine.values(), "running")}})


def _flaw(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> str:
    """What is wrong with the plan or the tools that the task names; empty: nothing."""
    plan, said = view.facts.get(PLAN), view.facts.get(TOOLS)
    wrong = "" if plan is None else _plan_flaw(plan)
    if wrong:
        return f"`{PLAN}` is no plan: {wrong}; write {{steps: [{{id: a, tool: x.y}}]}}"
    if said is not None and not (is_list(said) and all(isinstance(each, str) for each in said)):
        return f"`{TOOLS}` is {said!r:.80}; write a list of names of tools"
    gone = [each for each in cast("list[str]", said or []) if tools and each not in tools and each not in agent.tools]
    return f"`{TOOLS}`: there is no tool {gone[0]!r:.80}" if gone else ""


def _plan_flaw(written: Any) -> str:
    try:
        index = Index(Plan.model_validate(written))
    except ValidationError as error:
        return sentence(error.errors(include_url=False)[0])
    return next((each.message for each in check_order(index, SerialFlow(index))), "")


def _made(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> Agent:
    """The agent for this task: as it is, with the tools that the task names, of those that it may call."""
    said: Any = view.facts.get(TOOLS)
    kept = _kept({*map(str, cast("list[Any]", said))}, agent, tools) if is_list(said) else agent.tools
    instructions = "\n\n".join(filter(None, (agent.instructions, prompt("follow"))))
    return agent.model_copy(update={"tools": kept, "instructions": instructions})


def _kept(named: set[str], agent: Agent, tools: Mapping[str, AnyTool]) -> tuple[str, ...]:
    """Of what the agent may call, or of all if it says nothing, what is named; and whatever it has about plans."""
    beside = tuple(each for each in agent.tools if each.startswith(BESIDE))
    own = [each for each in agent.tools if each not in beside] or [each.name for each in able_of(sorted(tools), tools)]
    return (*(each for each in own if each in named), *beside)

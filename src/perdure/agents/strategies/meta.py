"""Meta: select tools for the task, have a plan made with these, and have it followed by an agent made for it (X4).

select → draft → follow        the model selects, or else a search; where no plan comes of it, the task is done without
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from perdure.agents.agent import Agent
from perdure.agents.requests.selecting import Catalogue
from perdure.agents.strategies.answering import hear, passed_on
from perdure.agents.strategies.asking import ask
from perdure.agents.strategies.costs import fits
from perdure.agents.strategies.follow import PLAN, TOOLS
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.sketch import able_of
from perdure.agents.strategies.words import Words, given_of, handed_on, ref, task_of
from perdure.core.growth import Child, Finish, Move, View
from perdure.core.ladder import UNASKED
from perdure.plan.model.parts import Count, Part
from perdure.tools import AnyTool

SELECT: Final = (
    "You select tools for others. You are told which tools there are, and a task. Name those that the task needs, "
    "and no others."
)
UNPLANNED: Final = "without_a_plan"
"""The fact that tells why there is no plan."""


class Selecting(Part):
    """Who selects, and how much."""

    select: Literal["model", "search"] = "model"
    """Who selects the tools. Where the model says nothing of use, a search does."""
    shown: Count = 40
    """The most tools that a model is shown, those first that a search finds."""
    most: Count = 12
    """The most that are selected; where there are no more than these, all are."""


def meta(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> Move | Finish | None:
    """Select, have it planned, have it done."""
    if view.live:
        return None
    work = _Work(view, agent, options_of(agent, "meta", Selecting), tools)
    if view.first:
        return work.select()
    last = view.fresh[-1]
    stage: Mapping[str, Any] = {"select": work.selected, "draft": work.drafted, "follow": passed_on}
    return stage[view.memo["stage"]](last)


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent
    options: Selecting
    tools: Mapping[str, AnyTool]

    @property
    def _known(self) -> dict[str, AnyTool]:
        """The tools of the agent, or all that there are."""
        found = able_of(self.agent.tools, self.tools) or able_of(sorted(self.tools), self.tools)
        return {each.name: each for each in found}

    @property
    def _ranked(self) -> list[str]:
        return Catalogue(self._known).ranked(self.view.task)

    # ------------------------------------------------------------ tools

    def select(self) -> Move:
        """Ask for the tools, if there are more than could be given."""
        if len(self._known) <= self.options.most:
            return self._draft(sorted(self._known), "all")
        words = self._words()
        asked = ask(self.view, self.agent, words, returns=self._schema(), told=SELECT)
        if self.options.select == "search" or not fits(asked.cost, self.view.left):
            return self._draft(self._found(), "search")
        return Move(add=[asked.step], memo={"stage": "select"})

    def _words(self) -> Words:
        shown = self._ranked[: self.options.shown]
        words = Words().say("Tools:\n" + "\n".join(f"- {each}: {self._known[each].summary}" for each in shown))
        return words.say("\n\nThe task:\n").add(task_of(self.view))

    def _schema(self) -> dict[str, Any]:
        names = {"type": "array", "items": {"enum": self._ranked[: self.options.shown]}, "minItems": 1}
        return {"type": "object", "required": ["tools"], "properties": {"tools": names}}

    def selected(self, answer: Child) -> Move:
        """Take what the model has selected; where that is of no use, what a search finds."""
        heard = hear(answer, self._schema())
        if heard.flaws:
            return self._draft(self._found(), "search")
        return self._draft(list(dict.fromkeys(heard.value["tools"]))[: self.options.most], "model")

    def _found(self) -> list[str]:
        """What a search finds: the tools for the parts of the task, then those that fit it best."""
        chosen = [each.name for each in Catalogue(self._known).select(self.view.task).tools]
        return list(dict.fromkeys((*chosen, *self._ranked)))[: self.options.most]

    # ------------------------------------------------------------ plan

    def _draft(self, names: Sequence[str], by: str) -> Move:
        step = {"agent": self.agent.name, "strategy": "draft", "task": "${inputs.task}"}
        given = {**given_of(self.view), TOOLS: list(names)}
        memo = {"stage": "draft", "tools": list(names), "by": by}
        # No person is asked because a plan is missing: the task is done without one.
        return Move(add=[{**step, "with": given, "recovery": UNASKED}], memo=memo)

    def drafted(self, draft: Child) -> Move:
        """Give the work to an agent with these tools and this plan; without a plan if there is none, and say so."""
        plan = {PLAN: ref(f"steps.{draft.id}.output")} if draft.exit == "success" else {UNPLANNED: _why(draft)}
        step = handed_on(self.view, **{TOOLS: self.view.memo["tools"], **plan})
        step |= {"agent": self.agent.name, "strategy": "follow"}
        return Move(add=[step], memo={**self.view.memo, "stage": "follow"})


def _why(draft: Child) -> str:
    return ref(f"steps.{draft.id}.failure.message") if draft.failure else "nobody knows why"

"""Draft: a model writes a plan, the checks read it, and what is wrong with it goes back, a few times at most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from perdure.agents.agent import Agent
from perdure.agents.prompts import prompt
from perdure.agents.strategies.answering import Heard, hear
from perdure.agents.strategies.asking import Asked, ask
from perdure.agents.strategies.mending import mend
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.sketch import able_of, document_of, problems_of, sketch_schema, told
from perdure.agents.strategies.words import Words, task_of, who_is
from perdure.core.growth import Finish, Move, View
from perdure.plan.expr import escaped
from perdure.plan.model.parts import Amount, Count, Part
from perdure.tools import AnyTool, toolbox_of

TOOLS: Final = "tools"
"""The fact by which a task says which tools a plan may call."""
KNOWN: Final = "known"
"""The fact by which a task says which steps are over already; a plan may take their results."""
SECRETS: Final = "secrets"
"""The fact by which a task says which secrets a plan may name, beside those that its agent was given."""
INPUTS: Final = "inputs"
"""The fact by which a task says what the plan is given when it begins: by name, with what is told of it."""

UNFIT: Final = "there is no plan that can be carried out"


class Drafting(Part):
    """How large a plan may be, and how often it is mended."""

    repairs: Amount = 2
    """How often what is wrong goes back."""
    steps: Count = 20
    """The most steps."""
    shown: Count = 40
    """The most tools that are shown, where the task does not name them."""


def draft(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> Move | Finish | None:
    """Ask for a plan, or look at the one that came."""
    if view.live:
        return None
    work = _Work(view, agent, options_of(agent, "draft", Drafting), tools)
    if view.first:
        return work.begin()
    return work.look(hear(view.fresh[-1], work.schema))


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent
    options: Drafting
    tools: Mapping[str, AnyTool]

    def begin(self) -> Move:
        """What never changes comes first, so that a provider can keep it at hand; what is wanted comes last."""
        manner = f"{prompt('draft')}\n\nTools:\n{self._shown()}"
        words = Words().say("Goal: ").add(task_of(self.view))
        return Move(add=[ask(self.view, self.agent, words, returns=self.schema, told=who_is(self.agent, manner)).step])

    @property
    def schema(self) -> Mapping[str, Any]:
        """What a plan is to look like."""
        return sketch_schema([each.name for each in self._meant()], self.options.steps)

    def _meant(self) -> Sequence[AnyTool]:
        """The tools that a plan may call: those that the task names, those of the agent, or all that there are."""
        if named := able_of(self._listed(TOOLS), self.tools):
            return named
        found = able_of(self.agent.tools, self.tools) or able_of(sorted(self.tools), self.tools)
        return found[: self.options.shown]

    def _listed(self, fact: str) -> list[Any]:
        said: Any = self.view.facts.get(fact)
        return [*cast("Iterable[Any]", said)] if isinstance(said, list) else []

    def _given(self) -> Iterable[str]:
        said: Any = self.view.facts.get(INPUTS)
        return cast("Mapping[str, Any]", said) if isinstance(said, dict) else ()

    def _shown(self) -> str:
        return "\n".join(f"- {each.name}({', '.join(_arguments(each))}): {each.summary}" for each in self._meant())

    def look(self, heard: Heard) -> Move | Finish:
        """Take the plan, or say what is wrong with it."""
        if heard.flaws:
            return self._again(heard)
        document = document_of(heard.value, escaped(self.view.task), self._given())
        known, secrets = ([str(each) for each in self._listed(fact)] for fact in (KNOWN, SECRETS))
        problems = problems_of(document, toolbox_of(self._meant()), known, {*secrets, *self.view.secrets})
        return self._again(replace(heard, flaws=told(problems))) if problems else Finish(output=escaped(document))

    def _again(self, heard: Heard) -> Move | Finish:
        repairs = self.options.repairs - self.view.born + 1
        words = {"unfit": UNFIT, "again": "Write the whole plan again, mended."}
        again = mend(self.view, self.agent, heard, repairs, returns=self.schema, **words)
        return Move(add=[again.step]) if isinstance(again, Asked) else Finish("failure", failure=again)


def _arguments(tool: AnyTool) -> list[str]:
    """The arguments of a tool, in few words."""
    schema = tool.signature.inputs
    required = schema.get("required", ())
    known: Mapping[str, Any] = schema.get("properties", {})
    return [f"{name}: {info.get('type', 'any')}" + ("" if name in required else "?") for name, info in known.items()]

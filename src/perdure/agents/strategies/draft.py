"""Draft: a model writes a plan, the checks read it, and what is wrong with it goes back, a few times at most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from perdure.agents.agent import Agent
from perdure.agents.prompts import prompt
from perdure.agents.strategies.asking import asked, instructions_of, size_of, task_of
from perdure.agents.strategies.finishing import few
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.sketch import document_of, problems_of, sketch_schema, told
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.expr import escaped
from perdure.plan.model.parts import Amount, Count, Part
from perdure.tools import AnyTool, toolbox_of

TOOLS: Final = "tools"
"""The fact by which a task says which tools a plan may call."""
KNOWN: Final = "known"
"""The fact by which a task says which steps are over already; a plan may take their results."""
PLANNING: Final = "planning."
"""What the names of tools begin with that plan: a plan does not."""


class Drafting(Part):
    """How large a plan may be, and how often it is mended."""

    repairs: Amount = 2
    """How often what is wrong goes back."""
    steps: Count = 20
    """The most steps."""
    shown: Count = 40
    """The most tools that are shown."""


def draft(view: View, agent: Agent, tools: Mapping[str, AnyTool]) -> Move | Finish | None:
    """Ask for a plan, or look at the one that came."""
    if view.live:
        return None
    work = _Work(view, agent, options_of(agent, "draft", Drafting), tools)
    if view.first:
        return work.begin()
    [answer] = view.fresh
    return work.look(answer) if answer.exit == "success" else Finish("failure", failure=answer.failure)


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent
    options: Drafting
    tools: Mapping[str, AnyTool]

    def begin(self) -> Move:
        """What never changes comes first, so that a provider can keep it at hand; what is wanted comes last."""
        manner = f"{prompt('draft')}\n\nTools:\n{self._shown()}"
        about = {"instructions": instructions_of(self.agent, manner), "prompt": f"Goal: {task_of(self.view)}"}
        return Move(add=[asked(self.view, self.agent, 0, **about, **self._form())], memo={"repairs": 0})

    def _form(self) -> dict[str, Any]:
        schema = sketch_schema([each.name for each in self._meant()], self.options.steps)
        free = {} if self.agent.temperature is None else {"temperature": self.agent.temperature}
        return {"tools": [], "returns": schema, **free}

    def _meant(self) -> Sequence[AnyTool]:
        """The tools that a plan may call: those that the task names, those of the agent, or all that there are."""
        names = self._listed(TOOLS) or self.agent.tools or sorted(self.tools)
        able = [each for each in names if each in self.tools and not each.startswith(PLANNING)]
        return [self.tools[each] for each in able][: self.options.shown]

    def _listed(self, fact: str) -> list[Any]:
        said: Any = self.view.facts.get(fact)
        return [*cast("Iterable[Any]", said)] if isinstance(said, list) else []

    def _shown(self) -> str:
        return "\n".join(f"- {each.name}({', '.join(_arguments(each))}): {each.summary}" for each in self._meant())

    def look(self, answer: Child) -> Move | Finish:
        """Take the plan, or say what is wrong with it."""
        if "value" not in answer.output:
            return self._again(answer, few(answer.output.get("flaws", ())))
        known = [str(each) for each in self._listed(KNOWN)]
        document = document_of(answer.output["value"], escaped(self.view.task))
        problems = problems_of(document, toolbox_of(self._meant()), known)
        return self._again(answer, told(problems)) if problems else Finish(output=escaped(document))

    def _again(self, answer: Child, wrong: str) -> Move | Finish:
        repairs = self.view.memo["repairs"]
        if repairs >= self.options.repairs:
            return Finish("failure", failure=Failure("invalid", f"there is no plan that can be carried out:\n{wrong}"))
        said = f"This plan cannot be carried out:\n{wrong}\n\nWrite the whole plan again, mended."
        step = asked(
            self.view, self.agent, answer.tokens + size_of(said), after=answer.id, prompt=escaped(said), **self._form()
        )
        return Move(add=[step], memo={"repairs": repairs + 1})


def _arguments(tool: AnyTool) -> list[str]:
    """The arguments of a tool, in few words."""
    schema = tool.signature.inputs
    required = schema.get("required", ())
    known: Mapping[str, Any] = schema.get("properties", {})
    return [f"{name}: {info.get('type', 'any')}" + ("" if name in required else "?") for name, info in known.items()]

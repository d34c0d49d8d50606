"""ReAct: think, call what the thought asks for, look at what came of it, and think again, until there is an answer.

Each thought is a model step that goes on with the conversation, each call a tool step of its own. What is asked for and
cannot be is said back to the model, and no step comes of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.prompts import prompt
from perdure.agents.strategies.asking import asked, instructions_of, options_of, size_of, task_of
from perdure.agents.strategies.finishing import few, finished, schema_of, wanted
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.expr import escaped
from perdure.plan.expr.path import written
from perdure.plan.model.parts import TOOL_PATTERN, Amount, Count, Part
from perdure.plan.problems import did_you_mean

_TOOL: Final = re.compile(TOOL_PATTERN)
_ODD: Final = re.compile(r"[\"'\\\r\n]")
"""What the name of an argument cannot have, if it is to stand in a path."""
LONGEST: Final = 200


class Reacting(Part):
    """How long it goes on."""

    rounds: Count = 50
    """The most thoughts."""
    calls: Count = 16
    """The most calls that one thought may ask for."""
    repairs: Amount = 2
    """How often an answer that does not fit is sent back."""


def react(view: View, agent: Agent) -> Move | Finish | None:
    """Think, or do what the last thought asks for, or be done."""
    if view.live:
        return None
    work = _Work(view, agent, Reacting.model_validate(options_of(agent, "react")))
    if view.first:
        return work.begin()
    thought = view.child(view.memo["thought"])
    assert thought is not None  # noqa: S101  it was grown by the move before
    if view.fresh[-1].id != thought.id:
        return work.think(thought, view.memo["results"])
    if thought.exit != "success":
        return Finish("failure", failure=thought.failure)
    return work.act(thought) if thought.output["calls"] else work.answer(thought)


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent
    options: Reacting

    # ------------------------------------------------------------ thinking

    def begin(self) -> Move:
        """The first thought."""
        told = instructions_of(self.agent, f"{prompt('react')}\n\n{wanted(self.view)}")
        about = {"instructions": told, "prompt": task_of(self.view), "tools": list(self.agent.tools), **self._how()}
        memo = {"thought": "s1", "rounds": 1, "repairs": 0, "results": ()}
        return Move(add=[asked(self.view, self.agent, 0, **about)], tags={"s1": "thought"}, memo=memo)

    def _how(self) -> dict[str, Any]:
        """What is said of every thought: the form of the answer, and how freely it is chosen."""
        said = {"returns": schema_of(self.view), "temperature": self.agent.temperature}
        return {word: value for word, value in said.items() if value is not None}

    def think(self, last: Child, results: Sequence[Any] = (), prompt: str = "") -> Move | Finish:
        """Go on with the conversation."""
        memo = self.view.memo
        if memo["rounds"] >= self.options.rounds:
            told = f"there is no answer after {self.options.rounds} thoughts"
            return Finish("failure", failure=Failure("stalled", told))
        news = (size_of(each.output) for each in self.view.fresh if each.id != last.id)
        said = {"results": list(results), "prompt": prompt}
        about = {"after": last.id, **{word: value for word, value in said.items() if value}, **self._how()}
        step = asked(self.view, self.agent, last.tokens + sum(news) + size_of(prompt), **about)
        id_ = f"s{self.view.born + 1}"
        memo = {**memo, "thought": id_, "rounds": memo["rounds"] + 1, "results": ()}
        return Move(add=[step], tags={id_: "thought"}, memo=memo)

    # ------------------------------------------------------------ acting

    def act(self, thought: Child) -> Move | Finish:
        """Make the calls that were asked for; of those that cannot be made, say why."""
        steps: list[dict[str, Any]] = []
        results: list[Any] = []
        for number, call in enumerate(thought.output["calls"]):
            if problem := self._problem(number, call):
                results.append({"error": escaped(problem)})
            else:
                steps.append(_step(thought.id, number, call))
                results.append(f"s{self.view.born + len(steps)}")
        if not steps:
            return self.think(thought, results)
        return Move(add=steps, memo={**self.view.memo, "results": results})

    def _problem(self, number: int, call: Mapping[str, Any]) -> str:
        """Why a call cannot be made; empty: it can."""
        name = str(call["tool"])
        if "error" in call:
            return str(call["error"])
        if number >= self.options.calls:
            return f"at most {self.options.calls} calls at once; ask again for the others"
        is_meant = any(fnmatchcase(name, pattern) for pattern in self.agent.tools)
        if not is_meant or not _TOOL.fullmatch(name) or len(name) > LONGEST:
            hint = did_you_mean(name, self.agent.tools) or "you have none"
            return f"there is no tool {name[:LONGEST]!r} for you; {hint}"
        odd = next((each for each in call["with"] if _ODD.search(each)), None)
        return "" if odd is None else f"no tool has an argument {odd[:LONGEST]!r}"

    # ------------------------------------------------------------ answering

    def answer(self, thought: Child) -> Move | Finish:
        """Be done, or say what is wrong with the answer."""
        if schema_of(self.view) is None:
            return Finish(output=f"${{steps.{thought.id}.output.text}}")
        if "value" in thought.output:
            return finished(self.view, f"steps.{thought.id}.output.value", thought.output["value"])
        told = f"the answer is not what was asked for: {few(thought.output.get('flaws', ()))}"
        if self.view.memo["repairs"] >= self.options.repairs:
            return Finish("failure", failure=Failure("invalid", told))
        again = self.think(thought, prompt=escaped(f"{told}. {wanted(self.view)}"))
        if isinstance(again, Finish):
            return again
        return Move(again.add, tags=again.tags, memo={**again.memo, "repairs": self.view.memo["repairs"] + 1})


def _step(thought: str, number: int, call: Mapping[str, Any]) -> dict[str, Any]:
    """A step that makes a call, with what the model wants to give it, by reference."""
    path = (thought, "output", "calls", number, "with")
    given = {name: f"${{{written('steps', (*path, name))}}}" for name in call["with"]}
    return {"tool": call["tool"], "with": given}

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
from perdure.agents.strategies.answering import LONGEST, finished, hear, schema_of
from perdure.agents.strategies.asking import NOTHING, Asked, ask, opening
from perdure.agents.strategies.mending import mend
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.words import Words, length_of
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.expr import escaped
from perdure.plan.expr.path import written
from perdure.plan.model.parts import TOOL_PATTERN, Amount, Count, Part
from perdure.plan.problems import did_you_mean
from perdure.tools import AnyTool

_TOOL: Final = re.compile(TOOL_PATTERN)
_ODD: Final = re.compile(r"[\"'\\\r\n]")
"""What the name of an argument cannot have, if it is to stand in a path."""


class Reacting(Part):
    """How long it goes on."""

    rounds: Count = 50
    """The most thoughts."""
    calls: Count = 16
    """The most calls that one thought may ask for."""
    repairs: Amount = 2
    """How often an answer that does not fit is sent back."""


def react(view: View, agent: Agent, tools: Mapping[str, AnyTool], note: Words = NOTHING) -> Move | Finish | None:
    """Think, or do what the last thought asks for, or be done. `note` is told with every thought."""
    if view.live:
        return None
    work = _Work(view, agent, options_of(agent, "react", Reacting), note)
    if view.first:
        return work.begin(tools)
    thought = view.child(view.memo["thought"])
    assert thought is not None  # noqa: S101  it was grown by the move before
    if view.fresh[-1].id != thought.id:
        return work.think(thought, view.memo["results"])
    return work.act(thought) if thought.exit == "success" and thought.output["calls"] else work.answer(thought)


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent
    options: Reacting
    note: Words

    # ------------------------------------------------------------ thinking

    def begin(self, tools: Mapping[str, AnyTool]) -> Move | Finish:
        """The first thought."""
        return self._thought(opening(self.view, self.agent, tools, self.note))

    def think(self, last: Child, results: Sequence[Any]) -> Move | Finish:
        """Go on with the conversation."""
        sizes = [length_of(_told(each)) for each in self.view.fresh if each.id != last.id]
        sizes += [length_of(each) for each in results if not isinstance(each, str)]
        asked = ask(self.view, self.agent, self.note.beside(sum(sizes)), returns=schema_of(self.view), after=last)
        asked.step["results"] = list(results)
        return self._thought(asked)

    def _thought(self, asked: Asked, repairs: int = 0) -> Move | Finish:
        rounds, mended = (0, 0) if self.view.first else (self.view.memo["rounds"], self.view.memo["repairs"])
        if rounds >= self.options.rounds:
            told = f"there is no answer after {self.options.rounds} thoughts"
            return Finish("failure", failure=Failure("stalled", told))
        id_ = f"s{self.view.born + 1}"
        memo = {"thought": id_, "rounds": rounds + 1, "repairs": mended + repairs, "results": ()}
        return Move(add=[asked.step], tags={id_: "thought"}, memo=memo)

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
        returns = schema_of(self.view)
        heard = hear(thought, returns)
        if not heard.flaws:
            return finished(self.view, heard)
        again = mend(self.view, self.agent, heard, self.options.repairs - self.view.memo["repairs"], returns=returns)
        return self._thought(again, 1) if isinstance(again, Asked) else Finish("failure", failure=again)


def _step(thought: str, number: int, call: Mapping[str, Any]) -> dict[str, Any]:
    """A step that makes a call, with what the model wants to give it, by reference."""
    path = (thought, "output", "calls", number, "with")
    given = {name: f"${{{written('steps', (*path, name))}}}" for name in call["with"]}
    return {"tool": call["tool"], "with": given}


def _told(child: Child) -> Any:
    """What a model is told of a call that was made."""
    return f"{child.failure.kind}: {child.failure.message}" if child.failure else child.output

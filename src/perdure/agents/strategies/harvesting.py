"""The end of a search: the line that won, in the form that is wanted, and what stays of all that was done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import finished, hear, schema_of
from perdure.agents.strategies.asking import Asked, ask, grown
from perdure.agents.strategies.branching import Branching, Node
from perdure.agents.strategies.costs import fits, lacking
from perdure.agents.strategies.mending import mend
from perdure.agents.strategies.words import Words, ref
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View

ANSWER = "answer"
"""The phase in which the answer is said."""
PLACE = "place"
"""The phase in which what was done on the copy that won comes into the workspace."""
ENDING = (PLACE, ANSWER)


@dataclass(frozen=True, slots=True)
class Harvest:
    """What is to come out of a search."""

    view: View
    agent: Agent
    branching: Branching
    goal: float | None
    repairs: int

    def finish(self, node: Node) -> Move | Finish:
        """End with a node, or have the answer said that it leads to."""
        if self.goal is not None and node.score < self.goal:
            told = f"the best proposal has a score of {node.score:g}, and {self.goal:g} is wanted"
            return self._fail(node, Failure("unmet", told))
        return self._place(node) if self.branching.trials.staged else self._say(node, self._kept(node))

    def _place(self, node: Node) -> Move:
        step = {"tool": "branch.place", "with": {"branch": self.branching.trials.copy_of(node.trial)}}
        memo = {"phase": PLACE, "node": node}
        return Move(add=grown([Asked(step, {"steps": 1})], self.view.left), stop=self._still_live(), memo=memo)

    def go_on(self, child: Child) -> Move | Finish:
        """Look at what came of the last step of the end."""
        return self._placed(child) if self.view.memo["phase"] == PLACE else self._answered(child)

    def _placed(self, child: Child) -> Move | Finish:
        """Go on when all is in its place: from now on that stands, and no copy is needed any more."""
        node = Node(*self.view.memo["node"])
        if child.exit == "success":
            return self._say(node, [child.id])
        return self._fail(node, child.failure or Failure("cancelled", "what was found was not placed"))

    def _say(self, node: Node, kept: Sequence[str] | None) -> Move | Finish:
        """End, or have the answer said first."""
        if schema_of(self.view) is None:
            return Finish(output=self._output(node), keep=kept)
        words = Words().say("This was chosen at the end:\n").show(self.branching.path(node), self.branching.value(node))
        words = words.say("\n\nNow say the answer to the task in the form that is wanted, and nothing else.")
        asked = ask(self.view, self.agent, words, returns=schema_of(self.view), after=self.view.child(node.id))
        if not fits(asked.cost, self.view.left):
            told = f"the answer cannot be said: {lacking(asked.cost, self.view.left)}"
            return self._fail(node, Failure("budget", told))
        memo = {"phase": ANSWER, "node": node, "repairs": self.repairs, "kept": kept}
        return Move(add=grown([asked], self.view.left), stop=self._still_live(), memo=memo)

    def _answered(self, child: Child) -> Move | Finish:
        """End with the answer, or have it mended."""
        memo = self.view.memo
        node, heard = Node(*memo["node"]), hear(child, schema_of(self.view))
        if not heard.flaws:
            return finished(self.view, heard, memo["kept"])
        again = mend(self.view, self.agent, heard, memo["repairs"], returns=schema_of(self.view))
        if not isinstance(again, Asked):
            return self._fail(node, again)
        return Move(add=grown([again], self.view.left), memo={**memo, "repairs": memo["repairs"] - 1})

    def _fail(self, node: Node, failure: Failure) -> Finish:
        """End without success, with the best there was; nothing that was done stays."""
        return Finish("failure", self._output(node), keep=[], failure=failure)

    def _output(self, node: Node) -> dict[str, Any]:
        line = [ref(self.branching.path(each)) for each in self.branching.line(node)]
        return {"answer": line[-1], "line": line, "score": node.score}

    def _kept(self, node: Node) -> list[str] | None:
        """The steps whose effects stand: those of the line that won."""
        acts = self.branching.trials.act is not None
        return [each.trial for each in self.branching.line(node)] if acts else None

    def _still_live(self) -> list[str]:
        born = range(1, self.view.born + 1) if self.view.live else ()
        children = [self.view.child(f"s{n}") for n in born]
        return [each.id for each in children if each is not None and not each.exit]

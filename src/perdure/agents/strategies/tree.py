"""`tree`: some next steps are proposed, judged and pruned to a few; from these it goes on, a few levels deep.

    level 1   s1 s2 s3 propose → s4 s5 s6 try (act, judge) → the best two stay
    level 2   s7 s8 go on after s1, s9 s10 after s3        → …
    finish    the line with the best end; what all others did is undone

How wide a level is follows from what is left to spend for it, and from how far apart the scores are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import Field

from perdure.agents.agent import Agent
from perdure.agents.strategies.branching import Branching, Node
from perdure.agents.strategies.costs import Cost, affordable, fits, lacking, rest_of, share_of, sum_of
from perdure.agents.strategies.finishing import finished, schema_of
from perdure.agents.strategies.judging import Judge, ballot, votes_in
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.questions import ask, grown, hear
from perdure.agents.strategies.single import mend, unfit
from perdure.agents.strategies.trying import Trials
from perdure.agents.strategies.words import Words, length_of, ref
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.model.parts import Amount, JsonObject, JsonSchema, Line, Number, Part, Share

Wide = Annotated[int, Field(ge=1, le=16)]
FEW: Final = 3
"""Fewer scores than this say nothing about how far apart they are."""


class TreeOptions(Part):
    """How wide, how deep, and what is good."""

    width: Wide = 3
    """The most proposals from each place."""
    beam: Wide = 2
    """The most that are gone on with."""
    depth: Annotated[int, Field(ge=1, le=1000)] = 3
    """The most proposals after each other."""
    together: bool = False
    """Whether one call proposes all from a place; else each proposal is a call of its own."""
    thought: JsonSchema | None = None
    """JSON Schema of a proposal; left out: a text."""
    ask: Line = ""
    """How a proposal is asked for."""
    act: JsonObject | None = None
    """A step that carries a proposal out, with its `undo`; it sees `inputs`: `output` (the proposal), `task`, `facts`,
    `branch` (a name that no other trial of the search has) and `level`."""
    judge: Judge | None = None
    """Who says how good a proposal is; left out: the agent's model, as a critic."""
    goal: Number | None = None
    """A score that is good enough: the first that has it ends the search, and without one the search has failed."""
    lead: Share = 0.5
    """What stays behind the best by more than this share of all that lies between best and worst is dropped."""
    repairs: Amount = 2
    """How often the last answer may be mended, where `returns` is given."""


def tree(view: View, agent: Agent) -> Move | Finish | None:
    """Search for the best line of proposals."""
    options = options_of(agent, "tree", TreeOptions)
    trials = Trials(view, agent, options.judge or Judge(model=agent.model), options.act)
    branching = Branching(view, agent, trials, options.ask, options.thought, options.together)
    search = _Search(view, agent, options, trials, branching)
    return search.grow([], 1) if view.first else search.go_on()


@dataclass(frozen=True, slots=True)
class _Search:
    view: View
    agent: Agent
    options: TreeOptions
    trials: Trials
    branching: Branching

    def go_on(self) -> Move | Finish | None:
        """Look at what came of the last move."""
        if (reached := self._reached()) is not None:
            return self._finish(reached)
        if self.view.live:
            return None
        match self.view.memo["phase"]:
            case "propose":
                return self._try()
            case "try":
                return self._vote(self._tried()) if self._votes else self._prune(self._tried())
            case "vote":
                return self._prune(self._elected())
            case _:
                return self._answered()

    @property
    def _votes(self) -> int:
        return self.trials.judge.votes or 0

    @property
    def _parents(self) -> list[Node]:
        return [Node(*each) for each in self.view.memo["parents"]]

    @property
    def _children(self) -> list[Child]:
        """What ended, in the order it was asked for: which came first must not decide."""
        return sorted(self.view.fresh, key=lambda each: int(each.id[1:]))

    # ------------------------------------------------------------ proposing

    def grow(self, parents: Sequence[Node], level: int) -> Move | Finish:
        """Propose from the parents, as widely as a level's share of what is left allows."""
        branching, left = self.branching, self._left(parents)
        costs = branching.costs(parents)
        most = self.options.width * len(costs)
        count = branching.widest(costs, most, share_of(left, 1, self.options.depth - level + 1))
        count = count or int(fits(branching.cost(costs, 1), left))
        if not count:
            whole = sum_of(branching.cost(costs, 1), branching.answer_cost([]))
            return self._finish(parents[0]) if parents else self._overdraw(whole)
        asked = branching.asks(parents, count)
        aside = rest_of(branching.cost(costs, count), sum_of(*(each.asked.cost for each in asked)))
        tags = {f"s{self.view.born + n}": each.tag for n, each in enumerate(asked, 1)}
        memo = {"phase": "propose", "level": level, "parents": parents}
        return Move(add=grown([each.asked for each in asked], rest_of(left, aside)), tags=tags, memo=memo)

    def _left(self, parents: Sequence[Node]) -> Cost:
        """What there is for the search, when the last answer is put aside."""
        return rest_of(self.view.left, self.branching.answer_cost(parents))

    def _overdraw(self, cost: Cost) -> Move:
        """Nothing can be paid, and there is nothing to show: whoever keeps the budget says what follows."""
        [proposing] = self.branching.asks([], 1)
        wants = {word: amount for word, amount in cost.items() if word != "steps"}
        memo: dict[str, Any] = {"phase": "propose", "level": 1, "parents": []}
        return Move(add=[{**proposing.asked.step, "estimate": wants}], tags={"s1": proposing.tag}, memo=memo)

    # ------------------------------------------------------------ judging

    def _try(self) -> Move | Finish:
        found = list(self.branching.proposed(self._children))
        if not self.trials.are_steps:
            nodes = self._scored(found)
            return self._vote(nodes) if self._votes else self._prune(nodes)
        branching, view = self.branching, self.view
        places = [f"s{view.born + n}" for n in range(1, len(found) + 1)]
        asked = [
            self.trials.trial(branching.path(node), length_of(value), at, view.memo["level"])
            for at, (node, value) in zip(places, found, strict=True)
        ]
        left = rest_of(self._left(self._parents), branching.vote_cost(len(found)))
        able = affordable([each.cost for each in asked], left)
        if not able:
            return self._prune([])
        tags = {at: node for at, (node, _) in zip(places[:able], found, strict=False)}
        return Move(add=grown(asked[:able], left), tags=tags, memo={**view.memo, "phase": "try"})

    def _scored(self, found: Sequence[tuple[Node, Any]]) -> list[Node]:
        scores = [(node, self.trials.score(value)) for node, value in found]
        return [node._replace(score=score) for node, score in scores if score is not None]

    def _tried(self) -> list[Node]:
        nodes = [(Node(*child.tag)._replace(trial=child.id), child) for child in self._children]
        scores = [(node, self.trials.score(self.branching.value(node), child)) for node, child in nodes]
        return [node._replace(score=score) for node, score in scores if score is not None]

    def _reached(self) -> Node | None:
        """The first that is good enough, even if others are not known yet."""
        goal, phase = self.options.goal, self.view.memo["phase"]
        if goal is None or self._votes or (phase == "propose" and self.trials.are_steps) or phase == "answer":
            return None
        nodes = self._tried() if phase == "try" else self._scored(list(self.branching.proposed(self._children)))
        best = max(nodes, key=lambda each: each.score, default=None)
        return best if best is not None and best.score >= goal else None

    def _vote(self, nodes: Sequence[Node]) -> Move | Finish:
        standing = {self.branching.path(each): self.branching.value(each) for each in nodes}
        asked = [ballot(self.view, self.agent, self.trials.judge, standing, n + 1) for n in range(self._votes)]
        able = affordable([each.cost for each in asked], self._left(self._parents)) if len(nodes) > 1 else 0
        if not able:
            return self._prune([each._replace(score=1.0) for each in nodes[:1]])
        memo = {**self.view.memo, "phase": "vote", "standing": nodes}
        return Move(add=grown(asked[:able], self._left(self._parents)), memo=memo)

    def _elected(self) -> list[Node]:
        nodes = [Node(*each) for each in self.view.memo["standing"]]
        shares = votes_in([child.output for child in self._children], len(nodes))
        return [node._replace(score=share) for node, share in zip(nodes, shares, strict=True)]

    # ------------------------------------------------------------ going on, or not

    def _prune(self, nodes: Sequence[Node]) -> Move | Finish:
        """Keep the best, fewer where one is clearly ahead; go on from them, or finish."""
        parents, level = self._parents, self.view.memo["level"]
        ranked = sorted(nodes, key=lambda each: -each.score)
        if not ranked:
            return self._finish(parents[0]) if parents else Finish("failure", failure=self._nothing(), keep=[])
        apart = ranked[0].score - ranked[-1].score if len(ranked) >= FEW else 0.0
        near = [each for each in ranked if not apart or ranked[0].score - each.score <= self.options.lead * apart]
        reached = self.options.goal is not None and ranked[0].score >= self.options.goal
        if reached or level == self.options.depth:
            return self._finish(ranked[0])
        return self.grow(near[: self.options.beam], level + 1)

    def _nothing(self) -> Failure:
        wrong = [each for child in self._children for each in hear(child, None).flaws]
        return Failure("unmet", f"no proposal could be judged{': ' + wrong[-1] if wrong else ''}")

    # ------------------------------------------------------------ the end

    def _finish(self, node: Node) -> Move | Finish:
        goal = self.options.goal
        if goal is not None and node.score < goal:
            short = Failure("unmet", f"the best proposal has a score of {node.score:g}, and {goal:g} is wanted")
            return Finish("failure", self._output(node), keep=[], failure=short)
        if schema_of(self.view) is None:
            return Finish(output=self._output(node), keep=self._kept(node))
        words = Words().say("This was chosen at the end:\n").show(self.branching.path(node), self.branching.value(node))
        words = words.say("\n\nNow say the answer to the task in the form that is wanted, and nothing else.")
        asked = ask(self.view, self.agent, words, returns=schema_of(self.view), after=node.id, before=node.size)
        if not fits(asked.cost, self.view.left):
            short = Failure("budget", f"the answer cannot be said: {lacking(asked.cost, self.view.left)}")
            return Finish("failure", self._output(node), keep=[], failure=short)
        memo = {"phase": "answer", "node": node, "size": asked.size, "repairs": self.options.repairs}
        return Move(add=grown([asked], self.view.left), stop=self._still_live(), memo=memo)

    def _still_live(self) -> list[str]:
        born = range(1, self.view.born + 1) if self.view.live else ()
        children = [self.view.child(f"s{n}") for n in born]
        return [each.id for each in children if each is not None and not each.exit]

    def _answered(self) -> Move | Finish:
        memo, child = self.view.memo, self._children[-1]
        node, heard = Node(*memo["node"]), hear(child, schema_of(self.view))
        if not heard.flaws:
            return replace(finished(self.view, heard.path, heard.value), keep=self._kept(node))
        if child.exit != "success" or not memo["repairs"]:
            return Finish("failure", self._output(node), keep=[], failure=child.failure or unfit(heard))
        again = mend(self.view, self.agent, child, schema_of(self.view) or {}, memo["size"])
        if not fits(again.cost, self.view.left):
            why = f"; {lacking(again.cost, self.view.left)}"
            return Finish("failure", self._output(node), keep=[], failure=unfit(heard, why))
        memo = {**memo, "size": again.size, "repairs": memo["repairs"] - 1}
        return Move(add=grown([again], self.view.left), memo=memo)

    def _output(self, node: Node) -> dict[str, Any]:
        line = [ref(self.branching.path(each)) for each in self.branching.line(node)]
        return {"answer": line[-1], "line": line, "score": node.score}

    def _kept(self, node: Node) -> list[str] | None:
        """The steps whose effects stand: those of the line that won."""
        return [each.trial for each in self.branching.line(node)] if self.options.act is not None else None

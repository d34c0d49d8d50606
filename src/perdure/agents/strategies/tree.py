"""`tree`: some next steps are proposed, judged and pruned to a few; from these it goes on, a few levels deep.

    level 1   s1 s2 s3 propose → s4 s5 s6 try (act, judge) → the best two stay
    level 2   s7 s8 go on after s1, s9 s10 after s3        → …
    finish    the line with the best end stays

What is pruned and not kept in reserve is dropped: what was done for it is undone at once, and all the rest at the end.

How wide a level is follows from what is left to spend for it, and from how far apart the scores are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import Field, model_validator

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import flaws_of
from perdure.agents.strategies.asking import grown
from perdure.agents.strategies.branching import Branching, Node
from perdure.agents.strategies.costs import Cost, affordable, fits, rest_of, share_of, sum_of
from perdure.agents.strategies.harvesting import ENDING, Harvest
from perdure.agents.strategies.judging import Judge, ballot, votes_in
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.pruning import fallen
from perdure.agents.strategies.trying import Trials
from perdure.agents.strategies.words import length_of
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
    staged: bool = False
    """Whether each trial works on a copy of the workspace; what the line that won has changed is placed at the end."""
    judge: Judge | None = None
    """Who says how good a proposal is; left out: the agent's model, as a critic."""
    goal: Number | None = None
    """A score that is good enough: the first that has it ends the search, and without one the search has failed."""
    lead: Share = 0.5
    """What stays behind the best by more than this share of all that lies between best and worst is dropped."""
    again: Amount = 2
    """How often it may go back to what was dropped, or begin again for a goal, when a line leads nowhere."""
    repairs: Amount = 2
    """How often the last answer may be mended, where `returns` is given."""

    @model_validator(mode="after")
    def _has_something_to_stage(self) -> Self:
        if self.staged and self.act is None:
            raise ValueError("staged: there is nothing to do on a copy; say what with `act`")
        return self


def tree(view: View, agent: Agent) -> Move | Finish | None:
    """Search for the best line of proposals."""
    options = options_of(agent, "tree", TreeOptions)
    trials = Trials(view, agent, options.judge or Judge(model=agent.model), options.act, options.staged)
    branching = Branching(view, agent, trials, options.ask, options.thought, options.together)
    search = _Search(view, agent, options, branching, Harvest(view, agent, branching, options.goal, options.repairs))
    return search.grow([], 1, _Held(again=options.again)) if view.first else search.go_on()


class _Held(NamedTuple):
    """What is remembered from level to level."""

    best: Node | None = None
    """What leads furthest so far, and is best there."""
    spare: Sequence[Node] = ()
    """What was dropped, the best first."""
    again: int = 0
    """How often it may go back to that."""

    @property
    def standing(self) -> list[Node]:
        """What it may still end with, or go back to."""
        return [*([self.best] if self.best else ()), *(self.spare if self.again else ())]


@dataclass(frozen=True, slots=True)
class _Search:
    view: View
    agent: Agent
    options: TreeOptions
    branching: Branching
    harvest: Harvest

    def go_on(self) -> Move | Finish | None:
        """Look at what came of the last move."""
        if (reached := self._reached()) is not None:
            return self.harvest.finish(reached)
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
                return self.harvest.go_on(self._children[-1])

    @property
    def _trials(self) -> Trials:
        return self.branching.trials

    @property
    def _votes(self) -> int:
        return self._trials.judge.votes or 0

    @property
    def _held(self) -> _Held:
        best, spare, again = self.view.memo["held"]
        return _Held(best and Node(*best), [Node(*each) for each in spare], again)

    @property
    def _parents(self) -> list[Node]:
        return [Node(*each) for each in self.view.memo["parents"]]

    @property
    def _children(self) -> list[Child]:
        """What ended, in the order it was asked for: which came first must not decide."""
        return sorted(self.view.fresh, key=lambda each: int(each.id[1:]))

    # ------------------------------------------------------------ proposing

    def grow(self, parents: Sequence[Node], level: int, held: _Held) -> Move | Finish:
        """Propose from the parents, as widely as a level's share of what is left allows."""
        branching, left = self.branching, self._left(parents)
        costs = branching.costs(parents)
        most = self.options.width * len(costs)
        count = branching.widest(costs, most, share_of(left, 1, self.options.depth - level + 1))
        count = count or int(fits(branching.cost(costs, 1), left))
        if not count:
            whole = sum_of(branching.cost(costs, 1), branching.answer_cost([]))
            return self.harvest.finish(held.best) if held.best else self._overdraw(whole, held)
        asked = branching.asks(parents, count)
        aside = rest_of(branching.cost(costs, count), sum_of(*(each.asked.cost for each in asked)))
        tags = {f"s{self.view.born + n}": each.tag for n, each in enumerate(asked, 1)}
        memo = {"held": held, "phase": "propose", "level": level, "parents": parents}
        steps = grown([each.asked for each in asked], rest_of(left, aside))
        return Move(add=steps, drop=self._fallen([*parents, *held.standing]), tags=tags, memo=memo)

    def _fallen(self, standing: Sequence[Node]) -> list[str]:
        """The trials that nothing leads on from any more, and that did something."""
        if self.view.first or self._trials.act is None:
            return []
        first, last = self.view.memo.get("tried", (0, 0))
        children = [child for n in range(first, last) if (child := self.view.child(f"s{n}")) is not None]
        level = self.view.memo["level"]
        tried = [Node(*child.tag)._replace(trial=child.id, level=level) for child in children]
        return fallen(self.branching, [*self._parents, *self._held.standing, *tried], standing)

    def _left(self, parents: Sequence[Node]) -> Cost:
        """What there is for the search, when the last answer is put aside."""
        return rest_of(self.view.left, self.branching.answer_cost(parents))

    def _overdraw(self, cost: Cost, held: _Held) -> Move:
        """Nothing can be paid, and there is nothing to show: whoever keeps the budget says what follows."""
        [proposing] = self.branching.asks([], 1)
        wants = {word: amount for word, amount in cost.items() if word != "steps"}
        memo = {"held": held, "phase": "propose", "level": 1, "parents": ()}
        return Move(add=[{**proposing.asked.step, "estimate": wants}], tags={"s1": proposing.tag}, memo=memo)

    # ------------------------------------------------------------ judging

    def _try(self) -> Move | Finish:
        found = list(self.branching.proposed(self._children))
        if not self._trials.are_steps:
            nodes = self._scored(found)
            return self._vote(nodes) if self._votes else self._prune(nodes)
        branching, view = self.branching, self.view
        places = [f"s{view.born + n}" for n in range(1, len(found) + 1)]
        asked = [
            self._trials.trial(branching.path(node), length_of(value), at, view.memo["level"], branching.before(node))
            for at, (node, value) in zip(places, found, strict=True)
        ]
        left = rest_of(self._left(self._parents), branching.vote_cost(len(found)))
        able = affordable([each.cost for each in asked], left)
        if not able:
            return self._prune([])
        tags = {at: node for at, (node, _) in zip(places[:able], found, strict=False)}
        memo = {**view.memo, "phase": "try", "tried": (view.born + 1, view.born + able + 1)}
        return Move(add=grown(asked[:able], left), tags=tags, memo=memo)

    def _scored(self, found: Sequence[tuple[Node, Any]]) -> list[Node]:
        return self._ranked((node, self._trials.score(value)) for node, value in found)

    def _tried(self) -> list[Node]:
        nodes = [(Node(*child.tag)._replace(trial=child.id), child) for child in self._children]
        return self._ranked((node, self._trials.score(self.branching.value(node), child)) for node, child in nodes)

    def _ranked(self, scored: Iterable[tuple[Node, float | None]]) -> list[Node]:
        """Those that have a score, the best first; of equals the first."""
        level = self.view.memo["level"]
        found = [node._replace(score=score, level=level) for node, score in scored if score is not None]
        return sorted(found, key=lambda each: -each.score)

    def _reached(self) -> Node | None:
        """The first that is good enough, even if others are not known yet."""
        goal, phase = self.options.goal, self.view.memo["phase"]
        if goal is None or self._votes or (phase == "propose" and self._trials.are_steps) or phase in ENDING:
            return None
        nodes = self._tried() if phase == "try" else self._scored(list(self.branching.proposed(self._children)))
        return nodes[0] if nodes and nodes[0].score >= goal else None

    def _vote(self, nodes: Sequence[Node]) -> Move | Finish:
        standing = {self.branching.path(each): self.branching.value(each) for each in nodes}
        asked = [ballot(self.view, self.agent, self._trials.judge, standing, n + 1) for n in range(self._votes)]
        able = affordable([each.cost for each in asked], self._left(self._parents)) if len(nodes) > 1 else 0
        if not able:
            return self._prune([each._replace(score=1.0) for each in nodes[:1]])
        memo = {**self.view.memo, "phase": "vote", "standing": nodes}
        return Move(add=grown(asked[:able], self._left(self._parents)), memo=memo)

    def _elected(self) -> list[Node]:
        nodes = [Node(*each) for each in self.view.memo["standing"]]
        shares = votes_in([child.output for child in self._children], len(nodes))
        return self._ranked(zip(nodes, shares, strict=True))

    # ------------------------------------------------------------ going on, or not

    def _prune(self, ranked: Sequence[Node]) -> Move | Finish:
        """Go on from the best, or finish with one, or go back to what was dropped."""
        held, level = self._held, self.view.memo["level"]
        reached = [each for each in (held.best, *ranked[:1]) if each is not None]
        held = held._replace(best=max(reached, key=lambda each: (each.level, each.score), default=None))
        is_enough = bool(ranked) and self.options.goal is not None and ranked[0].score >= self.options.goal
        if is_enough or (ranked and level == self.options.depth and self.options.goal is None):
            return self.harvest.finish(ranked[0])
        if not ranked or level == self.options.depth:
            return self._go_back(held)
        kept = self._near(ranked)[: self.options.beam]
        dropped = [*held.spare, *(each for each in ranked if each not in kept)]
        spare = sorted(dropped, key=lambda each: -each.score)[: self.options.beam]
        return self.grow(kept, level + 1, held._replace(spare=spare))

    def _near(self, ranked: Sequence[Node]) -> Sequence[Node]:
        """Those that the best one is not clearly ahead of."""
        apart = ranked[0].score - ranked[-1].score if len(ranked) >= FEW else 0.0
        return [each for each in ranked if not apart or ranked[0].score - each.score <= self.options.lead * apart]

    def _go_back(self, held: _Held) -> Move | Finish:
        """A line leads nowhere: go on from the best that were dropped; to reach a goal, begin again where none were."""
        if held.best and held.again and not held.spare and self.options.goal is not None:
            return self.grow([], 1, held._replace(again=held.again - 1))
        if not held.spare or not held.again:
            return self.harvest.finish(held.best) if held.best else Finish("failure", failure=self._nothing(), keep=[])
        level = held.spare[0].level
        parents = [each for each in held.spare if each.level == level]
        others = [each for each in held.spare if each.level != level]
        return self.grow(parents, level + 1, held._replace(spare=others, again=held.again - 1))

    def _nothing(self) -> Failure:
        wrong = [each for child in self._children for each in flaws_of(child)]
        return Failure("unmet", f"no proposal could be judged{': ' + wrong[-1] if wrong else ''}")

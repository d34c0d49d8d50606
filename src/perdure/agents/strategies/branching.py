"""Branches: what is proposed from where, how many there can be for what is left, and the way back to the root."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final, NamedTuple

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import hear, path_to, schema_of
from perdure.agents.strategies.asking import Asked, ask, longest, usual_tokens
from perdure.agents.strategies.costs import FREE, Cost, call_cost, fits, sum_of, times
from perdure.agents.strategies.trying import Trials
from perdure.agents.strategies.words import Words, task_of
from perdure.core.growth import Child, View
from perdure.core.values import to_json
from perdure.plan.tokens import FRAME, tokens_in

ONE: Final = "Propose one next step towards this, and nothing else."
SEVERAL: Final = "Propose different next steps towards this, the best first, and nothing else."
MOST: Final = 256
"""Proposals of one level."""
OVERHEAD: Final = 400
"""Pieces of tokens of our own in a ballot or a last question."""


class Node(NamedTuple):
    """A proposal that stands. What it says is found where it was proposed: a node holds no data."""

    id: str
    """The step that proposed it."""
    place: int
    """Its place among those proposed together; -1: alone."""
    trial: str = ""
    """The step that tried it."""
    score: float = 0.0
    level: int = 0
    """How many proposals led to it, with itself."""


class Proposing(NamedTuple):
    """A call that proposes."""

    parent: Node | None
    most: int
    """How many proposals it may give."""
    asked: Asked

    @property
    def tag(self) -> list[Any]:
        """What to remember of it."""
        return [self.parent, self.most]


@dataclass(frozen=True, slots=True)
class Branching:
    """How one level of a search grows."""

    view: View
    agent: Agent
    trials: Trials
    ask: str
    schema: Mapping[str, Any] | None
    together: bool

    @property
    def returns(self) -> Mapping[str, Any] | None:
        """What a model is to answer with."""
        if not self.together:
            return self.schema
        several = {"type": "array", "items": self.schema or {"type": "string"}}
        return {"type": "object", "properties": {"thoughts": several}, "required": ["thoughts"]}

    # ------------------------------------------------------------ asking

    def asks(self, parents: Sequence[Node], count: int) -> list[Proposing]:
        """The calls that propose so many, from the best parents on; without parents, from the root."""
        sources: list[Node | None] = list(parents[:count]) or [None]
        if self.together:
            shared = zip(sources, _shares(count, len(sources)), strict=True)
            return [Proposing(node, share, self._ask(node, share)) for node, share in shared]
        calls = zip(range(count), cycle(sources), strict=False)
        first = 1 if parents else self.view.born + 1  # who begins again asks for others than those before
        return [Proposing(node, 1, self._ask(node, first + n // len(sources))) for n, node in calls]

    def _ask(self, node: Node | None, number: int) -> Asked:
        if self.together:
            words = self._from(node).say(f"\n\n{self.ask or SEVERAL} At most {number}.")
        else:
            words = self._from(node).say(f"\n\n{self.ask or ONE} This is proposal {number}; let it be one of its own.")
        after = self.view.child(node.id) if node else None
        return ask(self.view, self.agent, words, returns=self.returns, after=after)

    def _from(self, node: Node | None) -> Words:
        if node is None:
            return task_of(self.view)
        words = Words().say("This was chosen:\n").show(self.path(node), self.value(node))
        tried = self.view.child(node.trial) if node.trial else None
        found: Mapping[str, Any] = tried.output if tried is not None else {}
        for part, said in (("act", "It was carried out, and gave"), ("judge", "It was judged")):
            if part in found:
                words = words.say(f"\n\n{said}:\n").show(f"steps.{node.trial}.output.{part}", found[part])
        return words

    # ------------------------------------------------------------ what it takes

    def costs(self, parents: Sequence[Node]) -> list[Cost]:
        """What one call may take that proposes, by where it goes on from."""
        return [self._ask(each, MOST).cost for each in parents or [None]]

    def cost(self, calls: Sequence[Cost], count: int) -> Cost:
        """What a level with so many proposals may take, with all trials and votes."""
        shares = _shares(count, min(count, len(calls)))
        asked = [times(each, 1 if self.together else share) for each, share in zip(calls, shares, strict=False)]
        return sum_of(*asked, times(self.trials.cost(longest(self.agent)), count), self.vote_cost(count))

    def vote_cost(self, standing: int) -> Cost:
        """What it may take to vote about so many."""
        votes = self.trials.judge.votes
        size = task_of(self.view).size + standing * longest(self.agent) + OVERHEAD
        return times(self._call(tokens_in(size)), votes) if votes else FREE

    def answer_cost(self, parents: Sequence[Node]) -> Cost:
        """What it may take to place what was done, and to say the answer in the form that is wanted."""
        placing: Cost = {"steps": 1} if self.trials.staged else FREE
        if schema_of(self.view) is None:
            return placing
        said = [child.tokens for each in parents if (child := self.view.child(each.id)) is not None]
        return sum_of(self._call(max(said, default=0) + tokens_in(2 * longest(self.agent) + OVERHEAD)), placing)

    def _call(self, reads: int) -> Cost:
        return call_cost(self.view, self.agent.model, reads + FRAME, usual_tokens(self.agent))

    def widest(self, calls: Sequence[Cost], most: int, share: Cost) -> int:
        """The most proposals that a share pays for; 0: none."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(self.cost(calls, middle), share) else (low, middle - 1)
        return low

    # ------------------------------------------------------------ what was proposed

    def proposed(self, children: Sequence[Child]) -> Iterator[tuple[Node, Any]]:
        """What was proposed, each thing once; of equals the first."""
        seen: set[bytes] = set()
        for child in children:
            for node, value in self._thoughts(child):
                key = to_json(value)
                if key not in seen:
                    seen.add(key)
                    yield node, value

    def _thoughts(self, child: Child) -> Iterator[tuple[Node, Any]]:
        heard = hear(child, self.returns)
        if heard.flaws:
            return
        if not self.together:
            yield Node(child.id, -1), heard.value
            return
        _, most = child.tag
        for index, value in enumerate(heard.value["thoughts"][:most]):
            yield Node(child.id, index), value

    def path(self, node: Node) -> str:
        """Where a proposal is found."""
        return path_to(node.id, self.returns) + (f".thoughts[{node.place}]" if self.together else "")

    def value(self, node: Node) -> Any:
        """What a proposal says."""
        child = self.view.child(node.id)
        heard = None if child is None else hear(child, self.returns).value
        return heard["thoughts"][node.place] if self.together and heard else heard

    def line(self, node: Node) -> list[Node]:
        """The proposals that led to one, from the root on."""
        found = [node]
        while (parent := self.parent(found[-1])) is not None:
            found.append(parent)
        return found[::-1]

    def parent(self, node: Node) -> Node | None:
        """The proposal that led to one; None: the root."""
        child = self.view.child(node.id)
        return Node(*child.tag[0]) if child is not None and child.tag[0] is not None else None

    def before(self, node: Node) -> str:
        """The trial that one goes on from; empty: it begins at the root."""
        parent = self.parent(node)
        return parent.trial if parent is not None else ""


def _shares(count: int, among: int) -> list[int]:
    """So many, dealt out one by one."""
    return [len(range(n, count, among)) for n in range(among)]

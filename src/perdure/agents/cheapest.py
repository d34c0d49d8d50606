"""What a plan costs on the cheapest way through it, by the estimates of its steps and of their tools.

It is a lower bound: a step that may be left out costs nothing, of several ways the cheaper one is taken, and what
nobody has estimated is free. So a budget below it cannot suffice, and one above it may.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush, nsmallest
from typing import Final

from perdure.plan.flow import SerialFlow, leads, needed_by
from perdure.plan.index import Index, Node
from perdure.plan.model.parts import ModelCall, Quorum, Tolerate, ToolCall
from perdure.plan.model.steps import DecideStep, DoneStep, FailStep, MapStep, Working
from perdure.plan.raw import is_list
from perdure.tools.tool import AnyTool

WORDS: Final = ("seconds", "usd", "tokens", "calls", "steps")
"""What budgets limit and estimates tell."""


def cheapest(index: Index, tools: Mapping[str, AnyTool], word: str) -> dict[Node, float]:
    """For every step, and for the plan, what it costs at least."""
    flow, costs = SerialFlow(index), dict[Node, float]()
    for node in (*reversed(index.nodes), index.root):  # backwards, so that children come before their group
        inside = [costs[child] for child in node.children]
        costs[node] = _declared(
            node, word, _leaf(node, tools, word) if node.holder is None else _group(node, inside, flow, word)
        )
    return costs


def _leaf(node: Node, tools: Mapping[str, AnyTool], word: str) -> float:
    if word == "steps":
        return 0 if isinstance(node.step, (DoneStep, FailStep)) else 1
    if word == "calls" and _asks_model(node):
        return 1
    tool = tools.get(node.step.tool) if isinstance(node.step, ToolCall) else None
    return float((tool.declared.estimate or {}).get(word, 0)) if tool else 0


def _asks_model(node: Node) -> bool:
    """Whether a step asks a model itself. An agent may do without; how often it asks is its strategy's to say."""
    step = node.step
    return isinstance(step.decide if isinstance(step, DecideStep) else step, ModelCall)


def _declared(node: Node, word: str, cost: float) -> float:
    """What a step says of itself counts before what its tool or its steps say; and one that may be skipped is free."""
    if node.step is not None and node.step.when is not None:
        return 0
    said = node.step.estimate if isinstance(node.step, Working) else None
    own = getattr(said, word, None) if said else None
    return cost if own is None else float(own)


def _group(node: Node, inside: Sequence[float], flow: SerialFlow, word: str) -> float:
    cost = _serial(node, inside, flow) if node.serial else _graph(node, inside, word)
    if not isinstance(node.step, MapStep):
        return cost
    items = len(node.step.map) if is_list(node.step.map) else 0
    return cost * items if word != "seconds" else cost * min(items, 1)


def _serial(node: Node, inside: Sequence[float], flow: SerialFlow) -> float:
    """The cheapest way from the first child to an end of the group that is none of failure."""
    best, open_ = dict[int, float](), [(inside[0], 0)] if inside else []
    while open_:
        cost, place = heappop(open_)
        if place in best:
            continue
        best[place] = cost
        if _ends(node, place, flow):
            return cost
        for following in flow.edges[node][place]:
            heappush(open_, (cost + inside[following], following))
    return 0  # every way fails: that is for the checks to say, not for a budget


def _ends(node: Node, place: int, flow: SerialFlow) -> bool:
    """Whether the group may be over after this child, in another way than by failing."""
    child = node.children[place]
    if isinstance(child.step, FailStep):
        return False
    is_last = place + 1 == len(node.children)
    targets = {target for _, target in leads(child, flow.index)}
    leaves = any(_leaves(target, child, flow) for target in targets)
    return isinstance(child.step, DoneStep) or leaves or "done" in targets or (is_last and "next" in targets)


def _leaves(target: str, child: Node, flow: SerialFlow) -> bool:
    """Whether a jump leads out of the group."""
    found = flow.index.by_id.get(target)
    return found is not None and found.parent is not child.parent


def _graph(node: Node, inside: Sequence[float], word: str) -> float:
    """As many children as the join needs, the cheapest ones; beside each other, the longest tells the time."""
    needed = _needed(node, len(inside))
    chosen = nsmallest(needed, _optional(node, inside))
    return max(chosen, default=0) if word == "seconds" else sum(chosen)


def _needed(node: Node, children: int) -> int:
    join = "all" if node.holder is None or isinstance(node.holder, MapStep) else node.holder.join
    if isinstance(join, Quorum):
        return min(join.quorum, children)
    if isinstance(join, Tolerate):
        return max(children - join.tolerate, 0)
    return {"any": 1, "settled": 0}.get(join, children)


def _optional(node: Node, inside: Sequence[float]) -> list[float]:
    """The costs of the children; one that may be skipped is free, and so is one whose needs may all be skipped."""
    costs, following = list(inside), needed_by(node)
    waits = [len(set(child.step.needs)) if child.step else 0 for child in node.children]
    skipped = [child.position for child in node.children if child.step and child.step.when is not None]
    for place in skipped:  # which gets longer by those that need nothing else
        costs[place] = 0
        for each in following[place]:
            waits[each] -= 1
            if not waits[each] and each not in skipped:
                skipped.append(each)
    return costs

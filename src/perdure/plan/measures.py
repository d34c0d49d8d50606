"""How large a plan is: steps, the longest path, how many can be live at once, what it is declared to cost."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Any, Final

from perdure.collector import Undisturbed
from perdure.plan.flow import SerialFlow, needed_by
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Estimate
from perdure.plan.model.steps import AskStep, DoneStep, FailStep, MapStep, Working
from perdure.plan.paths import components
from perdure.plan.raw import is_list
from perdure.plan.visible import lapse, money, number_of, visible

SHOWN: Final = 8
"""Steps of the longest path that a sentence names."""
Cost = dict[str, float | None]
COSTS: Final = ("seconds", "usd", "tokens", "calls")


@dataclass(frozen=True)
class Measures:
    """What can be said of a plan before it runs. Loops count once; a map over `${…}` counts one item."""

    steps: int
    """All steps, groups included."""
    acting: int
    """Steps that are no groups and do not end one."""
    depth: int
    """Levels of steps within steps."""
    path: tuple[str, ...]
    """The acting steps on the longest path: by declared seconds, and by their number where those are equal."""
    path_seconds: float | None
    """The declared seconds on it; nothing where no step declares any."""
    widest: int
    """The most acting steps that can be live at once."""
    seconds: float | None
    usd: float | None
    tokens: int | None
    calls: int | None
    """Declared costs, all steps together; nothing where no step declares any."""
    questions: int
    """Steps that ask a person."""
    loops: int
    """Ways back: from a step of a serial group, or from inside it, to an earlier one or to itself."""
    open_ended: bool
    """Whether a map is over a list that is known only in the run."""

    def as_json(self) -> dict[str, Any]:
        """The measures as plain data."""
        return {**asdict(self), "path": list(self.path)}


def measure(plan: Plan) -> Measures:
    """Measure a plan."""
    with Undisturbed():
        return _measured(Index(plan))


def _measured(index: Index) -> Measures:
    after, loops = _orders(index)
    sizes: dict[Node, _Size] = {}
    for node in (*reversed(index.nodes), index.root):  # backwards, so that children come before their group
        sizes[node] = _leaf(node) if node.holder is None else _group(node, after[node], sizes)
    whole = sizes[index.root]
    tokens, calls = (None if (spent := whole.cost[key]) is None else int(spent) for key in ("tokens", "calls"))
    return Measures(
        steps=len(index.nodes),
        acting=sum(map(_acts, index.nodes)),
        depth=max(node.depth for node in index.nodes),
        path=tuple(node.id for node in _unfolded(index.root, sizes)),
        path_seconds=whole.seconds if whole.cost["seconds"] is not None else None,
        widest=whole.width,
        seconds=whole.cost["seconds"],
        usd=whole.cost["usd"],
        tokens=tokens,
        calls=calls,
        questions=sum(isinstance(node.step, AskStep) for node in index.nodes),
        loops=loops,
        open_ended=any(_items(node) is None for node in index.nodes),
    )


# ------------------------------------------------------------------------------- what follows what

After = list[list[int]]
"""For each child of a group, by position, the children that come after it."""


def _orders(index: Index) -> tuple[dict[Node, After], int]:
    """What comes after what in every group, and how many ways lead back."""
    after, loops = {node: needed_by(node) for node in (index.root, *index.nodes) if not node.serial}, 0
    for group, edges in SerialFlow(index).edges.items():
        part = {place: n for n, places in enumerate(components(edges)) for place in places}
        back = [{to for to in found if to <= place and part[to] == part[place]} for place, found in enumerate(edges)]
        after[group] = [sorted(found - back[place]) for place, found in enumerate(edges)]
        loops += sum(map(len, back))
    return after, loops


def _before(after: After) -> list[int]:
    """For each child, how many it waits for."""
    waiting = [0] * len(after)
    for following in after:
        for place in following:
            waiting[place] += 1
    return waiting


def _sorted(after: After) -> Iterator[int]:
    """Every child after those it waits for; a circle, which the checks refuse, is left out."""
    waiting = _before(after)
    ready = [place for place, count in enumerate(waiting) if not count]
    while ready:
        place = heappop(ready)
        yield place
        for following in after[place]:
            waiting[following] -= 1
            if not waiting[following]:
                heappush(ready, following)


def _longest(after: After, weights: list[tuple[float, int]], *, serial: bool) -> list[int]:
    """The heaviest way through a group: from its first child if it is serial, from any in a graph."""
    best: dict[int, tuple[float, int]] = {}
    came: dict[int, int] = {}
    for place in _sorted(after):
        if serial and place and place not in came:
            continue  # only a jump back leads here
        before = best[came[place]] if place in came else (0, 0)
        best[place] = (before[0] + weights[place][0], before[1] + weights[place][1])
        for following in after[place]:
            if following not in came or best[place] > best[came[following]]:
                came[following] = place
    way = [max(best, key=lambda place: (best[place], -place))] if best else []
    while way and way[-1] in came:
        way.append(came[way[-1]])
    return way[::-1]


class _Schedule:
    """A graph in time: every child starts as soon as it can."""

    def __init__(self, after: After, inside: list["_Size"]) -> None:
        self.after, self.inside = after, inside
        self.waiting = _before(after)
        self.ready = [(size.rank, place) for place, size in enumerate(inside) if not self.waiting[place]]
        heapify(self.ready)
        self.live: list[tuple[float, int]] = []
        self.now, self.width, self.widest = 0.0, 0, 0

    def run(self, limit: int) -> tuple[float, int]:
        """How long it takes and how wide it gets, with so many children live at once."""
        while self.ready or self.live:
            while self.ready and len(self.live) < limit:
                self._start(heappop(self.ready)[1])
            self.widest = max(self.widest, self.width)
            self.now = self.live[0][0]
            while self.live and self.live[0][0] == self.now:
                self._end(heappop(self.live)[1])
        return self.now, self.widest

    def _start(self, place: int) -> None:
        heappush(self.live, (round(self.now + self.inside[place].lasts, 6), place))
        self.width += self.inside[place].width

    def _end(self, place: int) -> None:
        self.width -= self.inside[place].width
        for following in self.after[place]:
            self.waiting[following] -= 1
            if not self.waiting[following]:
                heappush(self.ready, (self.inside[following].rank, following))


# ------------------------------------------------------------------------------- one step


@dataclass(eq=False)
class _Size:
    """What is known of one step when its group is measured."""

    seconds: float
    """Declared, on its longest path."""
    length: int
    """Acting steps on that path."""
    lasts: float
    """In the schedule: declared seconds, and one where none are declared."""
    width: int
    """Acting steps that can be live at once."""
    cost: Cost
    rank: int
    """Among steps that could start, lower goes first."""
    path: list[Node] = field(default_factory=list[Node])


def _acts(node: Node) -> bool:
    return node.holder is None and not isinstance(node.step, (DoneStep, FailStep))


def _estimate(node: Node) -> Estimate:
    return node.step.estimate or Estimate() if isinstance(node.step, Working) else Estimate()


def _rank(node: Node) -> int:
    return -node.step.priority if isinstance(node.step, Working) else 0


def _items(node: Node) -> int | None:
    """How often the steps inside are done; nothing where only the run will tell."""
    if not isinstance(node.step, MapStep):
        return 1
    return len(node.step.map) if is_list(node.step.map) else None


def _leaf(node: Node) -> _Size:
    said, acts = _estimate(node), int(_acts(node))
    cost: Cost = {key: getattr(said, key) for key in COSTS}
    return _Size(said.seconds or 0, acts, acts if said.seconds is None else said.seconds, acts, cost, _rank(node))


def _group(node: Node, after: After, sizes: dict[Node, _Size]) -> _Size:
    inside = [sizes[child] for child in node.children]
    way = _longest(after, [(size.seconds, size.length) for size in inside], serial=node.serial)
    lasts, width = _run(node, after, inside)
    size = _Size(
        seconds=sum(inside[place].seconds for place in way),
        length=sum(inside[place].length for place in way),
        lasts=lasts,
        width=width,
        cost={key: _sum([each.cost[key] for each in inside]) for key in COSTS},
        rank=_rank(node),
        path=[node.children[place] for place in way],
    )
    return _declared(node, _repeated(node, size))


def _run(node: Node, after: After, inside: list[_Size]) -> tuple[float, int]:
    """How long a group lasts and how wide it gets; the limit of a map is on its items, not on their steps."""
    if node.serial:
        way = _longest(after, [(size.lasts, 0) for size in inside], serial=True)
        return sum(inside[place].lasts for place in way), max((size.width for size in inside), default=0)
    limit = None if node.holder is None or isinstance(node.holder, MapStep) else node.holder.limit
    return _Schedule(after, inside).run(limit or len(inside))


def _repeated(node: Node, size: _Size) -> _Size:
    """A map: its body for each item, so many at once as it allows."""
    if not isinstance(node.step, MapStep):
        return size
    items = _items(node)
    times = 1 if items is None else items
    at_once = min(times, node.step.limit or times)
    rounds = ceil(times / at_once) if times else 0
    return replace(
        size,
        seconds=size.seconds * rounds,
        length=size.length if times else 0,
        lasts=size.lasts * rounds,
        width=size.width * at_once,
        cost={key: None if spent is None else spent * times for key, spent in size.cost.items()},
        path=size.path if times else [],
    )


def _declared(node: Node, size: _Size) -> _Size:
    """What a group declares of itself counts instead of what its steps declare."""
    said = _estimate(node)
    cost: Cost = {key: spent if (own := getattr(said, key)) is None else own for key, spent in size.cost.items()}
    if said.seconds is None:
        return replace(size, cost=cost)
    return replace(size, cost=cost, seconds=said.seconds, lasts=said.seconds)


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _unfolded(root: Node, sizes: dict[Node, _Size]) -> Iterator[Node]:
    """The acting steps on a path of paths."""
    stack = [root]
    while stack:
        node = stack.pop()
        if _acts(node):
            yield node
        stack.extend(reversed(sizes[node].path))


# ------------------------------------------------------------------------------- for people


def sentence(measures: Measures) -> str:
    """The measures in words."""
    size = f"{number_of(measures.steps, 'step')}, {measures.depth} deep, at most {measures.widest:,} at once"
    parts = [size, _path(measures), _costs(measures), *_counts(measures)]
    return "; ".join(part for part in parts if part)


def _path(measures: Measures) -> str:
    if not measures.path:
        return ""
    names = [visible(name, 60) for name in measures.path]
    if len(names) > SHOWN:
        names = [*names[: SHOWN // 2], "…", *names[1 - SHOWN // 2 :]]
    takes = f", {lapse(measures.path_seconds)}" if measures.path_seconds is not None else ""
    return f"longest path {number_of(len(measures.path), 'step')}{takes}: {' → '.join(names)}"


def _costs(measures: Measures) -> str:
    parts = [
        lapse(measures.seconds) if measures.seconds is not None else "",
        money(measures.usd) if measures.usd is not None else "",
        number_of(measures.tokens, "token") if measures.tokens is not None else "",
        number_of(measures.calls, "call") if measures.calls is not None else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"declared: {said}" if said else ""


def _counts(measures: Measures) -> Iterator[str]:
    if measures.questions:
        yield number_of(measures.questions, "question to people", "questions to people")
    if measures.loops:
        yield number_of(measures.loops, "loop")
    if measures.open_ended:
        yield "open-ended: a map over a computed list counts as one item"

"""How large a plan is: steps, the longest path, how many can be live at once, what it is declared to cost."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import Any, Final

from perdure.plan.drawing.flow import Flow, Shape
from perdure.plan.drawing.ways import longest, schedule
from perdure.plan.drawing.words import lapse, money, number_of
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Estimate
from perdure.plan.model.steps import MapStep, Working
from perdure.plan.raw import is_list

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
    """Jumps backwards."""
    open_ended: bool
    """Whether a map is over a list that is known only in the run."""

    def as_json(self) -> dict[str, Any]:
        """The measures as plain data."""
        return {**asdict(self), "path": list(self.path)}


def measure(plan: Plan) -> Measures:
    """Measure a plan."""
    return measured(Flow(plan))


def measured(flow: Flow) -> Measures:
    """Measure a flow."""
    sizes: dict[Shape, _Size] = {}
    for shape in (*reversed(flow.shapes), flow.root):  # backwards, so that children come before their group
        sizes[shape] = _group(shape, sizes) if shape.mode is not None else _leaf(shape)
    whole = sizes[flow.root]
    path = [shape.id for shape in _unfolded(flow.root, sizes)]
    tokens, calls = (None if (spent := whole.cost[key]) is None else int(spent) for key in ("tokens", "calls"))
    return Measures(
        steps=len(flow.shapes),
        acting=sum(map(_acts, flow.shapes)),
        depth=max(shape.node.depth for shape in flow.shapes),
        path=tuple(path),
        path_seconds=whole.seconds if whole.cost["seconds"] is not None else None,
        widest=whole.width,
        seconds=whole.cost["seconds"],
        usd=whole.cost["usd"],
        tokens=tokens,
        calls=calls,
        questions=sum(shape.kind == "ask" for shape in flow.shapes),
        loops=sum(edge.backward for edge in flow.edges),
        open_ended=any(_items(shape) is None for shape in flow.shapes),
    )


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
    path: list[Shape] = field(default_factory=list[Shape])


def _acts(shape: Shape) -> bool:
    return shape.mode is None and shape.family not in ("done", "fail")


def _estimate(shape: Shape) -> Estimate:
    step = shape.node.step
    return step.estimate if isinstance(step, Working) and step.estimate is not None else Estimate()


def _items(shape: Shape) -> int | None:
    """How often the steps inside are done; nothing where only the run will tell."""
    step = shape.node.step
    if not isinstance(step, MapStep):
        return 1
    return len(step.map) if is_list(step.map) else None


def _leaf(shape: Shape) -> _Size:
    said, acts = _estimate(shape), int(_acts(shape))
    cost: Cost = {key: getattr(said, key) for key in COSTS}
    return _Size(said.seconds or 0, acts, acts if said.seconds is None else said.seconds, acts, cost)


def _group(shape: Shape, sizes: dict[Shape, _Size]) -> _Size:
    inside = [sizes[child] for child in shape.inside]
    path = longest(shape, [(size.seconds, size.length) for size in inside])
    lasts, width = _run(shape, inside)
    size = _Size(
        seconds=sum(inside[place].seconds for place in path),
        length=sum(inside[place].length for place in path),
        lasts=lasts,
        width=width,
        cost={key: _sum([each.cost[key] for each in inside]) for key in COSTS},
        path=[shape.inside[place] for place in path],
    )
    return _declared(shape, _repeated(shape, size))


def _repeated(shape: Shape, size: _Size) -> _Size:
    """A map: its body for each item, so many at once as it allows."""
    if not isinstance(shape.node.step, MapStep):
        return size
    times = _items(shape)
    times = 1 if times is None else times
    at_once = min(times, shape.node.step.limit or times)
    rounds = ceil(times / at_once) if times else 0
    cost: Cost = {key: None if spent is None else spent * times for key, spent in size.cost.items()}
    path, length = (size.path, size.length) if times else ([], 0)
    return _Size(size.seconds * rounds, length, size.lasts * rounds, size.width * at_once, cost, path)


def _declared(shape: Shape, size: _Size) -> _Size:
    """What a group declares of itself counts instead of what its steps declare."""
    said = _estimate(shape)
    cost: Cost = {key: spent if (own := getattr(said, key)) is None else own for key, spent in size.cost.items()}
    seconds = size.seconds if said.seconds is None else said.seconds
    lasts = size.lasts if said.seconds is None else said.seconds
    return _Size(seconds, size.length, lasts, size.width, cost, size.path)


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _run(shape: Shape, inside: list[_Size]) -> tuple[float, int]:
    """How long a group lasts and how wide it gets when everything starts as soon as it can."""
    if shape.mode == "serial":
        way = longest(shape, [(size.lasts, 0) for size in inside])
        return sum(inside[place].lasts for place in way), max((size.width for size in inside), default=0)
    holder = shape.node.holder
    limit = None if holder is None or isinstance(holder, MapStep) else holder.limit
    return schedule(shape, [(size.lasts, size.width) for size in inside], limit or len(inside))


def _unfolded(root: Shape, sizes: dict[Shape, _Size]) -> Iterator[Shape]:
    """The acting steps on a path of paths."""
    stack = [root]
    while stack:
        shape = stack.pop()
        if _acts(shape):
            yield shape
        stack.extend(reversed(sizes[shape].path))


# ------------------------------------------------------------------------------- for people


def sentence(measures: Measures) -> str:
    """The measures in words."""
    size = f"{number_of(measures.steps, 'step')}, {measures.depth} deep, at most {measures.widest:,} at once"
    parts = [size, _path(measures), _costs(measures), *_counts(measures)]
    return "; ".join(part for part in parts if part)


def _path(measures: Measures) -> str:
    if not measures.path:
        return ""
    names = list(measures.path)
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

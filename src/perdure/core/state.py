"""What is so: the state of a run, folded from its facts and changed in place.

A **cell** is one step as it stands in the run. Cells form a tree like the plan's, and are made when a step is first
entered or passed by. A group's **body** holds its cells; entering the group anew gives it a new body, and that is how
the results of its steps are forgotten.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final, Literal

from perdure.core.calls import Call, Failure, Repeat
from perdure.core.events import AttemptEnded, QuestionAsked, RunEnded, RunStarted, RunStopping, StepStopping
from perdure.core.outline import Outline
from perdure.core.values import Read, Value
from perdure.plan.index import Node
from perdure.plan.model.steps import (
    AgentStep,
    AnyStep,
    AskStep,
    DecideStep,
    GroupStep,
    MapStep,
    ModelStep,
    RollbackStep,
    SubplanStep,
    ToolStep,
    WaitStep,
)

Status = Literal["idle", "active", "stopping", "over"]
Kind = Literal["work", "serial", "graph", "map", "agent", "ask", "wait", "rollback", "mark"]
"""`work` has attempts; `mark` is over as soon as it is entered; the others are what their names say."""
LIVE: Final = frozenset({"active", "stopping"})


@dataclass(slots=True)
class Rules:
    """What the engine hands the core: how to read a kept value, and what it knows of tools, plans and strategies."""

    read: Read
    outline: Callable[[str], Outline]
    """A plan by its digest."""
    repeat: Callable[[Call], Repeat] = lambda _: "never"
    """What may be done with an attempt that is in doubt."""
    seconds: Callable[[Call], float | None] = lambda _: None
    """How long one attempt may take, where the plan does not say."""
    strategies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Strategies by name, and agents' own strategies by `agent:<name>`."""
    plans: Mapping[str, str] = field(default_factory=dict[str, str])
    """Digests of plans by name."""


# ------------------------------------------------------------------------------- bodies


class Body:
    """What a group holds."""

    __slots__ = ("children", "live")

    def __init__(self) -> None:
        self.children: dict[int, Cell] = {}
        self.live: dict[int, Cell] = {}


class Serial(Body):
    """One after another."""

    __slots__ = ("cursor", "last")

    def __init__(self) -> None:
        super().__init__()
        self.cursor = -1
        """The child that was entered or passed last."""
        self.last: Cell | None = None
        """The child that ended last, of those that were entered."""


class Graph(Body):
    """Several at once. A map is a graph of its items."""

    __slots__ = (
        "bad",
        "failed",
        "fresh",
        "good",
        "grown",
        "items",
        "left",
        "over",
        "ready",
        "skipped",
        "total",
        "unmet",
    )

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total
        self.left: list[int] = []
        """For each child, how many of its needs are not over."""
        self.unmet: dict[int, int] = {}
        """How many of a child's needs failed."""
        self.skipped: dict[int, int] = {}
        """How many of a child's needs were skipped."""
        self.ready: list[tuple[int, int]] = []
        """Those whose needs are over: a heap by priority, then as written."""
        self.grown = False
        """Whether a map has its items."""
        self.items: Any = None
        """The list a map runs over, once it was looked at."""
        self.over = self.good = self.bad = 0
        self.failed: list[Cell] = []
        self.fresh: list[Cell] = []
        """Children that ended since the group was last looked at."""


class Grown(Graph):
    """Whatever a strategy adds, one move after another."""

    __slots__ = ("added", "dependents", "memo", "moves", "news", "tags")

    def __init__(self) -> None:
        super().__init__(0)
        self.added: list[tuple[Node, Outline]] = []
        self.dependents: dict[int, list[int]] = {}
        self.moves = 0
        self.memo: Any = None
        self.tags: dict[str, Any] = {}
        self.news: list[Cell] = []
        """Children that ended since the last move, in the order of the journal."""


class Work:
    """The tries at one visit of an acting step."""

    __slots__ = (
        "attempt",
        "call",
        "counted",
        "digest",
        "due",
        "flying",
        "fraction",
        "lost",
        "message",
        "outcome",
        "since",
        "stopping",
        "until",
    )

    def __init__(self) -> None:
        self.attempt = self.counted = 0
        """`counted` leaves out the tries that were lost."""
        self.flying = self.stopping = self.lost = False
        self.outcome: AttemptEnded | None = None
        self.due: int | None = None
        """When the next try may begin."""
        self.until: int | None = None
        """When the try under way is too late."""
        self.since = 0
        """When the first try began, on the run's own clock."""
        self.call: Call | None = None
        self.digest = ""
        """The digest of the call."""
        self.fraction = 0.0
        self.message = ""


@dataclass(slots=True)
class Result:
    """How a visit ended."""

    exit: str
    to: str
    body: "Body | Work | None" = None
    output: Value | None = None
    """None: what follows from the body."""
    failure: Failure | None = None
    cause: str = ""
    partial: bool = False
    passed: bool = False
    undone: bool = False


class Cell:
    """One step as it stands in the run."""

    __slots__ = (
        "at", "body", "due", "inner", "key", "kind", "laps", "leaving", "node", "open", "parent", "position",
        "question", "result", "scope", "status", "strategy", "tree", "undo", "visit", "within",
    )  # fmt: skip

    def __init__(self, key: str, node: Node, parent: "Cell | None", position: int, scope: "Scope") -> None:
        self.key, self.node, self.parent, self.position = key, node, parent, position
        self.tree = node
        """Whose children its children are: its own node, unless the plan inside came by name."""
        self.scope = scope
        """What its own expressions see."""
        self.within = scope
        """What the expressions of its children see."""
        self.inner = parent.inner if parent else ""
        """What the keys of its children begin with."""
        self.kind: Kind = "mark"
        self.status: Status = "idle"
        self.visit = self.laps = 0
        """Its visit in the run, and how many it had since the group around it was entered."""
        self.at = 0
        """When the visit began."""
        self.due: int | None = None
        self.open = True
        """Whether a group may let its children begin."""
        self.body: Body | Work | None = None
        self.result: Result | None = None
        """How the last finished visit ended."""
        self.leaving: StepStopping | None = None
        """What a stopping visit will end with."""
        self.question = ""
        self.strategy = ""
        self.undo: tuple[str, ...] = ()
        """Parts whose effects have to be taken back before it is over."""

    @property
    def step(self) -> AnyStep | None:
        """The step in the plan; the run itself has none."""
        return self.node.step

    @property
    def work(self) -> Work:
        """The tries at the visit."""
        assert isinstance(self.body, Work)  # noqa: S101  asked of acting steps alone
        return self.body

    @property
    def is_live(self) -> bool:
        """Whether a visit is under way."""
        return self.status in LIVE

    @property
    def around(self) -> Iterator["Cell"]:
        """The cells around this one, innermost first."""
        cell = self.parent
        while cell is not None:
            yield cell
            cell = cell.parent


class Scope:
    """What some steps see of each other: those of a plan, of one item of a map, of one grown step."""

    __slots__ = ("cached", "holder", "item", "kind", "outer", "outline", "top")

    def __init__(
        self, kind: Literal["run", "plan", "item", "grown"], outline: Outline, top: Node, outer: "Scope | None" = None
    ) -> None:
        self.kind: Final = kind
        self.outline = outline
        self.top = top
        """The node of the cell that holds it."""
        self.outer = outer
        self.holder: Cell | None = None
        self.item = -1
        self.cached: dict[str, Any] = {}

    def find(self, id_: str) -> Cell | None:
        """A step by its id, if it was entered or passed by."""
        node = self.outline.index.by_id.get(id_)
        if node is not None:
            return self._descend(node)
        return self.outer.grown(id_) if self.kind == "grown" and self.outer else None

    def grown(self, id_: str) -> Cell | None:
        """A grown step by its number, as in `s3`."""
        number = id_[1:]
        if self.holder is None or not isinstance(self.holder.body, Grown) or not number.isdecimal():
            return None
        return self.holder.body.children.get(int(number) - 1)

    def _descend(self, node: Node) -> Cell | None:
        way: list[int] = []
        while node is not self.top:
            if node.parent is None:
                return None
            way.append(node.position)
            node = node.parent
        cell = self.holder
        for position in reversed(way):
            body = cell.body if cell else None
            cell = body.children.get(position) if isinstance(body, Body) else None
        return cell


@dataclass(slots=True)
class Effect:
    """Something that was done and can be taken back."""

    cell: Cell
    visit: int
    call: Mapping[str, Any]
    """The call that takes it back."""
    number: int
    attempts: int = 0
    flying: bool = False
    due: int | None = None
    over: bool = False
    """Whether nothing more is tried."""
    failure: Failure | None = None
    """Why it could not be taken back."""


Timer = tuple[int, int, str, int, str]
"""When, a number that makes it unique, the step's key, its visit, and what is due."""


class State:
    """A run, as far as its facts tell it."""

    def __init__(self, run: str, rules: Rules) -> None:
        self.run = run
        self.rules = rules
        self.started: RunStarted | None = None
        self.ended: RunEnded | None = None
        self.stopping: RunStopping | None = None
        self.paused_at: int | None = None
        self.paused = 0
        """How long it was paused, all in all: the run's own clock is behind by as much."""
        self.at = 0
        """The time of its last fact."""
        self.root: Cell | None = None
        self.cells: dict[str, Cell] = {}
        self.holders: dict[str, Cell] = {}
        """What holds the steps whose keys begin so."""
        self.visits: dict[str, int] = {}
        self.flying: dict[str, Cell] = {}
        """Steps with an attempt under way."""
        self.hungry: dict[str, list[tuple[int, int, str, int]]] = {}
        """Steps that could begin an attempt, by what they call: heaps by priority, then by age."""
        self.eager: set[str] = set()
        """The keys of those that could begin, whether they wait for room or for a lock."""
        self.timers: list[Timer] = []
        self.moments: list[Timer] = []
        """Timers that a pause does not move."""
        self.locks: dict[str, Cell] = {}
        self.questions: dict[str, QuestionAsked] = {}
        """Those that are open."""
        self.asked: dict[str, Cell] = {}
        self.answers: dict[str, Value] = {}
        self.signals: dict[str, deque[Value]] = {}
        self.taken: dict[str, Value] = {}
        """What a step has just taken."""
        self.waiting: dict[str, dict[str, Cell]] = {}
        """Steps that wait for a signal, the oldest first."""
        self.effects: list[Effect] = []
        self.undoing: dict[tuple[str, int], Effect] = {}
        """Effects that are being taken back, by the step's key and visit."""
        self.undoers: dict[str, Cell] = {}
        """Steps that have to take something back before they are over."""
        self.marks: dict[str, int] = {}
        """How many effects there were when a checkpoint was passed."""
        self.parked: dict[str, list[tuple[int, int, str, int]]] = {}
        """Steps that could begin but for a lock, by lock."""
        self.kept: dict[str, bytes] = {}
        """Values of facts that are not durable yet, by digest."""
        self.numbers = 0
        self.steps_over = self.attempts = 0

    def read(self, digest: str) -> Any:
        """A value that is kept apart."""
        data = self.kept.get(digest)
        return self.rules.read(digest) if data is None else json.loads(data)

    # ---------------------------------------------------------------- time

    def clock(self, at: int) -> int:
        """The run's own time, which stands still while it is paused."""
        return (self.paused_at if self.paused_at is not None else at) - self.paused

    def next_number(self) -> int:
        """A number that was not used before."""
        self.numbers += 1
        return self.numbers

    def set_timer(self, due: int, key: str, visit: int, what: str, *, fixed: bool = False) -> None:
        """Note that something is due."""
        heappush(self.moments if fixed else self.timers, (due, self.next_number(), key, visit, what))

    @property
    def wake_at(self) -> int | None:
        """When the run wants to be looked at again."""
        if self.ended is not None or self.paused_at is not None:
            return None
        self._drop_stale(self.timers)
        self._drop_stale(self.moments)
        dues = [self.timers[0][0] + self.paused] if self.timers else []
        dues += [self.moments[0][0]] if self.moments else []
        return min(dues, default=None)

    def _drop_stale(self, timers: list[Timer]) -> None:
        while timers and not self.is_due(timers[0]):
            heappop(timers)

    def is_due(self, timer: Timer) -> bool:
        """Whether a timer still means something."""
        due, _, key, visit, what = timer
        if what == "run":
            return self.stopping is None
        if what == "undo":
            return (key, visit) in self.undoing and self.undoing[key, visit].due == due
        cell = self.cells.get(key)
        return cell is not None and cell.visit == visit and cell.status == "active" and self._is_due_in(cell, due, what)

    def _is_due_in(self, cell: Cell, due: int, what: str) -> bool:
        if what == "step" or not isinstance(cell.body, Work):
            return cell.due == due
        work = cell.body
        if what == "retry":
            return not work.flying and cell.key not in self.eager and work.due == due
        return work.flying and not work.stopping and work.until == due

    # ---------------------------------------------------------------- cells

    def find(self, key: str) -> Cell | None:
        """A step by its key, as it stands now."""
        cell = self.cells.get(key)
        if cell is None or cell.parent is None:
            return cell
        body = cell.parent.body
        return cell if isinstance(body, Body) and body.children.get(cell.position) is cell else None

    def located(self, key: str) -> Cell:
        """A step by its key, made if it was not there."""
        cell = self.find(key)
        if cell is not None and (cell.parent is None or cell.parent is self.cells.get(cell.parent.key, cell.parent)):
            return cell
        parent, position = self._place(key)
        return self.child(parent, position)

    def _place(self, key: str) -> "tuple[Cell, int]":
        if key.endswith("]"):
            base, _, number = key[:-1].rpartition("[")
            return self.cells[base.rpartition("/")[0]], int(number)
        prefix = key[: key.rfind(".") + 1]
        holder, name = self.holders[prefix], key[len(prefix) :]
        if name.isdecimal():
            return holder, int(name) - 1
        node = holder.within.outline.index.by_id[name]
        return self._parent_of(node, holder), node.position

    def _parent_of(self, node: Node, holder: Cell) -> Cell:
        above = node.parent
        if above is None or above is holder.within.top:
            return holder
        return self.child(self._parent_of(above, holder), above.position)

    def child(self, parent: Cell, position: int) -> Cell:
        """A cell in a group's body, made if it was not there."""
        body = parent.body
        assert isinstance(body, Body)  # noqa: S101  only groups have children
        cell = body.children.get(position)
        if cell is None:
            cell = body.children[position] = self._make(parent, position)
            self.cells[cell.key] = cell
        return cell

    def _make(self, parent: Cell, position: int) -> Cell:
        if parent.kind == "map":
            return self._make_item(parent, position)
        if isinstance(parent.body, Grown):
            return self._make_grown(parent, parent.body, position)
        node = parent.tree.children[position]
        cell = Cell(parent.inner + node.id, node, parent, position, parent.within)
        cell.kind = kind_of(node)
        return cell

    def _make_item(self, parent: Cell, position: int) -> Cell:
        cell = Cell(f"{parent.key}/{parent.visit}[{position}]", parent.node, parent, position, parent.scope)
        cell.kind = "serial" if parent.node.serial else "graph"
        self._hold(cell, Scope("item", parent.scope.outline, parent.node, parent.scope), f"{cell.key}.")
        cell.within.item = position
        return cell

    def _make_grown(self, parent: Cell, body: Grown, position: int) -> Cell:
        node, outline = body.added[position]
        scope = Scope("grown", outline, node, parent.within)
        cell = Cell(f"{parent.inner}{position + 1}", node, parent, position, scope)
        cell.kind = kind_of(node)
        scope.holder, cell.within = cell, scope
        cell.inner = f"{cell.key}."
        self.holders[cell.inner] = cell
        return cell

    def _hold(self, cell: Cell, scope: Scope, prefix: str) -> None:
        scope.holder, cell.within, cell.inner = cell, scope, prefix
        self.holders[prefix] = cell


_KINDS: Final[dict[type[AnyStep], Kind]] = {
    ToolStep: "work",
    ModelStep: "work",
    AgentStep: "work",
    AskStep: "ask",
    WaitStep: "wait",
    RollbackStep: "rollback",
    MapStep: "map",
}


def kind_of(node: Node) -> Kind:
    """What a step is to the core."""
    step = node.step
    if step is None or isinstance(step, (GroupStep, SubplanStep)):
        return "serial" if node.serial else "graph"
    if isinstance(step, DecideStep):
        return "mark" if isinstance(step.decide, str) else "work"
    return _KINDS.get(type(step), "mark")

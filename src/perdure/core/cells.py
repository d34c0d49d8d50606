"""What a run is made of: steps as they stand, what groups hold, what expressions can see.

A **cell** is one step as it stands in the run. Cells form a tree like the plan's, and are made when a step is first
entered or passed by. A group's **body** holds its cells; entering the group anew gives it a new body, and that is how
the results of its steps are forgotten.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from perdure.core.calls import Approval, Call, Failure, Usage
from perdure.core.events import AttemptEnded, Deed, StepStopping
from perdure.core.ledger import Ledger
from perdure.core.outline import Kind, Outline, Traits
from perdure.core.values import Read, Value
from perdure.core.wiring import Ready
from perdure.plan.index import Node

Status = Literal["idle", "active", "stopping", "over"]
ScopeKind = Literal["run", "plan", "item", "agent", "grown"]
LIVE: Final = frozenset({"active", "stopping"})

# ------------------------------------------------------------------------------- bodies


class Body:
    """What a group holds."""

    __slots__ = ("begins", "children", "first", "live", "tries")

    def __init__(self) -> None:
        self.children: dict[int, Cell] = {}
        self.live: dict[int, Cell] = {}
        self.tries = 1
        """Which try at the visit it is: a group that failed may be done again."""
        self.begins = self.first = 0
        """When this try may begin, and when the first one began, on the run's own clock."""


Ended = tuple["Cell", int, "Result"]
"""A step that ended, at which visit, and how."""
MOST_ROUNDS: Final = 7
"""Rounds that are remembered, with the one under way."""


class Serial(Body):
    """One after another."""

    __slots__ = ("cursor", "last", "rounds")

    def __init__(self, *, loops: bool = False) -> None:
        super().__init__()
        self.rounds: list[list[Ended]] = [[]] if loops else []
        """What ended since each jump back, if the plan has one here; nothing if it has none."""
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
        "part",
        "ready",
        "skipped",
        "told",
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
        self.ready: list[Ready] = []
        """Those whose needs are over: a heap, with whoever goes first at its head."""
        self.grown = False
        """Whether a map has its items."""
        self.items: Any = None
        """The list a map runs over, once it was looked at."""
        self.over = self.good = self.bad = 0
        self.part = 0
        """Of the good ones, how many have failed, and the plan goes on without them."""
        self.failed: list[Cell] = []
        self.fresh: list[Cell] = []
        """Children that ended since the group was last looked at."""
        self.told: tuple[str, ...] | None = None
        """Whose outputs make up its own, if the plan has put other steps there since it was over."""


class Grown(Graph):
    """Whatever a strategy adds, one move after another."""

    __slots__ = ("added", "born", "dependents", "dropping", "memo", "moves", "news", "rounds", "tags")

    def __init__(self) -> None:
        super().__init__(0)
        self.added: list[tuple[Node, Outline]] = []
        self.born: list[int] = []
        """When each child was added: what has a smaller number is older."""
        self.dependents: dict[int, list[int]] = {}
        self.moves = 0
        self.memo: Any = None
        self.tags: dict[str, Any] = {}
        self.news: list[Cell] = []
        """Children that ended since the last move, in the order of the journal."""
        self.rounds: list[list[Ended]] = []
        """What ended between the moves before."""
        self.dropping: dict[tuple[str, int], Effect] = {}
        """What is taken back while the group goes on, in this order."""


class Look(msgspec.Struct, eq=False, gc=False):
    """A tool looks at an attempt: whether it had its effect, or whether what it gave is good."""

    number: int
    deed: Deed = "probe"
    tries: int = 1
    """How often the same was asked in a row."""
    flying: bool = True
    stopping: bool = False
    told: AttemptEnded | None = None
    """What the last look gave; None: it was lost."""
    found: Any = None
    """Whether it happened, or is good; None: it could not tell."""
    due: int | None = None
    """When the next look may begin."""
    approved: tuple[str, ...] = ()
    """Digests of what people have agreed to for it."""
    question: str = ""
    """The question whether it may be done."""


class Work(msgspec.Struct, eq=False, gc=False):
    """The tries at one visit of an acting step."""

    attempt: int = 0
    counted: int = 0
    """The tries but for those that were lost or in doubt."""
    flying: bool = False
    stopping: bool = False
    lost: bool = False
    outcome: AttemptEnded | None = None
    due: int | None = None
    """When the next try may begin."""
    until: int | None = None
    """When the try under way is too late."""
    alarm: int = 0
    """The number of the timer for either."""
    since: int = 0
    """When the first try began, on the run's own clock."""
    call: Call | None = None
    digest: str = ""
    """The digest of the call."""
    reserved: Usage | None = None
    """What the try under way was promised."""
    losses: int = 0
    """How often its process was gone while it was at work."""
    approved: tuple[str, ...] = ()
    """What people have agreed to at this visit."""
    probe: Look | None = None
    """Looks at the last try, of which nobody knew how it ended."""
    verdict: Look | None = None
    """The last that a judging tool has said about what the last try gave."""
    looking: Look | None = None
    """The look that is under way, if it is not a try."""
    looks: int = 0
    """How often tools were asked to judge at this visit."""
    met: int = 0
    """How many of them were content with the last try, in the order of the plan."""
    fraction: float = 0.0
    message: str = ""
    of: str = ""
    """The run that began this visit, if it was another one: the deed has the key that it has there."""

    @property
    def is_late(self) -> bool:
        """Whether what is under way was told to stop because it took too long."""
        return self.looking.stopping if self.looking else self.stopping


class Result(msgspec.Struct):
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
    number: int = 0
    """Of two, the one with the larger number is the newer."""


class Cell:
    """One step as it stands in the run."""

    __slots__ = (
        "age", "alarm", "at", "body", "due", "inner", "key", "kind", "laps", "leaving", "ledger", "ledgers", "node",
        "open", "parent", "position", "question", "refused", "result", "scope", "status", "step", "strategy",
        "traits", "tree", "undo", "visit", "ways", "within", "work",
    )  # fmt: skip

    def __init__(self, key: str, node: Node, parent: "Cell | None", position: int, scope: "Scope") -> None:
        self.key, self.parent, self.position = key, parent, position
        self.node, self.step = node, node.step
        """Its place in the plan, and the step there; the run itself has none."""
        self.traits: Traits = scope.outline.traits(node)
        self.tree = node
        """Whose children its children are: its own node, unless the plan inside came by name."""
        self.scope = scope
        """What its own expressions see."""
        self.within = scope
        """What the expressions of its children see."""
        self.inner = parent.inner if parent else ""
        """What the keys of its children begin with."""
        self.ledger: Ledger | None = None
        """Its own budget, if it has one."""
        self.ledgers: tuple[Ledger, ...] = parent.ledgers if parent else ()
        """All that it counts in, the innermost first."""
        self.kind: Kind = self.traits.kind
        self.status: Status = "idle"
        self.visit = self.laps = 0
        """Its visit in the run, and how many it had since the group around it was entered."""
        self.at = self.age = 0
        """When the visit began, and its place in the line of those that could begin an attempt."""
        self.due: int | None = None
        self.alarm = 0
        """The number of the timer that is set for it."""
        self.open = True
        """Whether a group may let its children begin."""
        self.body: Body | Work | None = None
        self.work: Work
        """The body of an acting step, and of no other."""
        self.result: Result | None = None
        """How the last finished visit ended."""
        self.leaving: StepStopping | None = None
        """What a stopping visit will end with."""
        self.question = ""
        self.strategy = ""
        self.undo: tuple[str, ...] = ()
        """Parts whose effects have to be taken back before it is over."""
        self.ways: tuple[str, ...] = ()
        """The rungs that the visit has taken; `alternate:NAME` is a tool that was found by the skills of the step."""
        self.refused: tuple[str, ...] = ()
        """Why earlier results of the visit were not good enough, the last ones."""

    @property
    def is_live(self) -> bool:
        """Whether a visit is under way."""
        return self.status in LIVE

    def target(self, exit_: str) -> str:
        """Where an exit of its step leads."""
        return self.scope.outline.target(self.node, exit_)

    @property
    def failed_question(self) -> str:
        """What the ids of the questions begin with that are asked after a failure of the visit."""
        return f"q_{self.key}_{self.visit}_failed"

    @property
    def is_asking(self) -> bool:
        """Whether a person was asked how to go on after a failure."""
        return bool(self.question) and self.question.startswith(self.failed_question)

    @property
    def around(self) -> Iterator["Cell"]:
        """The cells around this one, innermost first."""
        cell = self.parent
        while cell is not None:
            yield cell
            cell = cell.parent


class Scope:
    """What some steps see of each other: those of a plan, of one item of a map, of an agent, of one grown step."""

    __slots__ = ("cached", "holder", "item", "kind", "outer", "outline", "top")

    def __init__(self, kind: ScopeKind, outline: Outline, top: Node, outer: "Scope | None" = None) -> None:
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
        if self.kind == "agent":
            return self._grown(id_)
        node = self.outline.index.by_id.get(id_)
        if node is not None:
            return self._descend(node)
        return self.outer.find(id_) if self.kind == "grown" and self.outer else None

    def _grown(self, id_: str) -> Cell | None:
        """A grown step by its number, as in `s3`."""
        body = self.holder.body if self.holder else None
        position = position_of(id_)
        return body.children.get(position) if isinstance(body, Grown) and position is not None else None

    def _descend(self, node: Node) -> Cell | None:
        way: list[int] = []
        while node is not self.top:
            way.append(node.position)
            if node.parent is None or (node.parent is not self.top and node.parent.is_scope):
                return None  # what is inside a scope is seen by nobody outside
            node = node.parent
        cell = self.holder
        for position in reversed(way):
            body = cell.body if cell else None
            cell = body.children.get(position) if isinstance(body, Body) else None
        return cell


def position_of(id_: str) -> int | None:
    """The place of a grown step by its id: that of `s3` is 2."""
    number = id_[1:]
    return int(number) - 1 if id_[:1] == "s" and number.isascii() and number.isdecimal() and number[0] != "0" else None


class Effect(msgspec.Struct, eq=False):
    """Something that was done and can be taken back."""

    cell: Cell
    visit: int
    undo: Mapping[str, Any]
    """The call that takes it back, or where to find it."""
    number: int
    read: Read
    attempts: int = 0
    flying: bool = False
    stopping: bool = False
    due: int | None = None
    """When the next try may begin."""
    until: int | None = None
    """When the try under way is too late."""
    alarm: int = 0
    """The number of the timer for either."""
    over: bool = False
    """Whether nothing more is tried."""
    failure: Failure | None = None
    """Why it could not be taken back."""
    output: Value | None = None
    """What the step gave."""
    digest: str = ""
    """Of the call that was made; by it the deed has its key."""
    losses: int = 0
    """Tries whose process was gone."""
    approval: Approval | None = None
    """What a person has to agree to before it is taken back."""
    question: str = ""
    """The question about that."""
    approved: tuple[str, ...] = ()
    """Digests of what people have agreed to."""
    uncounted: int = 0
    """Tries that did nothing but ask, or belong to an earlier rollback."""
    of: str = ""
    """The run that did it, if it was another one: then it is not for this one to take it back."""
    dropped: Cell | None = None
    """The group that takes it back while it goes on."""

    def is_in(self, keys: Collection[str]) -> bool:
        """Whether it was done in one of some steps."""
        return self.cell.key in keys or any(cell.key in keys for cell in self.cell.around)

    @property
    def call(self) -> Mapping[str, Any]:
        """The call that takes it back."""
        return self.read(self.undo["sha256"]) if "sha256" in self.undo else self.undo

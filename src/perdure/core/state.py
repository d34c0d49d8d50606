"""What is so: the state of a run, folded from its facts and changed in place."""

import json
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final

from perdure.core.calls import Call, Repeat
from perdure.core.cells import Body, Cell, Effect, Grown, Scope
from perdure.core.events import QuestionAsked, RunEnded, RunForked, RunRevised, RunStarted, RunStopping
from perdure.core.ledger import Books
from perdure.core.names import Names
from perdure.core.outline import Outline
from perdure.core.policy import Layer
from perdure.core.values import Read, Value
from perdure.plan.index import Node
from perdure.plan.toolbox import Toolbox


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
    probes: Callable[[str], bool] = lambda _: False
    """Whether a tool can find out if a call of it had its effect."""
    undo: Callable[[str], tuple[str, ...] | None] = lambda _: None
    """The arguments that a tool wants back to undo a call of it; None if it cannot."""
    lasts: Callable[[str], bool] = lambda _: False
    """Whether what a tool does stays, because nothing takes it back."""
    estimate: Callable[[Call, Mapping[str, float]], Mapping[str, float]] = lambda _, said: said
    """What one call is expected to take, with what the plan says of that."""
    toolbox: Callable[[], Toolbox | None] = lambda: None
    """What the steps of a revised plan may call; None: anything."""
    planning: bool = False
    """Whether plans may change by rule while they are carried out."""
    adjust: Callable[[Any], Any] | None = None
    """Says, when a step is over, how the rest of the plan is to change; None: nobody does."""
    revisers: Mapping[str, Callable[[Any, Any], Any]] = field(default_factory=dict[str, Callable[[Any, Any], Any]])
    """Tools whose results revise the plan of the run that calls them, by name; and what their results mean."""
    planner: Callable[[Any], Any] | None = None
    """Says how the rest of a plan is to change where nobody else does, and the plan wants it to be planned anew."""
    skilled: Callable[[Call, Sequence[str], tuple[Layer, ...]], Sequence[str]] = lambda _call, _skills, _layers: ()
    """The tools that have some skills, take a call as it is, do no more to the world than its own, and are forbidden by
    no rule, of the user or of these layers; best first."""
    knows: Callable[[Call], bool] = lambda _: True
    """Whether somebody here can tell what a call of this tool does. Who cannot leaves what was lost to others."""


Entry = tuple[int, int, str, int]
"""Somebody in a line: by priority, by age; the step's key and its visit."""
Timer = tuple[int, int, str, int, str]
"""When, a number that makes it unique, the step's key (or the question's), its visit, and what is due."""


class State:
    """A run, as far as its facts tell it."""

    def __init__(self, run: str, rules: Rules) -> None:  # noqa: PLR0915  a field each
        self.run = run
        self.given: Final = rules
        """What is known of tools, plans and strategies, by the names that they have."""
        self.rules = rules
        """The same by the words that the plan has for them."""
        self.names = Names()
        """What words of the plan stand for."""
        self.started: RunStarted | None = None
        self.ended: RunEnded | None = None
        self.stopping: RunStopping | None = None
        self.forked: RunForked | None = None
        self.paused_at: int | None = None
        self.paused = 0
        """How long it was paused, all in all: the run's own clock is behind by as much."""
        self.at = 0
        """The time of its last fact."""
        self.revised: list[RunRevised] = []
        """How its plan was revised."""
        self.adjusted: Counter[str] = Counter()
        """How often each rule wanted to revise it, whether that could be or not."""
        self.awaits = 0
        """The revision that is to come before anything is decided; 0: none, or it came."""
        self.root: Cell | None = None
        self.cells: dict[str, Cell] = {}
        self.holders: dict[str, Cell] = {}
        """What holds the steps whose keys begin so."""
        self.agents: dict[str, Cell] = {}
        """Steps that agents are at, but for those that only have it done by others."""
        self.visits: dict[str, int] = {}
        self.flying: dict[str, Cell] = {}
        """Steps with an attempt under way."""
        self.unsettled: dict[str, Cell] = {}
        """Steps of which it is not decided what follows from an attempt that was lost."""
        self.unjudged: dict[str, Cell] = {}
        """Steps with a result that somebody is yet to judge, as soon as that can be afforded."""
        self.hungry: dict[str, list[Entry]] = {}
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
        self.answerers: dict[str, str] = {}
        """Who has answered, by question."""
        self.reasons: dict[str, str] = {}
        """Why an answer was given, by question, where somebody said so."""
        self.signals: dict[str, deque[Value]] = {}
        self.taken: dict[str, Value] = {}
        """Signals that steps have just taken."""
        self.waiting: dict[str, dict[str, Cell]] = {}
        """Steps that wait for a signal, the oldest first."""
        self.effects: dict[tuple[str, int], Effect] = {}
        """What was done and could be taken back, by the step's key and visit, in order of completion."""
        self.undoing: dict[tuple[str, int], Effect] = {}
        """Effects that are being taken back, by the step's key and visit."""
        self.undoers: dict[str, Cell] = {}
        """Steps that have to take something back before they are over."""
        self.marks: dict[str, int] = {}
        """The number of the last effect when a checkpoint was passed."""
        self.parked: dict[str, dict[str, list[Entry]]] = {}
        """Steps that could begin but for a lock, by lock."""
        self.books: Final = Books()
        """What is spent, and who waits for more."""
        self.kept: dict[str, bytes] = {}
        """Values of facts that are not durable yet, by digest."""
        self.numbers = 0
        self.steps_over = self.attempts = 0

    @property
    def revision(self) -> int:
        """How often its plan was revised."""
        return len(self.revised)

    @property
    def tools_at_work(self) -> dict[str, str]:
        """What each try under way takes a place of, by step. A look into the world takes none: it is short."""
        return {key: self.names.tool(cell.traits.tool) for key, cell in self.flying.items() if not cell.work.looking}

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

    def set_timer(self, due: int, key: str, visit: int, what: str, *, fixed: bool = False) -> int:
        """Note that something is due; the number of the note."""
        number = self.next_number()
        heappush(self.moments if fixed else self.timers, (due, number, key, visit, what))
        return number

    @property
    def wake_at(self) -> int | None:
        """When the run wants to be looked at again."""
        if self.ended is not None or self.paused_at is not None or not (self.timers or self.moments):
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
        due, number, key, visit, what = timer
        if what == "run":
            return self.stopping is None and self.cells[""].alarm == number
        if what == "question":
            return key in self.questions
        if what == "undo":
            effect = self.undoing.get((key, visit))
            return effect is not None and effect.alarm == number and not (effect.flying and effect.stopping)
        cell = self.cells[key]
        if cell.status != "active" or cell.visit != visit:
            return False
        if what == "again":
            return isinstance(cell.body, Body) and cell.body.begins == due and not cell.body.children
        return cell.alarm == number if what == "step" else self._is_due_at_work(cell, number, what)

    def _is_due_at_work(self, cell: Cell, number: int, what: str) -> bool:
        work = cell.work
        if work.alarm != number:
            return False
        return work.flying and not work.is_late if what == "attempt" else not work.flying and cell.key not in self.eager

    def decide(self, key: str) -> None:
        """It is decided what follows from what a step has done."""
        if self.unsettled:
            self.unsettled.pop(key, None)
        if self.unjudged:
            self.unjudged.pop(key, None)

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
        cell = self.cells.get(key)
        if cell is not None and (cell.parent is None or self._is_there(cell, cell.parent)):
            return cell
        parent, position = self._place(key)
        return self.child(parent, position)

    def _is_there(self, cell: Cell, parent: Cell) -> bool:
        """Whether it is in the group as that stands now."""
        body = parent.body
        is_child = isinstance(body, Body) and body.children.get(cell.position) is cell
        return is_child and self.cells.get(parent.key, parent) is parent

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
        return Cell(parent.inner + node.id, node, parent, position, parent.within)

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
        scope.holder, cell.within = cell, scope
        cell.inner = f"{cell.key}."
        self.holders[cell.inner] = cell
        return cell

    def _hold(self, cell: Cell, scope: Scope, prefix: str) -> None:
        scope.holder, cell.within, cell.inner = cell, scope, prefix
        self.holders[prefix] = cell

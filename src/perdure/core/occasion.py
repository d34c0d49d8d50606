"""Occasions: what is seen by whoever may change the rest of a plan, and what they say. All that is seen are copies."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Literal

from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.lending import called_by
from perdure.core.seeing import inputs_of, output_of
from perdure.core.state import State
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall

Standing = Literal["to come", "at work", "over"]
MOST_LINES: Final = 100
"""Steps of a plan that are told."""
LONGEST: Final = 80
"""Characters of a title or a message in such a line."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """How the rest of a plan is to change."""

    edits: Sequence[Any]
    """`insert`, `replace`, `remove` and `amend`, as for any plan."""
    why: str = ""
    """The reason, for people."""
    calls: Sequence[str] | None = None
    """What the steps may call that it puts in or changes, as in `web.*`; None: anything."""
    follows: Sequence[Any] = ()
    """Edits that follow from these and that nobody wished for: whoever takes a result takes it elsewhere."""


class Outcome:
    """What a step came to, as an adjuster sees it."""

    __slots__ = ("_cell", "_state")

    def __init__(self, state: State, cell: Cell) -> None:
        self._state, self._cell = state, cell

    @property
    def exit(self) -> str:
        """The word that its last visit ended with; empty if there is none."""
        return self._cell.result.exit if self._cell.result else ""

    @property
    def output(self) -> Any:
        """What it gave; a copy, which is nobody else's."""
        return deepcopy(output_of(self._state, self._cell))

    @property
    def failure(self) -> Failure | None:
        """Why it failed."""
        return deepcopy(self._cell.result.failure) if self._cell.result else None


class Occasion:
    """All that an adjuster sees: a step that is over, or that has failed and has no other way left."""

    __slots__ = ("_cell", "_turn", "failure", "replans")

    def __init__(self, turn: Deciding, cell: Cell, failure: Failure | None, *, replans: bool = False) -> None:
        self._turn, self._cell = turn, cell
        self.failure: Final = deepcopy(failure)
        """Why it failed; a copy, too."""
        self.replans: Final = replans
        """Whether it has no other way left: if nothing changes now, it has failed for good."""

    @property
    def step(self) -> str:
        """Its id."""
        return self._cell.key

    @property
    def visit(self) -> int:
        """Its visit."""
        return self._cell.visit

    @property
    def exit(self) -> str:
        """The word it ended with; empty while it could still be planned anew."""
        return self.result(self.step).exit if not self.replans else ""

    @property
    def output(self) -> Any:
        """What it gave."""
        return self.result(self.step).output if not self.replans else None

    @property
    def plan(self) -> Plan:
        """The plan as it is now; a copy, which is made once for each revision."""
        return shown_plan(self._turn.state)

    @property
    def revision(self) -> int:
        """How often it was revised."""
        return self._turn.state.revision

    @property
    def inputs(self) -> Mapping[str, Any]:
        """What the run was given; a copy, too."""
        return deepcopy(inputs_of(self._turn.state, self._turn.state.cells[""].within))

    def result(self, step: str) -> Outcome:
        """What another step came to. `KeyError` if it was not reached."""
        found = self._turn.state.cells[""].within.find(step)
        if found is None or found.result is None:
            raise KeyError(step)
        return Outcome(self._turn.state, found)

    # ------------------------------------------------------------ who asks, and how far it is

    @property
    def place(self) -> str:
        """The step of the plan in which it happens: itself, or the one around it that stands in the plan."""
        return next((each.key for each in (self._cell, *self._cell.around) if each.scope.kind == "run"), "")

    @property
    def agent(self) -> str:
        """The agent whose work it belongs to; empty: none's."""
        calls = (each.traits.call for each in self._cell.around)
        return next((call.agent for call in calls if isinstance(call, AgentCall)), "")

    def standing(self, step: str) -> Standing:
        """How far a step of the plan is."""
        found = self._turn.state.cells[""].within.find(step)
        if found is None or (found.status == "idle" and found.result is None):
            return "to come"
        return "over" if found.status in {"over", "idle"} else "at work"

    @property
    def index(self) -> Index:
        """The plan as a tree, as the run itself has it: for those who only read, since nothing is copied."""
        return self._turn.state.cells[""].scope.outline.index

    def named(self, name: str) -> Index | None:
        """A plan that steps call by its name, as it is now; None: there is none here."""
        digest = self._turn.state.rules.plans.get(name)
        return None if digest is None else self._turn.state.rules.outline(digest).index

    @property
    def lines(self) -> list[str]:
        """The plan as it is, a line for each step: what it does, and how far it is."""
        return told_plan(self._turn.state)


# ------------------------------------------------------------------------------- the plan


def plan_of(state: State) -> Plan:
    """The plan of the run."""
    return state.cells[""].scope.outline.plan


def shown_plan(state: State) -> Plan:
    """The plan for a stranger's eyes: whatever they do to it, that of the run stays as it is."""
    kept = state.cells[""].scope.cached
    revision, plan = kept.get("shown", (-1, None))
    if revision != state.revision:
        plan = plan_of(state).model_copy(deep=True)
        kept["shown"] = state.revision, plan
    return plan


def told_plan(state: State) -> list[str]:
    """The plan as it is, a line for each step, those of long plans that come first."""
    nodes = state.cells[""].scope.outline.index.nodes
    lines = [_line(state, node) for node in nodes[:MOST_LINES]]
    return lines if len(nodes) <= MOST_LINES else [*lines, f"and {len(nodes) - MOST_LINES} more"]


def _line(state: State, node: Node) -> str:
    needs = f", needs {', '.join(node.step.needs)}" if node.step and node.step.needs else ""
    inside = f" in {node.parent.id}" if node.parent and node.parent.id else ""
    return f"{node.id}{inside}: {_what(node)}{needs}; {_how_far(state.cells[''].within.find(node.id))}"


def _what(node: Node) -> str:
    words = (name for _, name in called_by(node))
    title = node.step.title[:LONGEST] if node.step and node.step.title else ""
    return " ".join(filter(None, (next(words, "steps" if node.children else "step"), f"({title})" if title else "")))


def _how_far(cell: Cell | None) -> str:
    if cell is None or (cell.status == "idle" and cell.result is None):
        return "to come"
    if cell.is_live or cell.result is None:
        return "at work"
    failure = cell.result.failure
    return f"over, {cell.result.exit}" + (f": {failure.kind}: {failure.message[:LONGEST]}" if failure else "")

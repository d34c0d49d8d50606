"""Growth: a strategy looks at its group and says which steps come next, or that it is finished.

A strategy is a pure function `strategy(view) -> Move | Finish | None`. It sees its own group and nothing else: no
clock, no journal, no other part of the tree. What it says is journalled, so it is asked once, never at a replay. The
core names the children: the n-th is `s<n>` to its siblings, and `<group>/<visit>.<n>` in the journal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell, Grown
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, end, fail
from perdure.core.entering import enter, pass_by
from perdure.core.groups import falls_away, stop_group
from perdure.core.seeing import filled_once, inputs_of, output_of
from perdure.plan.expr import ExpressionError
from perdure.plan.model.document import Plan

MOST_ADDED: Final = 256
"""The most steps that one move may add."""


@dataclass(frozen=True, slots=True)
class Move:
    """What is to be done next."""

    add: Sequence[Mapping[str, Any]] = ()
    """Steps, written as in a plan but without ids; arguments name earlier results, as in `${steps.s3.output}`."""
    stop: Sequence[str] = ()
    """Children that are to end now, by id; what they did is undone."""
    tags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Small notes about children, by id."""
    memo: Any = None
    """What to remember; replaces what was remembered before."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The group is over."""

    exit: str = "success"
    output: Any = None
    """Data, with `${steps.s3.output}` and the like for results."""
    keep: Sequence[str] | None = None
    """Children whose effects stand; None: all. What the others did is undone first."""
    failure: Failure | None = None


class Child:
    """A grown step, as its strategy sees it."""

    __slots__ = ("_cell", "_turn")

    def __init__(self, turn: Deciding, cell: Cell) -> None:
        self._turn, self._cell = turn, cell

    @property
    def id(self) -> str:
        """Its name among its siblings."""
        return f"s{self._cell.position + 1}"

    @property
    def exit(self) -> str:
        """How it ended; empty while it has not."""
        return self._cell.result.exit if self._cell.result else ""

    @property
    def failure(self) -> Failure | None:
        """Why it failed."""
        return self._cell.result.failure if self._cell.result else None

    @property
    def tag(self) -> Any:
        """What the strategy noted about it."""
        body = self._cell.parent.body if self._cell.parent else None
        return body.tags.get(self.id) if isinstance(body, Grown) else None

    @property
    def output(self) -> Any:
        """What it gave."""
        return output_of(self._turn.state, self._cell)


class View:
    """All that a strategy sees."""

    __slots__ = ("_body", "_cell", "_turn")

    def __init__(self, turn: Deciding, cell: Cell, body: Grown) -> None:
        self._turn, self._cell, self._body = turn, cell, body

    @property
    def task(self) -> str:
        """What the agent is to do."""
        return inputs_of(self._turn.state, self._cell.within)["task"]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What it was given to work with."""
        return {k: v for k, v in inputs_of(self._turn.state, self._cell.within).items() if k != "task"}

    @property
    def first(self) -> bool:
        """Whether nothing was done yet."""
        return not self._body.moves

    @property
    def memo(self) -> Any:
        """What the last move said to remember."""
        return self._body.memo

    @property
    def born(self) -> int:
        """How many children there are; the next one will be `s<born + 1>`."""
        return len(self._body.added)

    @property
    def live(self) -> int:
        """How many children are at work or still to come."""
        return self._body.total - self._body.over

    @property
    def fresh(self) -> list[Child]:
        """Children that ended since the last move, in the order of the journal."""
        return [Child(self._turn, cell) for cell in self._body.news]

    def child(self, id_: str) -> Child | None:
        """A child by its name."""
        cell = self._body.children.get(int(id_[1:]) - 1)
        return Child(self._turn, cell) if cell else None


Strategy = Callable[[View], Move | Finish | None]

# ------------------------------------------------------------------------------- asking a strategy


def settle_agent(turn: Deciding, cell: Cell) -> None:
    """Let in whoever may come; ask the strategy when there is news for it."""
    body = cell.body
    assert isinstance(body, Grown)  # noqa: S101  by its kind
    body.fresh = []
    if (not body.moves or body.news) and not _ask(turn, cell, body):
        return
    _let_in(turn, cell, body)
    if body.over == body.total and not body.news and not body.ready and body.moves:
        fail(turn, cell, "stalled", "the strategy has nothing at work and wants nothing more")


def _ask(turn: Deciding, cell: Cell, body: Grown) -> bool:
    """Whether the group goes on."""
    strategy: Strategy | None = turn.state.rules.strategies.get(cell.strategy)
    if strategy is None:
        stop_group(turn, cell, Ending.failed("unavailable", f"there is no strategy {cell.strategy!r} any more"))
        return False
    match strategy(View(turn, cell, body)):
        case Finish() as finish:
            _finish(turn, cell, body, finish)
            return False
        case Move() as move:
            return _move(turn, cell, body, move)
        case _:
            if body.over == body.total:
                body.news = []
            return True


def _move(turn: Deciding, cell: Cell, body: Grown, move: Move) -> bool:
    try:
        added = _named(body, move.add)
    except ValueError as error:
        stop_group(turn, cell, Ending.failed("invalid", f"the strategy wants what cannot be: {error}"))
        return False
    turn.record(e.StepsGrown(step=cell.key, visit=cell.visit, add=added, tags=dict(move.tags), memo=move.memo))
    for id_ in move.stop:
        child = body.children.get(int(id_[1:]) - 1)
        if child is not None and child.status == "active":
            turn.record(e.StepStopping(step=child.key, visit=child.visit, undo=(child.key,)))
            turn.look_at(child)
    return True


def _named(body: Grown, steps: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    if len(steps) > MOST_ADDED:
        raise ValueError(f"{len(steps)} steps in one move; at most {MOST_ADDED} can be added")
    added = tuple({**step, "id": f"s{n}"} for n, step in enumerate(steps, len(body.added) + 1))
    for number, step in enumerate(added, len(body.added) + 1):
        Plan.model_validate({"steps": [step]})
        for need in step.get("needs", ()):
            if not (need[1:].isdecimal() and 0 < int(need[1:]) < number):
                raise ValueError(f"{step['id']} needs {need!r}, which does not come before it")
    return added


def _finish(turn: Deciding, cell: Cell, body: Grown, finish: Finish) -> None:
    """End the group; first stop what is still at work, and undo what does not stand."""
    try:
        output = turn.keep(filled_once(turn.state, cell.within, finish.output))
    except (ExpressionError, ValueError) as error:
        stop_group(turn, cell, Ending.failed("invalid", f"what the strategy finished with: {error}"))
        return
    dropped = _dropped(body, finish.keep)
    if not body.live and not dropped:
        end(turn, cell, Ending(finish.exit, output, finish.failure))
        return
    turn.record(
        e.StepStopping(
            step=cell.key, visit=cell.visit, exit=finish.exit, output=output, failure=finish.failure, undo=dropped
        )
    )
    turn.look_at(cell)


def _dropped(body: Grown, keep: Sequence[str] | None) -> tuple[str, ...]:
    """Children whose effects do not stand."""
    if keep is None:
        return tuple(child.key for child in body.live.values())
    return tuple(child.key for number, child in body.children.items() if f"s{number + 1}" not in keep)


def _let_in(turn: Deciding, cell: Cell, body: Grown) -> None:
    while body.ready:
        _, position = heappop(body.ready)
        if position in body.children:
            continue  # it was let in before the run was loaded
        if falls_away(cell, body, position):
            pass_by(turn, turn.state.child(cell, position), "skipped")
        else:
            enter(turn, cell, position)

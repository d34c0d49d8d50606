"""Growth: a strategy looks at its group and says which steps come next, or that it is finished.

A strategy is a pure function `strategy(view) -> Move | Finish | None`. It sees its own group and nothing else: no
clock, no journal, no other part of the tree. What it says is journalled, so it is asked once, never at a replay. The
core names the children: the n-th is `s<n>` to its siblings, and `<group>/<visit>.<n>` in the journal.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Call, Failure
from perdure.core.cells import Cell, Grown, Work, position_of
from perdure.core.concluding import conclude
from perdure.core.contracts import unfit
from perdure.core.deciding import Deciding
from perdure.core.delegating import is_delegating
from perdure.core.ending import Ending, concluded, told
from perdure.core.entering import pass_by
from perdure.core.entrusting import NotGiven, names_in, refuse_secrets
from perdure.core.groups import let_in, stop_group, undoes_losers
from perdure.core.learning import ended_of
from perdure.core.ledger import told as told_amount
from perdure.core.outline import Form
from perdure.core.seeing import filled_once, inputs_of, output_of, see, shown_in
from perdure.core.stalling import STALLED, is_stalled
from perdure.core.undoing import dropped_in, undo_next
from perdure.core.values import to_json
from perdure.errors import PerdureError
from perdure.plan.checks.order import check_order
from perdure.plan.expr import ExpressionError, fill_but
from perdure.plan.flow import SerialFlow
from perdure.plan.index import Index
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Criterion

MOST_ADDED: Final = 256
"""The most steps that one move may add."""


@dataclass(frozen=True, slots=True)
class Move:
    """What is to be done next."""

    add: Sequence[Mapping[str, Any]] = ()
    """Steps, written as in a plan but without ids; arguments name earlier results, as in `${steps.s3.output}`."""
    stop: Sequence[str] = ()
    """Children that are to end now, by id; what they did is undone."""
    drop: Sequence[str] = ()
    """Children that are not wanted any more, by id: one at work ends, and what it did is undone, also if it is over."""
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
    judged: bool = False
    """Whether the tools and agents were asked that have to accept it."""


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
        return self._cell.result.exit if self._cell.result and self._cell.status == "over" else ""

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

    @property
    def tokens(self) -> int:
        """What its last attempt took, of a model; of a conversation, about as much as was said in it by then."""
        body = self._cell.result.body if self._cell.result else None
        used = body.outcome.usage if isinstance(body, Work) and body.outcome else None
        return used.tokens if used else 0


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
        inputs, named = inputs_of(self._turn.state, self._cell.within), self._call.with_
        return {k: v for k, v in inputs.items() if k != "task" and (k != "context" or k in named)}

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the secrets that it was given; steps that it grows may name these, and no others."""
        return _secrets_given(self._cell)

    @property
    def context(self) -> Sequence[Mapping[str, Any]]:
        """What its step is shown of earlier results, the newest first. Calls name it as `${inputs.context}`."""
        return shown_in(self._turn.state, self._cell.within)

    @property
    def agent(self) -> str:
        """Whose work it is, by name; by the new one, if somebody has said that it has another."""
        return self._turn.state.names.agent(self._call.agent)

    @property
    def strategy(self) -> str:
        """How its step says that it works; empty: in the agent's own way."""
        return self._call.strategy or ""

    @property
    def skills(self) -> Sequence[str]:
        """What whoever does it must be able to do."""
        return self._cell.traits.working.skills if self._cell.traits.working else ()

    @property
    def priority(self) -> int:
        """How much its step is worth to whoever has many."""
        return self._cell.traits.working.priority if self._cell.traits.working else 0

    @property
    def returns(self) -> Mapping[str, Any] | None:
        """JSON Schema of what it is to finish with; None: anything."""
        return self._call.returns

    @property
    def verdicts(self) -> Sequence[str]:
        """Words, beside `success` and `failure`, that it may finish with."""
        return self._cell.traits.working.verdicts if self._cell.traits.working else ()

    @property
    def judges(self) -> Sequence[Criterion]:
        """The tools and agents that have to accept what it finishes with."""
        return self._cell.traits.judges

    def asked_of(self, judge: Criterion) -> Mapping[str, Any]:
        """What a judge is given, where `${output…}` stands for what it judges; all else is filled in."""
        given = judge.with_
        seen = see(self._turn.state, self._cell.scope, Form(given).references, {"exit": "success"})
        return fill_but(given, seen, "output")

    def would_do(self, finish: Finish) -> bool:
        """Whether an end is good enough, as far as expressions and schemas can tell."""
        return _ending(self._turn, self._cell, replace(finish, judged=True)).failure is None

    @property
    def _call(self) -> AgentCall:
        call: AgentCall = self._cell.traits.call
        return call

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
    def left(self) -> Mapping[str, float]:
        """What there is left to spend, of all that is limited here or further out."""
        found: dict[str, float] = {}
        for ledger in self._cell.ledgers:
            for word in ledger.limits:
                most = max(0.0, told_amount(word, ledger.left(word, self._turn.now)))
                found[word] = min(most, found.get(word, most))
        return found

    @property
    def fresh(self) -> list[Child]:
        """Children that ended since the last move, in the order of the journal."""
        return [Child(self._turn, cell) for cell in self._body.news]

    def expected(self, model: str, tokens: int, answer: int) -> Mapping[str, float]:
        """What one call of a model would be promised, by the tokens in and out and by those it may answer with."""
        call = Call("model", model, {"tokens": answer})
        return self._turn.state.rules.estimate(call, {"tokens": tokens})

    def child(self, id_: str) -> Child | None:
        """A child by its name."""
        position = position_of(id_)
        cell = None if position is None else self._body.children.get(position)
        return Child(self._turn, cell) if cell else None


Strategy = Callable[[View], Move | Finish | None]

# ------------------------------------------------------------------------------- asking a strategy


def settle_agent(turn: Deciding, cell: Cell) -> None:
    """Let in whoever may come; ask the strategy when there is news for it."""
    body = cell.body
    assert isinstance(body, Grown)  # noqa: S101  by its kind
    if body.begins > turn.now:
        return
    body.fresh = []
    if body.dropping:
        undo_next(turn, dropped_in(cell))
    if (not body.moves or body.news) and not _ask(turn, cell, body):
        return
    if body.dropping and is_delegating(cell):
        return  # the next one finds the world as the one before has found it
    let_in(turn, cell, body)
    if body.over == body.total and not body.news and not body.dropping:
        conclude(turn, cell, Ending.failed("stalled", "the strategy has nothing at work and wants nothing more"))


def _ask(turn: Deciding, cell: Cell, body: Grown) -> bool:
    """Whether the group goes on."""
    strategy: Strategy | None = turn.state.rules.strategies.get(cell.strategy)
    if strategy is None:
        stop_group(turn, cell, Ending.failed("unavailable", f"there is no strategy {cell.strategy!r} any more"))
        return False
    try:
        wish = strategy(View(turn, cell, body))
    except Exception as error:  # noqa: BLE001  a strategy is a stranger's code: it fails its agent, not the run's turn
        stop_group(turn, cell, Ending.failed(*_told(error)))
        return False
    match wish:
        case Finish() as finish:
            _finish(turn, cell, body, finish)
            return False
        case Move() as move:
            return _move(turn, cell, body, move)
        case _:
            if body.over == body.total:
                body.news = []
            return True


def _told(error: Exception) -> tuple[str, str]:
    if isinstance(error, PerdureError):
        return "invalid", "; ".join(filter(None, (error.message, error.help)))
    return "unknown", f"the strategy broke: {type(error).__name__}: {error}"


def _move(turn: Deciding, cell: Cell, body: Grown, move: Move) -> bool:
    if is_stalled(turn.state, [*body.rounds, ended_of(body)]):
        stop_group(turn, cell, Ending("failure", failure=STALLED))
        return False
    try:
        add, tags, memo = json.loads(to_json([list(move.add), dict(move.tags), move.memo]))
        added = _named(cell, body, add)
    except ValueError as error:
        kind = "denied" if isinstance(error, NotGiven) else "invalid"
        stop_group(turn, cell, Ending.failed(kind, f"the strategy wants what cannot be: {error}"))
        return False
    drop = tuple(id_ for id_ in dict.fromkeys(move.drop) if _is_over(body, id_)) if undoes_losers(cell) else ()
    turn.record(e.StepsGrown(step=cell.key, visit=cell.visit, add=added, tags=tags, memo=memo, drop=drop))
    for id_ in (*move.stop, *move.drop):
        _stop(turn, cell, body, position_of(id_))
    undo_next(turn, dropped_in(cell))
    return True


def _is_over(body: Grown, id_: str) -> bool:
    child = body.children.get(-1 if (position := position_of(id_)) is None else position)
    return child is not None and child.status == "over"


def _stop(turn: Deciding, cell: Cell, body: Grown, position: int | None) -> None:
    """End a child that is at work; one that has not begun never will."""
    if position is None or position >= len(body.added):
        return
    child = turn.state.child(cell, position)
    if child.status == "idle":
        pass_by(turn, child, "cancelled", Failure("cancelled", "the strategy dropped it"))
    elif child.status == "active":
        undo = (child.key,) if undoes_losers(cell) else ()
        failure = Failure("cancelled", "the strategy stopped it")
        turn.record(e.StepStopping(step=child.key, visit=child.visit, failure=failure, undo=undo))
        turn.look_at(child)


def _named(cell: Cell, body: Grown, steps: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    if len(steps) > MOST_ADDED:
        raise ValueError(f"{len(steps)} steps in one move; at most {MOST_ADDED} can be added")
    added = tuple({**step, "id": f"s{n}"} for n, step in enumerate(steps, len(body.added) + 1))
    given = _secrets_given(cell)
    for number, step in enumerate(added, len(body.added) + 1):
        index = Index(Plan.model_validate({"steps": [step]}))
        _refuse(step, index, number)
        refuse_secrets(step["id"], index, given)
    return added


def _secrets_given(cell: Cell) -> frozenset[str]:
    return names_in(cell.traits.given.references)


def _refuse(step: Mapping[str, Any], index: Index, number: int) -> None:
    """Refuse a step whose needs do not come before it, or inside which the order is not what a plan's may be."""
    for need in index.plan.steps[0].needs:
        position = position_of(need)
        if position is None or position >= number - 1:
            raise ValueError(f"{step['id']} needs {need!r}, which does not come before it")
    problems = check_order(index, SerialFlow(index)) if index.root.children[0].children else ()
    for problem in problems:
        if problem.path[2] != "needs":  # those of the step itself are looked at above
            raise ValueError(f"{step['id']}: {problem.message}")


def _finish(turn: Deciding, cell: Cell, body: Grown, finish: Finish) -> None:
    """End the group; first stop what is still at work, and undo what does not stand."""
    how = _ending(turn, cell, finish)
    dropped = _dropped(cell, body, finish.keep)
    if body.live or dropped or body.dropping:
        about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "exit": how.exit, "output": how.output}
        turn.record(e.StepStopping(**about, failure=how.failure, undo=dropped))
        turn.look_at(cell)
    else:
        conclude(turn, cell, how)


def _ending(turn: Deciding, cell: Cell, finish: Finish) -> Ending:
    try:
        output = turn.keep(filled_once(turn.state, cell.within, finish.output))
        if finish.exit == "failure":
            return Ending("failure", output, finish.failure or Failure("logic", "the strategy says so"))
        failure = unfit(cell.traits.call.returns, finish.exit, output.load(turn.read))
        if failure is not None:  # whatever the strategy is, and whether it has looked itself
            return Ending("failure", output, failure)
        return _grown(turn, cell, concluded(turn, cell, finish.exit, output, judged=finish.judged))
    except (ExpressionError, ValueError) as error:
        return Ending.failed("invalid", f"what the strategy finished with: {told(error)}")


def _grown(turn: Deciding, cell: Cell, how: Ending) -> Ending:
    """The same, with what the result adds to the plan."""
    from perdure.core.adding import refused_growth  # noqa: PLC0415  few steps add others, and it loads the checks

    failure = refused_growth(turn, cell, how.output) if how.failure is None and cell.traits.grows else None
    return how if failure is None else Ending("failure", how.output, failure)


def _dropped(cell: Cell, body: Grown, keep: Sequence[str] | None) -> tuple[str, ...]:
    """Children whose effects do not stand."""
    if not undoes_losers(cell):
        return ()
    if keep is None:
        return tuple(child.key for child in body.live.values())
    return tuple(child.key for number, child in body.children.items() if f"s{number + 1}" not in keep)

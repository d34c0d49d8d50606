"""Replanning: an agent at work asks for another plan, and the turn that hears of it makes the plan another one.

A tool is performed outside, where nobody knows the run. So its result is only a wish; what it means is said by a
reviser, a pure function that the engine hands in. The wish is taken with the fact that it was heard, or refused with
it: no crash comes between, and no resume takes it twice. Whoever asked is told every reason, and may mend the wish.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from perdure.core import events as e
from perdure.core.adjusting import MOST_SAID, left_of, propose, refuse, revise
from perdure.core.calls import CALL_KINDS, Failure
from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.entrusting import names_in, refuse_secrets
from perdure.core.lending import Called, called_by, is_lent, refuse_unbounded
from perdure.core.occasion import Adjustment, Occasion, told_plan
from perdure.core.refusing import NotRevised
from perdure.core.staying import Staying
from perdure.core.values import Value
from perdure.errors import PerdureError
from perdure.plan.edits import EditError, read_edits
from perdure.plan.expr import ExpressionError
from perdure.plan.index import Index
from perdure.plan.model.document import Plan, own_fields
from perdure.plan.model.edits import Amend, AnyEdit, Insert, Replace
from perdure.plan.model.parts import TIERS
from perdure.plan.model.steps import AnyStep
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.uses import uses_of

REPLAN: Final = "replan"
"""Where a result has its wish."""
MOST_STEPS: Final = 50
"""Steps that one wish may put in or change."""
CALLED: Final = frozenset({*CALL_KINDS, "strategy", "alternates", "simpler", "undo", "accept", "relaxed", "decide"})
"""Fields of a step that say what is called: whoever is called anew is given no secret."""
Reviser = Callable[[Occasion, Any], Adjustment | Failure]
"""What a wish means for the plan as it is; or why it means nothing."""


def replanned(turn: Deciding, cell: Cell, output: Value) -> Value | Failure | None:
    """Make the plan another one, if a result wants that: what is said to whoever asked, or why it cannot be."""
    given = output.load(turn.read)
    wish = given.get(REPLAN) if is_mapping(given) else None
    if not is_mapping(wish):
        return None
    if (closed := _why_not(turn, cell)) is not None:
        return closed
    found = _taken(turn, cell, wish)
    if isinstance(found, Failure):
        refuse(turn, cell, e.REPLANNER, found.message[:MOST_SAID])
        return found
    return turn.keep({"revision": turn.state.revision, "why": found.why, "plan": told_plan(turn.state)})


def _why_not(turn: Deciding, cell: Cell) -> Failure | None:
    """Why nobody is to be asked at all."""
    if not turn.state.rules.planning:
        told = "plans do not change by themselves here; whoever runs the engine can open it with agent_planning=True, "
        return Failure("denied", f"{told}or set agent_planning = true in the settings. Go on with the plan as it is")
    if not _is_within(cell) or turn.state.stopping is not None:
        return Failure("denied", "only who works in the plan of the run itself, while it goes on, can have it changed")
    if not left_of(turn.state):
        told = "the plan has changed as often by itself as it may (`adjust: {most: …}`). Go on with it as it is"
        return Failure("denied", told)
    return None


def _is_within(cell: Cell) -> bool:
    """Whether no other plan is between a step and the plan of the run, and all that is around it goes on."""
    scope = cell.scope
    while scope.outer is not None:
        if scope.kind == "plan":
            return False
        scope = scope.outer
    return all(each.status == "active" for each in cell.around)


def _taken(turn: Deciding, cell: Cell, wish: Any) -> Adjustment | Failure:
    """Revise the plan as a wish means it, or tell why that cannot be."""
    reviser: Reviser = turn.state.rules.revisers[cell.traits.tool]
    try:
        occasion = Occasion(turn, cell, None)
        wanted = reviser(occasion, wish)
        if isinstance(wanted, Failure):
            return wanted
        _look_through(occasion, wanted)
        proposal = propose(turn, cell, e.REPLANNER, wanted)
    except (PerdureError, ValueError) as error:
        return Failure("unmet", _told(error))
    except Exception as error:  # noqa: BLE001  whoever reads wishes must not end the run's turn
        return Failure("unknown", f"the wish could not be read: {type(error).__name__}: {error}")
    revise(turn, *proposal)
    return wanted


def _told(error: PerdureError | ValueError) -> str:
    if isinstance(error, NotRevised):
        return error.message
    if isinstance(error, EditError):
        return NotRevised(error.problems).message
    if isinstance(error, PerdureError):
        return f"the plan is as it was: {'; '.join(filter(None, (error.message, error.help)))}"
    return f"the plan is as it was: {error}"


# ------------------------------------------------------------------------------- what may change


def _look_through(occasion: Occasion, wanted: Adjustment) -> None:
    """`ValueError` if something is lost that stays, or a step calls what is not lent or names a secret."""
    index = occasion.index
    edits = read_edits(list(wanted.edits))
    Staying.of(index, occasion.named).look_through(edits, read_edits(list(wanted.follows)))
    if wanted.calls is not None:
        _look_at_calls(edits, index, tuple(wanted.calls))


def _look_at_calls(edits: Sequence[AnyEdit], index: Index, calls: tuple[str, ...]) -> None:
    count = 0
    for edit in edits:
        for step, given in _changed(edit, index):
            tree = Index(Plan.model_construct(steps=(step,)))
            count += len(tree.nodes)
            _refuse_calls(tree, calls)
            refuse_secrets(step.id, tree, given)
    if count > MOST_STEPS:
        raise ValueError(f"it would put in or change {count} steps, and at most {MOST_STEPS} may be at once")


def _changed(edit: AnyEdit, index: Index) -> Iterator[tuple[AnyStep, frozenset[str]]]:
    """The steps that an edit puts in, or changes; and the secrets that they were given before."""
    match edit:
        case Insert():
            yield edit.insert, frozenset()
        case Replace():
            yield edit.step, frozenset()
        case Amend() if (node := index.by_id.get(edit.amend)) is not None and (step := node.step) is not None:
            yield _amended(step, edit), _secrets_of(step) if CALLED.isdisjoint(edit.fields) else frozenset()
        case _:
            return


def _amended(step: AnyStep, edit: Amend) -> AnyStep:
    """A step as it would be, without those inside it, which stay as they are."""
    inside: dict[str, Raw] = {"steps": []} if hasattr(step, "steps") else {}
    fields: dict[str, Raw] = {**own_fields(step), **inside, **edit.fields}
    written = {word: value for word, value in fields.items() if value is not None}
    [read] = read_edits([{"replace": step.id, "step": written}])
    return read.step if isinstance(read, Replace) else step


def _secrets_of(step: AnyStep) -> frozenset[str]:
    uses = (use.expression for use in uses_of(step))
    return frozenset[str]().union(
        *(names_in(each.references) for each in uses if not isinstance(each, ExpressionError))
    )


def _refuse_calls(tree: Index, calls: tuple[str, ...]) -> None:
    for node in tree.nodes:
        refuse_unbounded(node)
        for each in called_by(node):
            if not _may(each, calls):
                known = ", ".join(calls) or "nothing"
                raise ValueError(f"{node.id} calls the {each[0]} {each[1]!r}; whoever asks for it may call: {known}")


def _may(called: Called, calls: tuple[str, ...]) -> bool:
    return is_lent(called, calls) or (called[0] == "model" and called[1] in TIERS)

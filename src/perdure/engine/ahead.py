"""Where the exits of a step lead, in words, and which failure led to a step. Nothing is decided here."""

from dataclasses import dataclass
from typing import Final

from perdure.core.calls import Failure
from perdure.core.cells import Cell, Graph, Serial, Work
from perdure.core.diverting import offers
from perdure.core.ending import leads_to, plan_in
from perdure.core.ladder import WITHIN, ladder_of, owner_of
from perdure.core.learning import dependents_of
from perdure.core.state import State

_FEW: Final = 5
"""So many steps are named one by one."""


def follows(cell: Cell, exit_: str, kind: str = "") -> str:
    """What happens next if a step ends so; `kind` is that of its failure, if that is known."""
    to, is_partial = leads_to(cell, exit_, Failure(kind, "") if kind else None)
    match to:
        case "next" if is_partial:
            return f"{_onwards(cell)}, with what there is"
        case "next":
            return _onwards(cell)
        case "done":
            return _over(cell.parent)
        case "fail":
            return _fails(cell.parent)
        case "recover":
            return _recovers(cell, kind)
        case _:
            return f"goes on with {to}"


def fails(cell: Cell, kind: str) -> str:
    """What happens next if a step, or what it holds, fails so: what it offers itself comes first."""
    for rung in ladder_of(cell, kind):
        if rung not in WITHIN:
            break
        if offers(cell, kind, rung):
            return _WITHIN[rung]
    return follows(cell, "failure", kind)


_WITHIN: Final = {
    "retry": "is tried again",
    "simplify": "goes on in its simpler way",
    "alternate": "goes on in another way",
}


def _onwards(cell: Cell) -> str:
    parent = cell.parent
    if parent is None:
        return "the run is over"
    if isinstance(parent.body, Graph):
        return _lets_begin(cell, parent, parent.body)
    later = parent.tree.children[cell.position + 1 :]
    return f"goes on with {later[0].id}" if later else _over(parent)


def _lets_begin(cell: Cell, parent: Cell, body: Graph) -> str:
    waiting = dependents_of(parent, body, cell.position) if body.left else []
    names = [parent.tree.children[each].id for each in waiting[:_FEW] if each < len(parent.tree.children)]
    more = f" and {len(waiting) - len(names)} more" if len(waiting) > len(names) else ""
    return f"is done, which {', '.join(names)}{more} waited for" if names else "is done; no other step waited for it"


def _over(group: Cell | None) -> str:
    return "the run is over" if group is None or group.parent is None else f"{group.key} is over"


def _fails(group: Cell | None) -> str:
    return "the run fails" if group is None or group.parent is None else f"{group.key} fails"


def _recovers(cell: Cell, kind: str) -> str:
    """The step fails, and nothing in the plan says where that leads: it is the failure of the group around it."""
    after = next((rung for rung in ladder_of(cell, kind) if rung not in WITHIN), "")
    if kind and owner_of(cell, kind) is not None and after in _AFTER:
        return _AFTER[after]
    if _has_table(cell):
        return "fails; its recovery says what follows"
    parent = cell.parent
    if parent is None or parent.parent is None:
        return "fails, and the run with it" if isinstance(parent and parent.body, Serial) else "fails"
    if not isinstance(parent.body, Serial):
        return f"fails; {parent.key} decides what follows"
    after = fails(parent, kind) if kind else follows(parent, "failure")
    return f"fails, and {parent.key} with it, which {_as_clause(after)}"


_AFTER: Final = {
    "ask": "fails, and a person is asked how to go on",
    "rollback": "fails, and what was done is taken back",
}


def _as_clause(words: str) -> str:
    """What a group does next, in the middle of a sentence."""
    return words if words.startswith(("goes", "fails", "is ")) else f"means that {words}"


def _has_table(cell: Cell) -> bool:
    for each in (cell, *cell.around):
        plan = each.scope.outline.plan if each.parent is None else plan_in(each)
        own = each.traits.working.recovery if each.traits.working else {}
        if own or (plan is not None and plan.recovery):
            return True
    return False


# ------------------------------------------------------------------------------- what led here


@dataclass(frozen=True, slots=True)
class Led:
    """The failure after which a step was entered."""

    step: str
    """Whose failure it was."""
    kind: str
    message: str
    attempts: int
    """How often it was tried."""


def led_to(state: State, cell: Cell) -> Led | None:
    """The failure that led to a step: that of the step before it, or before the group that it begins."""
    for each in (cell, *cell.around):
        body = each.parent.body if each.parent else None
        last = body.last if isinstance(body, Serial) else None
        if last is not None:
            return _failed(state, last)
    return None


def _failed(state: State, cell: Cell) -> Led | None:
    result = cell.result
    if result is None or result.failure is None:
        return None
    blamed = state.cells.get(result.cause, cell) if result.cause else cell
    attempts = blamed.body.attempt if isinstance(blamed.body, Work) else 0
    return Led(blamed.key, result.failure.kind, result.failure.message, attempts)

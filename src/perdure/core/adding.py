"""Steps that a result adds to the plan: those it lists as `next_steps`, if the plan lets its step `grow`.

What a tool or a model gives may come from anybody. So the plan says where such steps go, how many they are, and what
they may call; they name no secret, and cannot add further ones. Whatever they do is judged like all else.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import count
from typing import Any, Final

from perdure.core import events as e
from perdure.core.adjusting import propose, revise
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.entrusting import NotGiven, refuse_secrets
from perdure.core.lending import Called, called_by, is_lent, refuse_unbounded
from perdure.core.occasion import Adjustment
from perdure.core.refusing import NotRevised
from perdure.core.revising import as_facts
from perdure.core.values import Value
from perdure.plan.edits import Insert, read_edits
from perdure.plan.index import Index
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Growth
from perdure.plan.raw import is_list, is_mapping

NEXT: Final = e.NEXT_STEPS
"""Where a result lists them; and who has added them."""
MOST_SAID: Final = 80
"""How much of something that is no step is told, in characters."""
MOST_TOLD: Final = 20
"""Tools that a sentence names."""


def refused_growth(turn: Deciding, cell: Cell, output: Value | None) -> Failure | None:
    """Add what a result asks for to the plan; why that cannot be."""
    growth, value = cell.traits.grows, output.load(turn.read) if output else None
    wanted = deepcopy(value.get(NEXT)) if is_mapping(value) else None
    if growth is None or not wanted or not turn.state.rules.planning or cell.scope.kind != "run":
        return None
    try:
        edits = as_facts(list(_edits(cell, growth, wanted)))
        _look_through(turn, cell, growth, edits)
        proposal = propose(turn, cell, NEXT, Adjustment(edits, f"{cell.key} asks for {len(edits)} more"))
    except (ValueError, NotRevised) as error:
        told = error.message if isinstance(error, NotRevised) else str(error)
        return Failure("denied" if isinstance(error, NotGiven) else "unmet", f"{NEXT} cannot be taken: {told}")
    revise(turn, *proposal)
    return None


def _edits(cell: Cell, growth: Growth, wanted: Any) -> Iterator[dict[str, Any]]:
    if not is_list(wanted):
        raise ValueError("it is no list of steps")
    known = cell.scope.outline.index.by_id
    names = (name for n in count(1) if (name := f"{cell.traits.id}_{n}") not in known)
    for step in wanted:
        if not is_mapping(step):
            raise ValueError(f"{str(step)[:MOST_SAID]!r} is no step")
        yield {"insert": step if "id" in step else {"id": next(names), **step}, "into": growth.into}


# ------------------------------------------------------------------------------- what they may do


def _look_through(turn: Deciding, cell: Cell, growth: Growth, edits: Iterable[Any]) -> None:
    """`ValueError` if there are too many new steps, or one calls, names or adds what it may not."""
    new, known = _tree_of(edits), cell.scope.outline.index
    earlier = (each.edits for each in turn.state.revised if (each.after, each.by) == (cell.key, NEXT))
    left = growth.most - sum(len(_tree_of(each).nodes) for each in earlier)
    if len(new.nodes) > left:
        raise ValueError(f"they are {len(new.nodes)}, and {left} may still be added")
    own = {each for node in known.nodes for each in called_by(node)}
    for node in new.nodes:
        refuse_unbounded(node)
        for each in called_by(node):
            if each not in own and not is_lent(each, growth.tools or ()):
                raise ValueError(f"{node.id} calls the {each[0]} {each[1]!r}; {_told(growth, own)}")
    refuse_secrets(NEXT, new, frozenset())


def _tree_of(edits: Iterable[Any]) -> Index:
    steps = tuple(edit.insert for edit in read_edits(list(edits)) if isinstance(edit, Insert))
    return Index(Plan.model_construct(steps=steps))


def _told(growth: Growth, own: Iterable[Called]) -> str:
    names = sorted({name for kind, name in own if kind == "tool"} | set(growth.tools or ()))
    return f"it may call: {', '.join(names[:MOST_TOLD])}"

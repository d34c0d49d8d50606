"""The recovery ladder: which rungs there are for a failure, and whose table says so. Data, and how it is looked up.

What a step itself offers (`retry`, `simpler`, `relaxed`, `alternates`) is used first, as far as it makes sense for the
kind of failure. What comes then is said by the nearest table that knows the kind: the step's, then those of the groups
and plans around it, then the one below. A table that names what a step offers says when that is used.
"""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from perdure.core.cells import Body, Cell
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Recovery, Retry
from perdure.plan.model.steps import SubplanStep

Rungs = tuple[str, ...]
OWN: Final[Mapping[str, Rungs]] = {
    "transient": ("retry", "simplify", "alternate"),
    "rate_limited": ("retry", "alternate"),
    "timeout": ("retry", "simplify", "alternate"),
    "unavailable": ("retry", "alternate"),
    "invalid": ("simplify", "alternate"),
    "unmet": ("retry", "simplify", "relax", "alternate"),
    "logic": ("retry", "simplify", "alternate"),
    "denied": ("alternate",),
    "budget": (),
    "stalled": ("simplify", "alternate"),
    "in_doubt": (),
    "cancelled": (),
    "unknown": ("retry", "simplify", "alternate"),
}
"""What of a step's own is of use against a kind of failure, in this order."""
AFTER: Final[Mapping[str, Rungs]] = {"stalled": ("replan", "ask", "fail")}
"""What comes then, where no table says anything; for all other kinds `replan`, then `fail`."""
_LAST: Final[Rungs] = ("replan", "fail")
UNASKED: Final = {"other": ["fail"], "stalled": ["fail"]}
"""A table, as a plan writes it, by which no person is ever asked: whoever waits for the step goes on without it."""
WITHIN: Final = frozenset({"retry", "simplify", "relax", "alternate"})
"""Rungs that a visit takes before it is over."""
PATIENT: Final[Mapping[str, Retry]] = dict.fromkeys(
    ("transient", "rate_limited", "unavailable"),
    Retry.model_construct(),  # as it is by default; nothing in it has to be looked at, which would take a while
)
"""How often it is tried where a step does not say: whoever fails so says that it may well work later."""


def plan_in(cell: Cell) -> Plan | None:
    """The plan that a sub-plan holds, written in place or called by name; None where another way is gone."""
    step = cell.step
    if not isinstance(step, SubplanStep) or cell.traits.usual is not None:
        return None
    return step.plan if isinstance(step.plan, Plan) else cell.within.outline.plan


def ladder_of(cell: Cell, kind: str) -> Rungs:
    """All rungs for a failure of a step, in order."""
    _, said = _said(cell, kind)
    own = tuple(rung for rung in OWN.get(kind, ()) if rung not in said)
    return (*own, *said)


def goes_on(cell: Cell, kind: str) -> bool:
    """Whether the plan goes on in spite of a failure that no other rung is for."""
    _, said = _said(cell, kind)
    return next((rung for rung in said if rung in {"continue", "fail"}), "fail") == "continue"


def owner_of(cell: Cell, kind: str) -> Cell | None:
    """Whose table says what comes after a failure; None: nobody's."""
    return _said(cell, kind)[0]


def _said(cell: Cell, kind: str) -> tuple[Cell | None, Rungs]:
    for owner, table in _tables(cell):
        named = cast("Mapping[str, Rungs]", table)
        rungs = named.get(kind, named.get("other"))
        if rungs is not None:
            return owner, rungs
    return None, AFTER.get(kind, _LAST)


def _tables(cell: Cell) -> Iterator[tuple[Cell, Recovery]]:
    """The recovery tables that hold for a step, its own first; a plan's come before those of whoever called it."""
    if cell.traits.working is not None:
        yield cell, cell.traits.working.recovery
    for group in (cell, *cell.around) if cell.parent is None else cell.around:
        plan = group.scope.outline.plan if group.parent is None else plan_in(group)
        if plan is not None:
            yield group, plan.recovery
        if group.traits.working is not None:
            yield group, group.traits.working.recovery


def has_tries(cell: Cell, kind: str) -> bool:
    """Whether a visit may be tried once more."""
    policy, body = patience_of(cell, kind), cell.body
    tries = body.tries if isinstance(body, Body) else body.counted if body else 0
    return policy is not None and tries < policy.attempts


def patience_of(cell: Cell, kind: str) -> Retry | None:
    """How often and how patiently a visit is tried after a failure; None: not again.

    What a group holds was tried patiently before, so a group is done again only if it says so itself.
    """
    own = cell.traits.working.retry if cell.traits.working else None
    if isinstance(cell.body, Body):
        return own
    _, said = _said(cell, kind)
    return own or PATIENT.get(kind) or (Retry() if "retry" in said else None)

"""Delegation: have a piece of work done by whoever is chosen for it, and by somebody else if that one cannot.

choose → agent                                  s1: the choice, with its reasons; s2: the work, on a seat of the agent
choose → agent, which fails → choose → agent    without those who have tried; what they did is undone
"""

from collections.abc import Callable, Sequence
from typing import Final

from perdure.agents.strategies.answering import passed_on
from perdure.agents.strategies.words import handed_on
from perdure.core.calls import Failure
from perdure.core.delegating import CHOOSE
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.raw import is_mapping

FALLING: Final = frozenset(
    {"transient", "rate_limited", "timeout", "unavailable", "invalid", "unmet", "logic", "stalled", "unknown"}
)
"""Failures after which somebody else may try. Of a doubt people have to know; what is denied stays denied."""
PATIENCE: Final = {"attempts": 1_000_000, "wait": 1, "factor": 1.5, "max_wait": 15}
"""How often is asked again while all are at work."""
CHOICE: Final = "choice"
Way = Callable[[str, str], str]
"""How an agent works, by its name and by what the step says."""


def is_delegated(view: View) -> bool:
    """Whether a group under way is one of these."""
    return is_mapping(view.memo) and CHOICE in view.memo


def delegate(view: View, among: Sequence[str], way: Way) -> Move | Finish | None:
    """Choose, have it done, and choose again. `among`: whom it may be, in this order; empty: who has the skills."""
    if view.live:
        return None
    if view.first:
        return _choose(view, among, ())
    last, tried = view.fresh[-1], view.memo["tried"]
    if last.tag == CHOICE:
        return _given(view, last, tried, way) if last.exit == "success" else _nobody(view, last, tried)
    if last.failure is not None and last.failure.kind in FALLING:
        return _choose(view, among, tried, last.id)
    return passed_on(last, keep=[last.id])


def _choose(view: View, among: Sequence[str], tried: Sequence[str], failed: str = "") -> Move:
    wanted = {"skills": list(view.skills), "among": list(among), "without": list(tried), "priority": view.priority}
    given = {word: value for word, value in wanted.items() if value}
    step = {"tool": CHOOSE, "with": given, "retry": PATIENCE, "recovery": {"stalled": ["fail"]}}
    id_ = f"s{view.born + 1}"
    dropped = [failed] if failed else []
    return Move(add=[step], drop=dropped, tags={id_: CHOICE}, memo={CHOICE: id_, "tried": list(tried)})


def _given(view: View, choice: Child, tried: Sequence[str], way: Way) -> Move:
    """Give it to the one who was chosen."""
    name, seat = choice.output["agent"], choice.output["seat"]
    step = {"agent": name, "strategy": way(name, view.strategy), **handed_on(view)}
    step |= {"locks": [seat]} if seat else {}
    # Somebody else is looked for before people are asked.
    step["recovery"] = {kind: ["fail"] for kind in sorted(FALLING)}
    return Move(add=[step], tags={f"s{view.born + 1}": name}, memo={CHOICE: choice.id, "tried": [*tried, name]})


def _nobody(view: View, choice: Child, tried: Sequence[str]) -> Finish:
    """Nobody can, or all who could have failed."""
    last = view.child(f"s{view.born - 1}") if tried else None
    if last is None or last.failure is None:
        return Finish("failure", failure=choice.failure)
    told = f"{', '.join(tried)} could not do it, and nobody else could: {last.failure.message}"
    return Finish("failure", failure=Failure(last.failure.kind, told))

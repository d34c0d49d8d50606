"""Whether a revised plan lets a run spend more, or touch more, than the plan did before. Only people may say so."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from perdure.core.ledger import WORDS
from perdure.plan.index import Holder
from perdure.plan.model.parts import Budget, Policy
from perdure.plan.problems import Problem
from perdure.plan.raw import is_mapping

_OPENING: Final = frozenset({"read", "write", "allow"})
"""Lists that let something be; without one, everything that is around it holds."""


def widenings(before: Holder, after: Holder, *, widen: bool) -> list[Problem]:
    """What would become wider, and what nobody has counted until now, each with what to do instead."""
    old, new = before.budget or Budget(), after.budget or Budget()
    hint = "narrow it, or let a person say so: --widen"
    words = [] if widen else [*_more(old, new), *_wider(_lists(before.policy), _lists(after.policy))]
    problems = [Problem("PRD1510", f"{word} of the plan would become wider", (word,), hint) for word in words]
    hint = f"give a budget to the steps that are still to come, or limit: {', '.join(_limited(old)) or 'nothing'}"
    uncounted = [word for word in _limited(new) if word not in _limited(old)]
    told = "of the plan cannot be limited now: it was not counted from the start"
    return problems + [Problem("PRD1510", f"budget.{word} {told}", (f"budget.{word}",), hint) for word in uncounted]


def _limited(budget: Budget) -> list[str]:
    return [word for word in WORDS if getattr(budget, word) is not None]


def _more(before: Budget, after: Budget) -> Iterator[str]:
    for word in WORDS:
        old, new = getattr(before, word), getattr(after, word)
        if old is not None and (new is None or new > old):
            yield f"budget.{word}"


def _lists(policy: Policy | None) -> dict[str, list[Any]]:
    """Every list of a policy, by where it stands. A list of hosts is what may be reached."""
    found: dict[str, list[Any]] = {}
    for word, part in (policy.model_dump(mode="json", exclude_none=True) if policy else {}).items():
        listed = [word] * part if isinstance(part, bool) else part  # what is said to hold is taken away by saying less
        inside: Mapping[str, Any] = part if is_mapping(part) else {"allow" if word == "network" else "": listed}
        found |= {f"policy.{word}.{each}".rstrip("."): items for each, items in inside.items()}
    return found


def _wider(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> Iterator[str]:
    for place, old in before.items():
        new = after.get(place)
        if place.rpartition(".")[2] in _OPENING:
            if new is None or any(each not in old for each in new):
                yield place
        elif any(each not in (new or ()) for each in old):
            yield place

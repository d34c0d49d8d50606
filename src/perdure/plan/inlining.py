"""Inlining: plans that are called by name are written where they are called, so that a plan stands for itself.

Ids are unique in a whole document. So a step `tests` that calls a plan with the steps `run` and `read` holds
`tests_run` and `tests_read` afterwards, and all that named them names these.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from perdure.plan.model.document import Plan, written_out
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.referring import Names, referring

INSIDE: Final = frozenset({"steps", "plan"})
NAMING: Final = frozenset({"id", "rollback", "after"})
"""Fields that hold the id of a step."""
Step = Mapping[str, Raw]


class Endless(ValueError):
    """A plan calls itself, by whatever way."""


def inlined(plan: Plan, plans: Mapping[str, Plan]) -> Plan:
    """The plan with every sub-plan of these names in its place; those of other names stay. `Endless` if none ends."""
    return Plan.model_validate(_filled(written_out(plan), plans, ()))


def _filled(raw: Step, plans: Mapping[str, Plan], around: tuple[str, ...]) -> dict[str, Raw]:
    return {**raw, "steps": [_step(each, plans, around) for each in raw["steps"]]}


def _step(raw: Step, plans: Mapping[str, Plan], around: tuple[str, ...]) -> Step:
    called = raw.get("plan")
    if is_mapping(called):
        return {**raw, "plan": _filled(called, plans, around)}
    if not isinstance(called, str) or called not in plans:
        return _filled(raw, plans, around) if "steps" in raw else raw
    if called in around:
        raise Endless(f"{' calls '.join((*around, called))}, and so on")
    inside = _filled(written_out(plans[called]), plans, (*around, called))
    names = {id_: f"{raw['id']}_{id_}" for id_ in _ids_in(inside)}
    return {**raw, "plan": _renamed(inside, names)}


# ------------------------------------------------------------------------------- other ids


def _ids_in(holder: Step) -> Iterator[str]:
    for each in (*holder.get("steps", ()), *([holder["plan"]] if is_mapping(holder.get("plan")) else ())):
        if "id" in each:
            yield each["id"]
        yield from _ids_in(each)


def _renamed(item: Step, names: Names) -> dict[str, Raw]:
    """A plan or a step with other ids in all that it says, and in all that it holds."""
    own = referring({word: value for word, value in item.items() if word not in INSIDE}, names)
    told = {word: _named(word, value, names) for word, value in own.items()}
    if is_list(item.get("choices")):
        told["on"] = {**{each: names[each] for each in item["choices"] if each in names}, **(told.get("on") or {})}
    if "steps" in item:
        told["steps"] = [_renamed(each, names) for each in item["steps"]]
    if "plan" in item:
        told["plan"] = _renamed(item["plan"], names) if is_mapping(item["plan"]) else item["plan"]
    return told


def _named(word: str, value: Raw, names: Names) -> Raw:
    if word in NAMING:
        return names.get(value, value)
    if word == "on" and is_mapping(value):
        return {exit_: names.get(target, target) for exit_, target in value.items()}
    if word == "context" and is_mapping(value):
        return {**value, "from": _listed(value.get("from", "all"), names)}
    return _listed(value, names) if word in {"results", "checkpoints"} else value


def _listed(value: Any, names: Names) -> Raw:
    return [names.get(each, each) if isinstance(each, str) else each for each in value] if is_list(value) else value

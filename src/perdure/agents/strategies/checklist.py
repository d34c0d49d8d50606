"""A plan as a list with a mark at each step: pending, running, done, failed or skipped. It follows from the calls.

A call that is made belongs to the first step of the plan that wants its tool and is still to be done, else to one that
failed. A step that no call was made for is skipped once all that needed it is done; if it wants no tool, it was thought
of, and is done with them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from perdure.agents.strategies.words import Words
from perdure.core.growth import Child
from perdure.plan.raw import is_list, is_mapping

OPEN: Final = ("pending", "failed")
"""Marks of steps that a call may be for, in this order."""
LONGEST: Final = 100
Marks = Mapping[str, str]
"""How each step stands, by its id."""


@dataclass(frozen=True, slots=True)
class Item:
    """A step of the plan, as far as it can be ticked off."""

    id: str
    tool: str
    """Empty: it calls none."""
    needs: tuple[str, ...]
    title: str = ""


def items_in(plan: Any) -> tuple[Item, ...]:
    """The steps of a plan; of what is none, nothing."""
    steps: Any = plan.get("steps") if is_mapping(plan) else None
    return tuple(_item(each) for each in steps if is_mapping(each)) if is_list(steps) else ()


def _item(step: Mapping[str, Any]) -> Item:
    needs: Any = step.get("needs", ())
    names = tuple(map(str, cast("Iterable[Any]", needs))) if is_list(needs) else ()
    return Item(str(step.get("id", "")), str(step.get("tool", "")), names, str(step.get("title", ""))[:LONGEST])


def unmarked(items: Sequence[Item]) -> Marks:
    """As it stands before anything is done."""
    return {each.id: "pending" for each in items}


def ticked(items: Sequence[Item], marks: Marks, ended: Iterable[Child]) -> Marks:
    """The marks after some calls are over. What a child is for stands in its tag."""
    found = dict(marks)
    for child in ended:
        if is_mapping(child.tag) and child.tag.get("item") in found:
            found[child.tag["item"]] = "done" if child.exit == "success" else "failed"
    return _settled(items, found)


def _settled(items: Sequence[Item], marks: dict[str, str]) -> Marks:
    """With what follows for steps that nothing was called for; from the last to the first, as plans are written."""
    needed: dict[str, list[str]] = {}
    for each in items:
        for need in each.needs:
            needed.setdefault(need, []).append(each.id)
    for each in reversed(items):
        later = [marks[id_] for id_ in needed.get(each.id, ())]
        if marks[each.id] == "pending" and later and all(mark in {"done", "skipped"} for mark in later):
            marks[each.id] = "skipped" if each.tool else "done"
    return marks


def claimed(items: Sequence[Item], marks: Marks, tools: Mapping[str, str]) -> Mapping[str, str]:
    """Which step of the plan each new call is for, by the id of the call; those that are for none are left out."""
    left, found = dict(marks), dict[str, str]()
    for id_, tool in tools.items():
        wanted = [each.id for mark in OPEN for each in items if each.tool == tool and left[each.id] == mark]
        if wanted:
            found[id_], left[wanted[0]] = wanted[0], "running"
    return found


def told(items: Sequence[Item], marks: Marks) -> Words:
    """The list as a model reads it."""
    lines = [f"{number}. [{marks[each.id]}] {_line(each)}" for number, each in enumerate(items, 1)]
    return Words().say("\n".join(("\n\nWhere the plan stands:", *lines)))


def _line(item: Item) -> str:
    after = f" (after {', '.join(item.needs)})" if item.needs else ""
    return f"{item.id} {item.tool or 'model.think'}{after}" + (f": {item.title}" if item.title else "")

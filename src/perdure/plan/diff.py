"""Diff: what changed between two plans, step by step. A step is known by its id."""

import json
from bisect import bisect_left
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import rfc8785

from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan, own_fields
from perdure.plan.problems import written
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.visible import visible

ABSENT: Final = object()
"""Stands for a field that is not there, which is something else than null."""


@dataclass(frozen=True)
class Change:
    """A field that is not what it was."""

    field: str
    before: Raw = ABSENT
    after: Raw = ABSENT

    def as_json(self) -> dict[str, Raw]:
        """The change as plain data; a side that is absent is left out."""
        sides = {"before": self.before, "after": self.after}
        return {"field": self.field, **{side: value for side, value in sides.items() if value is not ABSENT}}


@dataclass(frozen=True)
class Move:
    """A step that stands elsewhere."""

    before: str
    after: str


@dataclass(frozen=True)
class Diff:
    """Everything that differs between two plans."""

    added: dict[str, str] = field(default_factory=dict[str, str])
    """New steps, with where they stand."""
    removed: dict[str, str] = field(default_factory=dict[str, str])
    """Steps that are gone, with where they stood."""
    changed: dict[str, list[Change]] = field(default_factory=dict[str, list[Change]])
    """Steps with other fields."""
    moved: dict[str, Move] = field(default_factory=dict[str, Move])
    """Steps in another group, or in another order among those that stayed."""
    plan: list[Change] = field(default_factory=list[Change])
    """Fields of the plan itself."""

    def __bool__(self) -> bool:
        return any((self.added, self.removed, self.changed, self.moved, self.plan))

    def as_json(self) -> dict[str, Any]:
        """The diff as plain data."""
        return {
            "added": self.added,
            "removed": self.removed,
            "changed": {name: [change.as_json() for change in changes] for name, changes in self.changed.items()},
            "moved": {name: asdict(move) for name, move in self.moved.items()},
            "plan": [change.as_json() for change in self.plan],
        }

    def lines(self) -> list[str]:
        """The diff for people: `+` added, `-` removed, `~` changed, `>` moved."""
        found = [f"~ plan  {_change(change)}" for change in self.plan]
        found += [f"+ {name}  at {where}" for name, where in self.added.items()]
        found += [f"- {name}  was at {where}" for name, where in self.removed.items()]
        found += [f"> {name}  from {move.before} to {move.after}" for name, move in self.moved.items()]
        found += [f"~ {name}  {_change(change)}" for name, changes in self.changed.items() for change in changes]
        return [visible(line) for line in found]


def _change(change: Change) -> str:
    if change.before is ABSENT:
        return f"{change.field}: {_value(change.after)} (new)"
    if change.after is ABSENT:
        return f"{change.field}: {_value(change.before)} (gone)"
    return f"{change.field}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Raw) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004  what a line can hold


def diff(before: Plan, after: Plan) -> Diff:
    """What must be done to the first plan to get the second."""
    old, new = Index(before), Index(after)
    both = [name for name in new.by_id if name in old.by_id]
    return Diff(
        added={name: _where(node) for name, node in new.by_id.items() if name not in old.by_id},
        removed={name: _where(node) for name, node in old.by_id.items() if name not in new.by_id},
        changed={name: changes for name in both if (changes := _step_changes(old.by_id[name], new.by_id[name]))},
        moved={name: Move(_where(old.by_id[name]), _where(new.by_id[name])) for name in _moved(old, new, both)},
        plan=_changes(own_fields(before), own_fields(after)),
    )


def _where(node: Node) -> str:
    return written(node.path)


def _step_changes(old: Node, new: Node) -> list[Change]:
    return _changes(_fields(old), _fields(new)) if old.step is not new.step else []


def _fields(node: Node) -> dict[str, Raw]:
    """A step's own fields, without the steps inside it, and those of the plan inside it."""
    own = own_fields(node.step) if node.step else {}
    inside = own_fields(node.holder) if isinstance(node.holder, Plan) else {}
    return {**own, **{f"plan.{key}": value for key, value in inside.items()}}


def _changes(old: dict[str, Raw], new: dict[str, Raw], prefix: str = "") -> list[Change]:
    found: list[Change] = []
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if same(before, after):
            continue
        if is_mapping(before) and is_mapping(after):
            found += _changes({**before}, {**after}, f"{prefix}{key}.")
        else:
            found.append(Change(f"{prefix}{key}", before, after))
    return found


def same(one: Raw, other: Raw) -> bool:
    """Whether two values are written alike: 1 and true are not, 1 and 1.0 are."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return one == other and rfc8785.dumps(one) == rfc8785.dumps(other)


def _moved(old: Index, new: Index, both: list[str]) -> list[str]:
    """The fewest steps that explain why the order is another."""
    found: list[str] = []
    families: dict[str, list[str]] = {}
    for name in both:
        parent = _parent(new.by_id[name])
        if parent != _parent(old.by_id[name]):
            found.append(name)
        else:
            families.setdefault(parent, []).append(name)
    for names in families.values():
        stayed = set(longest_rise([old.by_id[name].position for name in names]))
        found += [name for n, name in enumerate(names) if n not in stayed]
    place = {name: n for n, name in enumerate(both)}
    return sorted(found, key=place.__getitem__)


def _parent(node: Node) -> str:
    return node.parent.id if node.parent else ""


def longest_rise(numbers: list[int]) -> list[int]:
    """Places of a longest rising run of numbers, found in n log n."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_left(tails, number)
        tails[length : length + 1] = [number]
        ends[length : length + 1] = [place]
        before.append(ends[length - 1] if length else -1)
    run: list[int] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        run.append(place)
        place = before[place]
    return run

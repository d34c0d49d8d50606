"""Between two plans: the edits that make the second one of the first. A step is known by its id.

What stayed is amended where its fields differ; what stands elsewhere is taken out and put in again. So edits are small
where the change is, and nothing that stayed is named.
"""

from collections.abc import Iterator
from typing import Any

from perdure.plan.diff import longest_rise, same
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan, own_fields
from perdure.plan.model.edits import Amend, AnyEdit, Insert, Remove, Replace
from perdure.plan.raw import Raw


def edits_between(before: Plan, after: Plan) -> list[AnyEdit]:
    """The edits, in an order in which they can be taken."""
    old, new = Index(before), Index(after)
    stays = _staying(old, new)
    gone = [Remove(remove=node.id) for node in old.nodes if node.id not in stays and _is_top(node, stays)]
    return [*gone, *_amended(own_fields(before), own_fields(after), ""), *_inside(new.root, old, stays)]


def _staying(old: Index, new: Index) -> set[str]:
    """Steps that stay in their group, of the same kind, in an order that takes the fewest moves."""
    stays = {""}
    for group in new.groups:
        if group.id not in stays:
            continue
        known = old.by_id.get(group.id, old.root)
        both = [child for child in group.children if _stood_in(old.by_id.get(child.id), known, child)]
        rise = longest_rise([old.by_id[child.id].position for child in both])
        stays |= {both[place].id for place in rise}
    return stays


def _stood_in(was: Node | None, group: Node, child: Node) -> bool:
    return was is not None and was.parent is group and _is_like(was, child)


def _is_like(was: Node, now: Node) -> bool:
    """Whether one can be amended to be the other: both hold steps, or neither does; plans by name are no plans here."""
    return type(was.step) is type(now.step) and (was.holder is None) == (now.holder is None)


def _is_top(node: Node, stays: set[str]) -> bool:
    return node.parent is None or node.parent.id in stays


def _inside(now: Node, old: Index, stays: set[str]) -> Iterator[AnyEdit]:
    """What becomes of the steps in a group that stays."""
    last = ""
    first = next((child.id for child in now.children if child.id in stays), "")
    for child in now.children:
        step: Any = child.step
        if child.id in stays:
            yield from _changed(old.by_id[child.id], child)
            yield from _inside(child, old, stays)
        elif last:
            yield Insert(insert=step, after=last)
        else:
            yield Insert(insert=step, before=first) if first else Insert(insert=step, into=now.id)
        last = child.id


def _changed(was: Node, now: Node) -> Iterator[AnyEdit]:
    old, new = was.step, now.step
    assert old is not None and new is not None  # noqa: S101, PT018  every child is a step
    if isinstance(now.holder, Plan) and isinstance(was.holder, Plan):
        own: Any = new
        if [*_amended(own_fields(was.holder), own_fields(now.holder), "")]:
            yield Replace(replace=was.id, step=own)
            return
    yield from _amended(own_fields(old), own_fields(new), was.id)


def _amended(was: dict[str, Raw], now: dict[str, Raw], name: str) -> Iterator[AnyEdit]:
    fields = {word: now.get(word) for word in {**was, **now} if not same(was.get(word), now.get(word))}
    if fields:
        yield Amend(amend=name, fields=fields)

"""What a group learns when a step inside it ends, or when steps are added to it. Part of the fold."""

from collections.abc import Sequence
from heapq import heappush
from typing import Any

from perdure.core import events as e
from perdure.core.cells import MOST_ROUNDS, Cell, Ended, Graph, Grown, Result, Serial
from perdure.core.delegating import is_delegating
from perdure.core.outline import Outline
from perdure.core.state import State
from perdure.core.wiring import EQUAL, Rank, priority_of
from perdure.plan.index import Node
from perdure.plan.model.document import Plan

# ------------------------------------------------------------------------------- what a parent learns


def tell_parent(parent: Cell, cell: Cell, result: Result) -> None:
    """A step in a group is over."""
    body = parent.body
    assert isinstance(body, (Serial, Graph))  # noqa: S101  only groups have children
    body.live.pop(cell.position, None)
    if isinstance(body, Serial):
        body.cursor = cell.position
        body.last = body.last if result.passed else cell
        if body.rounds:
            _note_round(parent, body, cell, result)
    else:
        count(body, cell, result)
        if body.left:
            _free_dependents(parent, body, cell, result)


def _note_round(parent: Cell, body: Serial, cell: Cell, result: Result) -> None:
    """Remember what ended in a group that has loops; a jump back begins another round."""
    body.rounds[-1].append((cell, cell.visit, result))
    target = parent.within.outline.index.by_id.get(result.to)
    if target is not None and target.parent is parent.tree and target.position <= cell.position:
        body.rounds = [*body.rounds[1 - MOST_ROUNDS :], []]


def verdict_of(result: Result) -> str:
    """What an ended child is to a join: `good`, `bad` or `skipped`."""
    if result.exit == "skipped" and result.to == "next":
        return "skipped"
    return "good" if result.to in {"next", "done"} and result.exit != "cancelled" else "bad"


def count(body: Graph, cell: Cell, result: Result) -> None:
    """Add an ended child to what a join looks at."""
    body.over += 1
    body.fresh.append(cell)
    verdict = verdict_of(result)
    if verdict == "good":
        body.good += 1
        body.part += result.partial and result.exit == "failure"
    elif verdict == "bad":
        body.bad += 1
        body.failed.append(cell)
    if isinstance(body, Grown):
        body.news.append(cell)


def _free_dependents(parent: Cell, body: Graph, cell: Cell, result: Result) -> None:
    for position in dependents_of(parent, body, cell.position):
        count_need(body, position, result)
        body.left[position] -= 1
        if not body.left[position]:
            heappush(body.ready, (rank_of(parent, body, position), position))


def count_need(body: Graph, position: int, need: Result) -> None:
    """Note how something ended that a child needs."""
    verdict = verdict_of(need)
    if verdict != "good":
        counts = body.unmet if verdict == "bad" else body.skipped
        counts[position] = counts.get(position, 0) + 1


def node_at(parent: Cell, body: Graph, position: int) -> Node:
    """The step at a place in a graph, entered or not."""
    return body.added[position][0] if isinstance(body, Grown) else parent.tree.children[position]


def rank_of(parent: Cell, body: Graph, position: int) -> Rank:
    """Whether a child goes before others that could begin."""
    if not body.left:  # an item of a map
        return EQUAL
    if isinstance(body, Grown):
        return _rank_of_grown(body.added[position][0])
    return parent.within.outline.wiring(parent.tree).ranks[position]


def _rank_of_grown(node: Node) -> Rank:
    """Nobody knows what a strategy will add behind it."""
    return (-priority_of(node), 0)


def dependents_of(parent: Cell, body: Graph, position: int) -> list[int]:
    """Those who need a child."""
    if isinstance(body, Grown):
        return body.dependents.get(position, [])
    return parent.within.outline.wiring(parent.tree).dependents[position]


# ------------------------------------------------------------------------------- growth


def steps_grown(state: State, event: e.StepsGrown) -> None:
    """A map has its items, or a strategy has made a move."""
    cell = state.cells[event.step]
    body = cell.body
    assert isinstance(body, Graph)  # noqa: S101  nothing else grows
    if isinstance(body, Grown):
        _grow(body, event)
        body.born += [state.next_number()] * len(event.add)
        _drop(state, cell, body, event.drop)
        note_agent(state, cell, body)
    else:
        body.grown, body.total = True, event.items or 0
        body.ready = [(EQUAL, position) for position in range(body.total)]


def note_agent(state: State, cell: Cell, body: Grown) -> None:
    """Somebody is at work here, unless all that was done is to look for one."""
    if body.moves and not is_delegating(cell):
        state.agents[cell.key] = cell


def _grow(body: Grown, event: e.StepsGrown) -> None:
    body.moves += 1
    body.rounds = [*body.rounds[1 - MOST_ROUNDS :], ended_of(body)]
    body.news = []
    body.memo = event.memo
    body.tags.update(event.tags)
    for raw in event.add:
        _plant(body, raw)


def _drop(state: State, cell: Cell, body: Grown, ids: Sequence[str]) -> None:
    """What some children did is taken back from now on, the latest first. Nothing older than they are is looked at."""
    gone = {child.key: child.age for id_ in ids if (child := body.children.get(int(id_[1:]) - 1)) is not None}
    oldest = min(gone.values(), default=0)
    for effect in reversed(state.effects.values() if gone else ()):
        if effect.number <= oldest:
            break
        if not effect.over and effect.is_in(gone):
            effect.dropped = cell
            body.dropping[effect.cell.key, effect.visit] = effect
    if body.dropping:
        state.undoers[cell.key] = cell


def ended_of(body: Grown) -> list[Ended]:
    """What ended since the last move."""
    return [(each, each.visit, each.result) for each in body.news if each.result is not None]


def _plant(body: Grown, raw: dict[str, Any]) -> None:
    outline = Outline(Plan.model_validate({"steps": [raw]}))
    node = outline.index.root.children[0]
    position = len(body.added)
    body.added.append((node, outline))
    body.total += 1
    body.left.append(0)
    for need in dict.fromkeys(node.step.needs if node.step else ()):
        _await(body, int(need[1:]) - 1, position)
    if not body.left[position]:
        heappush(body.ready, (_rank_of_grown(node), position))


def _await(body: Grown, need: int, position: int) -> None:
    """A new step needs another one, which may be over already."""
    body.dependents.setdefault(need, []).append(position)
    cell = body.children.get(need)
    if cell is not None and cell.status == "over" and cell.result is not None:
        count_need(body, position, cell.result)
    else:
        body.left[position] += 1

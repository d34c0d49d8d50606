"""What a step is shown of earlier results, the newest first, fitted to a limit.

`all` are the steps that are surely over when the step begins. In a serial group those are the ones before it, and where
it loops all that have ended, with its own visit before; in a graph, those that it needs, and all that they need; among
the steps of an agent, also those that were over when it was added. The same holds in each group around it, up to the
plan, the item or the agent that it belongs to. What runs at the same time is not seen, so that a try that is made again
is shown the same. `needs` are the steps that it waits for: in a graph those it names so, in a serial group the one that
ended last; the first one of a group waits for what the group waits for. A group is seen as the steps in it. Steps that
were skipped have nothing to show.

Fitting goes by size alone, and no model is asked. A result is shown whole if it fits, with room left for a reference to
each older one (though for all of these no more than a quarter). If not, it is shortened to half of the room there is,
the oldest one to all of it. From the first one on for which that is too little there are references, and at last the
number of those that are left. So no more is read than is shown.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from perdure.core.cells import Body, Cell, Graph, Grown, Scope, Serial
from perdure.core.learning import node_at
from perdure.plan.model.parts import Context
from perdure.plan.model.steps import GroupStep
from perdure.plan.shortening import LEAST, is_deep, shortened
from perdure.plan.tokens import PIECES, size_of

REFERENCE: Final = 128
"""The pieces of tokens for which a reference to an older result is expected to find room."""
SUMMARY: Final = 300
"""A result is not shortened to fewer pieces of tokens than these."""
REST: Final = 60
"""The pieces of tokens that it takes to say how many are left."""
TITLE: Final = 120
"""The pieces of tokens of a title."""

Shown = dict[str, Any]
_NUMBER: Final = attrgetter("result.number")


# ------------------------------------------------------------------------------- which results


def earlier(cell: Cell, wanted: Context) -> list[Cell]:
    """The steps whose results a step is shown, the newest first."""
    if wanted.from_ == "all":
        tops = [cell, *_all(cell)]
    elif wanted.from_ == "needs":
        tops = _awaited(cell)
    else:
        tops = [each for name in wanted.from_ if (each := cell.scope.find(name)) is not None]
    return sorted(dict.fromkeys(_leaves(tops)), key=_NUMBER, reverse=True)


def seen_by(cell: Cell, wanted: Context) -> list[Cell]:
    """The same as they stood when its visit began, also if that is over: a conversation that goes on tells it again."""
    found, own = earlier(cell, wanted), cell.result if cell.status == "over" else None
    return found if own is None else [each for each in found if _NUMBER(each) < own.number]


def _all(cell: Cell) -> Iterator[Cell]:
    return (each for here, parent in _around(cell) for each in _before(here, parent))


def _awaited(cell: Cell) -> list[Cell]:
    """What led to a step, or to the innermost group around it that something has led to."""
    for here, parent in _around(cell):
        if isinstance(parent.body, Graph):
            found = [each for n, each in parent.body.children.items() if n in _needs(here.position, parent)]
        else:
            ended = (each for each in (cell, *_before(here, parent)) if _has_ended(each))
            found = sorted(ended, key=_NUMBER)[-1:]
        if found:
            return found
    return []


def _has_ended(cell: Cell) -> bool:
    return cell.result is not None and cell.result.exit != "skipped"


def _around(cell: Cell) -> Iterator[tuple[Cell, Cell]]:
    """A step and its group, then that group and the one around it, as far as can be seen."""
    here, top = cell, _top(cell.scope)
    while here is not top and here.parent is not None:
        yield here, here.parent
        here = here.parent


def _top(scope: Scope) -> Cell | None:
    """What holds all that can be seen from a scope: a grown step sees the others of its agent."""
    return scope.outer.holder if scope.kind == "grown" and scope.outer else scope.holder


def _before(here: Cell, parent: Cell) -> Iterator[Cell]:
    """The children of a group that are surely over when one of them begins."""
    body = parent.body
    if isinstance(body, Serial):
        loops = bool(body.rounds)
        yield from (each for n, each in body.children.items() if n < here.position or (loops and each is not here))
        return
    assert isinstance(body, Graph)  # noqa: S101  one or the other
    needed = _needed(here.position, parent)
    born = body.born[here.position] if isinstance(body, Grown) else 0
    for position, each in body.children.items():
        if position in needed or (each.result is not None and each.result.number < born):
            yield each


def _needed(position: int, parent: Cell) -> set[int]:
    """The places of all that a child of a graph needs, directly or not."""
    found, line = set[int](), [position]
    for each in line:
        places = _needs(each, parent) - found
        found |= places
        line.extend(places)
    return found


def _needs(position: int, parent: Cell) -> set[int]:
    body = parent.body
    assert isinstance(body, Graph)  # noqa: S101  asked of those alone
    step = node_at(parent, body, position).step
    names = step.needs if step else ()
    if isinstance(body, Grown):
        return {int(name[1:]) - 1 for name in names}
    return {parent.within.outline.index.by_id[name].position for name in names}


def _leaves(tops: Iterable[Cell]) -> list[Cell]:
    """Those of some steps that have something to show; of a group its steps, and itself if it failed by itself."""
    found, line = list[Cell](), [*tops]
    for cell in line:  # which gets longer by what is in groups
        result = cell.result
        if result is None or (result.passed and result.exit == "skipped"):
            continue
        if (children := _inside(cell)) is not None:
            line.extend(children)
            if result.failure is None or result.cause:
                continue
        found.append(cell)
    return found


def _inside(cell: Cell) -> Iterable[Cell] | None:
    """The steps of a group that can be seen from around it; None if it is none, or was not done as one."""
    if not isinstance(cell.step, GroupStep) or (cell.result is not None and cell.result.passed):
        return None
    body = cell.body
    return body.children.values() if isinstance(body, Body) and not isinstance(body, Grown) else None


# ------------------------------------------------------------------------------- how much of them


def fitted(cells: Sequence[Cell], tokens: int, load: Callable[[Cell], Any]) -> list[Shown]:
    """What is shown of some results, given the newest first: no more than so many tokens."""
    most = tokens * PIECES
    shown, room = list[Shown](), most - REST
    for n, cell in enumerate(cells):
        older = len(cells) - n - 1
        part = _part(cell, room - min(older * REFERENCE, most // 4), load, is_last=not older)
        if part is None:
            break
        shown.append(part)
        room -= size_of(part) + PIECES
    return [*shown, *_rest(cells[len(shown) :], room)]


def _part(cell: Cell, room: int, load: Callable[[Cell], Any], *, is_last: bool) -> Shown | None:
    """A result as a whole, or shortened; None if there is no room for that."""
    if room < REFERENCE:
        return None
    head, told = _head(cell), _told(cell, load)
    whole = {**head, **told}
    if size_of(whole) < room and not is_deep(whole):
        return whole
    share = (room if is_last else room // 2) - size_of(head) - LEAST
    return {**head, **_summary(told, share)} if share >= SUMMARY else None


def _head(cell: Cell) -> Shown:
    assert cell.result is not None  # noqa: S101  asked of those alone that are over
    title = shortened(cell.step.title, TITLE) if cell.step else ""
    undone = {"undone": True} if cell.result.undone else {}
    return {"step": cell.node.id, **({"title": title} if title else {}), "exit": cell.result.exit, **undone}


def _told(cell: Cell, load: Callable[[Cell], Any]) -> Shown:
    """Why it failed, and what it gave; nothing is said of nothing."""
    failure = cell.result.failure if cell.result else None
    told: Shown = {"failure": {"kind": failure.kind, "message": failure.message}} if failure is not None else {}
    output = load(cell) if _inside(cell) is None else None
    return told if output is None else {**told, "output": output}


def _summary(told: Shown, share: int) -> Shown:
    """The same in less; a failure takes half of it at most, if there is something besides."""
    if "output" not in told:
        return {name: shortened(each, share) for name, each in told.items()}
    failure = {"failure": shortened(told["failure"], share // 2)} if "failure" in told else {}
    return {**failure, "summary": shortened(told["output"], share - (size_of(failure) if failure else 0))}


def _rest(cells: Sequence[Cell], room: int) -> Iterator[Shown]:
    """References, as long as there is room, then how many there are besides."""
    for n, cell in enumerate(cells):
        reference = _reference(cell)
        room -= size_of(reference) + PIECES
        if room < 0:
            yield {"more": len(cells) - n}
            return
        yield reference


def _reference(cell: Cell) -> Shown:
    assert cell.result is not None  # noqa: S101  asked of those alone that are over
    failure = {"failure": cell.result.failure.kind} if cell.result.failure else {}
    return {"step": cell.node.id, "exit": cell.result.exit, **failure, "reference": f"steps.{cell.node.id}"}

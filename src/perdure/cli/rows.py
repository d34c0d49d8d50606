"""A run as a tree of rows: what is over in short, what is at work at length, and never more rows than asked for."""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from perdure.cli.telling import clock, failure_words, lowered, seconds, value_words
from perdure.core.cells import Body, Cell, Grown, Result, Work
from perdure.core.seeing import item_of, output_of
from perdure.core.state import State
from perdure.engine import View
from perdure.plan.expr import ExpressionError
from perdure.plan.index import Node
from perdure.plan.visible import visible

SMALL: Final = 12
"""A group of so many steps is shown whole while somebody watches."""
AT_WORK: Final = 8
LATELY: Final = 3
SOON: Final = 2
BAR: Final = 10
_WORDS: Final = {"skipped": ("-", "dim"), "left": ("-", "dim"), "cancelled": ("■", "yellow")}
_BAD: Final = frozenset({"failure", "exhausted"})
_WORSE: Final = frozenset({"fail", "recover"})
"""Where a step leads that has not come to a good end; any other one goes on, maybe elsewhere."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree."""

    depth: int
    mark: str
    name: str
    words: str
    style: str
    """A colour, for terminals."""

    @property
    def text(self) -> str:
        """The row without colours."""
        return f"{'  ' * self.depth}{self.mark} {self.name}  {self.words}".rstrip()


@dataclass(frozen=True, slots=True)
class Look:
    """How much of a run is shown."""

    many: int | None = SMALL
    """Groups with more steps are shown in part; None: none are."""
    within: bool = False
    """Whether the steps of groups that are over are shown too."""
    outputs: bool = False
    """Whether what steps gave is shown."""


def rows(view: View, look: Look, now: int | None = None) -> Iterator[Row]:
    """The steps of a run from the first to the last, groups before what is in them."""
    root = view.state.root
    if root is not None:
        yield from _Painter(view, look, now or int(time.time() * 1000)).inside(root, 0)


class _Painter:
    def __init__(self, view: View, look: Look, now: int) -> None:
        self.view, self.look, self.now = view, look, now
        self.state: State = view.state

    # ------------------------------------------------------------ which steps

    def inside(self, group: Cell, depth: int) -> Iterator[Row]:
        """The rows of a group's steps."""
        body = group.body
        if not isinstance(body, Body):
            return
        total = _size(group, body)
        if self.look.many is None or total <= self.look.many:
            for position in range(total):
                yield from self._place(group, body, position, depth)
            return
        yield from self._window(group, body, total, depth)

    def _window(self, group: Cell, body: Body, total: int, depth: int) -> Iterator[Row]:
        """Some that are over, those at work, and how many others there are; the work is the same for any number."""
        live = [each.position for each in islice(body.live.values(), AT_WORK)]
        over = [
            each.position for each in islice(reversed(body.children.values()), AT_WORK + LATELY) if not each.is_live
        ]
        shown = sorted({*live, *over[:LATELY]})
        last = shown[-1] if shown else -1
        shown += range(last + 1, min(last + 1 + SOON, total)) if not isinstance(body, Grown) else ()
        for position in shown:
            yield from self._place(group, body, position, depth)
        yield Row(depth, "…", f"{total - len(shown):,} more", _counts(body, total), "dim")

    def _place(self, group: Cell, body: Body, position: int, depth: int) -> Iterator[Row]:
        cell = body.children.get(position)
        name = visible(_name(group, body, position), 60)
        if cell is None:
            yield Row(depth, "·", name, "", "dim")
            return
        yield self._row(cell, name, depth)
        if cell.is_live or self.look.within:
            yield from self.inside(cell, depth + 1)

    # ------------------------------------------------------------ one step

    def _row(self, cell: Cell, name: str, depth: int) -> Row:
        """A row of the tree; rows around it tell what else its key says."""
        mark, style = _mark(self.state, cell)
        words = (self._item(cell), *(self._over(cell) if cell.status == "over" else self._live(cell)))
        return Row(depth, mark, name, "  ".join(filter(None, words)), style)

    def _item(self, cell: Cell) -> str:
        """What an item of a map is, if it can still be told."""
        if not self.look.outputs or cell.parent is None or cell.parent.kind != "map":
            return ""
        with suppress(ExpressionError, IndexError, TypeError, KeyError):
            return value_words(item_of(self.state, cell.within), 40)
        return ""

    def _over(self, cell: Cell) -> Iterable[str]:
        result = cell.result
        if result is None:
            return ()
        undone = "undone" if result.undone else ""
        exit_ = "" if result.exit == "success" else visible(result.exit)
        why = failure_words(result.failure, 200) if result.failure and not result.cause else ""
        cause = f"because of {visible(result.cause)}" if result.cause else ""
        tier = lowered(cell.body.outcome.sandboxed) if isinstance(cell.body, Work) and cell.body.outcome else ""
        without = "went on without it" if result.partial else ""
        told = (exit_, undone, self._visits(cell), self._took(cell), _ways(cell), tier, why, cause, without)
        return *told, self._output(cell)

    def _took(self, cell: Cell) -> str:
        ended = self.view.ended.get(cell.key)
        return "" if ended is None or not cell.at or not cell.visit else seconds(ended - cell.at)

    def _visits(self, cell: Cell) -> str:
        return f"visit {cell.visit}" if cell.visit > 1 else ""

    def _output(self, cell: Cell) -> str:
        if not self.look.outputs or isinstance(cell.body, Body) or cell.result is None or cell.result.failure:
            return ""
        output = output_of(self.state, cell)
        return "" if output is None else f"→ {value_words(output, 80)}"

    def _live(self, cell: Cell) -> Iterable[str]:
        stopping = "stopping" if cell.status == "stopping" else ""
        took = seconds(self.now - cell.at)
        if isinstance(cell.body, Work):
            return stopping, self._visits(cell), *_work(cell.body), self._doubt(cell), took
        if isinstance(cell.body, Body):
            total = _size(cell, cell.body)
            counts = _counts(cell.body, total) if total > SMALL else ""
            return stopping, self._visits(cell), *_tries(cell.body, self.state), counts, took
        return stopping, self._waits(cell), took

    def _doubt(self, cell: Cell) -> str:
        question = self.state.questions.get(open_question(self.state, cell))
        return f"asks: {visible(question.text, 200)}" if question else ""

    def _waits(self, cell: Cell) -> str:
        if asked := self._doubt(cell):
            return asked
        waited: Any = getattr(cell.step, "wait", None)
        signal = f"waits for the signal {visible(waited.signal)}" if waited and waited.signal else ""
        until = f"waits until {clock(cell.due + self.state.paused)}" if cell.due is not None else ""
        return ", ".join(filter(None, (signal, until)))


def open_question(state: State, cell: Cell) -> str:
    """The open question of a step, or that of a tool that judges it; empty: there is none."""
    verdict = cell.body.verdict if isinstance(cell.body, Work) else None
    asked = (cell.question, verdict.question if verdict else "")
    return next((each for each in asked if each in state.questions), "")


def _ways(cell: Cell) -> str:
    """How it was done, if not as it is written."""
    return f"by {', '.join(cell.ways)}" if cell.ways else ""


def _size(group: Cell, body: Body) -> int:
    return int(getattr(body, "total", len(group.tree.children)))


def _counts(body: Body, total: int) -> str:
    made, live = len(body.children), len(body.live)
    bad = int(getattr(body, "bad", 0))
    words = (
        f"{made - live:,} of {total:,} over",
        f"{bad:,} failed" if bad else "",
        f"{live:,} under way" if live else "",
    )
    return ", ".join(filter(None, words))


def _name(group: Cell, body: Body, position: int) -> str:
    if isinstance(body, Grown):
        return body.added[position][0].id
    nodes: list[Node] = list(group.tree.children)
    return f"[{position}]" if group.kind == "map" else nodes[position].id


def _mark(state: State, cell: Cell) -> tuple[str, str]:
    if cell.status == "over" and cell.result is not None:
        return _mark_over(cell.result)
    if cell.key in state.flying:
        return "▶", "blue"
    if open_question(state, cell):
        return "?", "yellow"
    return ("▾", "cyan") if isinstance(cell.body, Body) else ("○", "yellow")


def _mark_over(result: Result) -> tuple[str, str]:
    if result.undone:
        return "↶", "magenta"
    if result.exit in _WORDS:
        return _WORDS[result.exit]
    is_failed = result.failure is not None or result.exit in _BAD or result.to in _WORSE
    return ("✗", "red") if is_failed else ("✓", "green")


def _work(work: Work) -> Iterator[str]:
    if work.flying and work.fraction:
        full = round(work.fraction * BAR)
        yield f"{'▰' * full}{'▱' * (BAR - full)} {work.fraction:.0%}"
    if work.message and work.flying:
        yield visible(work.message, 60)
    if work.attempt > 1:
        yield f"attempt {work.attempt}"
    if not work.flying and work.due is not None:
        failed = failure_words(work.outcome.failure, 80) if work.outcome else ""
        yield f"again at {clock(work.due)}"
        if failed:
            yield failed


def _tries(body: Body, state: State) -> Iterator[str]:
    """That a group is done again, or will be."""
    if body.tries > 1:
        yield f"attempt {body.tries}"
    if body.begins > state.clock(state.at):
        yield f"again at {clock(body.begins + state.paused)}"


def heading(view: View, now: int | None = None, left: str = "") -> str:
    """The run in a line: its id, how it is, for how long, how far. `left`: what is said of the rest."""
    state = view.state
    began = state.root.at if state.root else state.at
    until = state.at if state.ended else now or int(time.time() * 1000)
    goal = visible(state.started.goal, 60) if state.started else ""
    words = (goal, view.status.replace("_", " "), seconds(until - began), f"{state.steps_over:,} steps over", left)
    return f"{view.run}  " + " · ".join(filter(None, words))


def frame(view: View, most: int, now: int | None = None) -> list[Row]:
    """What fits on a screen of so many lines."""
    found = list(islice(rows(view, Look(), now), most + 1))
    if len(found) <= most:
        return found
    at_work = len(view.state.flying)
    return list(chain(found[: most - 1], [Row(0, "…", "", f"{at_work:,} at work, and more than fits here", "dim")]))

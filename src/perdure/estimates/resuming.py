"""A simulated run that goes on from where a real one stands."""

import math
from typing import Final

from perdure.core.cells import Body, Cell, Graph, Serial, Work
from perdure.core.state import State
from perdure.estimates.course import Course
from perdure.estimates.parts import Part
from perdure.estimates.past import Witness
from perdure.estimates.sources import Drawn
from perdure.estimates.standing import Group, Taken, Visit

DRAWS: Final = 6
"""So often something is drawn that takes longer than what is under way has taken already."""
LEAST_FRACTION: Final = 0.02
"""A step that reports less of itself has told nothing yet."""
REPORTED_WIDTH: Final = 0.2
"""How far off, as a power of e, a step is that says how far it is."""


class Resumed:
    """Puts a simulated run where a real one stands at a moment."""

    def __init__(self, course: Course, witness: Witness, now: int) -> None:
        self._course, self._witness = course, witness
        self._state: State = witness.state
        self._now = now
        """On the run's own clock."""

    def run(self) -> Taken:
        """Go on to the end."""
        course, root = self._course, self._state.root
        for id_, tries in self._witness.tries.items():
            if id_ in course.donated:
                del course.donated[id_][max(0, len(course.donated[id_]) - tries) :]
        course.draw_first()
        if root is None:
            course.enter(course.layout.root, None, 0)
        else:
            self._group(root, course.layout.root, None, 0)
        return course.go_on()

    # ------------------------------------------------------------ groups

    def _group(self, cell: Cell, part: Part, parent: Group | None, position: int) -> None:
        group, body = Group(part, parent, position), cell.body
        if parent is not None:
            parent.live[position] = group
        group.tries = body.tries if isinstance(body, Body) else 1
        if isinstance(body, Body):
            group.counts = {place: child.laps for place, child in body.children.items()}
        if isinstance(body, Serial):
            self._serial(body, group)
        elif isinstance(body, Graph) and (part.item is None or body.grown):
            self._graph(body, group)
        else:
            self._course.begin_group(group)

    def _serial(self, body: Serial, group: Group) -> None:
        live = next(iter(body.live.values()), None)
        if live is not None:
            self._child(live, group)
            return
        here = body.children.get(body.cursor)
        if here is None or here.result is None or here.status == "idle":
            self._course.soon_at(group, max(body.cursor, 0))
        else:
            self._course.soon_over(group, here.position, here.result.exit)

    def _graph(self, body: Graph, group: Group) -> None:
        came = {place for place, child in body.children.items() if child.status != "idle"}
        ready = [each for each in body.ready if each[1] not in came]
        group.open(body.total, group.part.limit, ready, body.left)
        group.over, group.good, group.bad = body.over, body.good, body.bad
        group.unmet, group.skipped = {place for place, count in body.unmet.items() if count}, dict(body.skipped)
        for child in body.live.values():
            self._child(child, group)
        self._course.soon_look(group)

    def _child(self, cell: Cell, group: Group) -> None:
        position = cell.position
        part = group.child(position)
        if cell.status == "stopping":
            self._course.soon_over(group, position, cell.leaving.exit if cell.leaving else "cancelled")
        elif part.kind in {"serial", "graph", "map"}:
            self._group(cell, part, group, position)
        else:
            self._leaf(cell, part, group)

    # ------------------------------------------------------------ steps

    def _leaf(self, cell: Cell, part: Part, group: Group) -> None:
        course = self._course
        visit = group.live[cell.position] = Visit(part, group, cell.position)
        work = cell.body if isinstance(cell.body, Work) else None
        if part.kind != "work":
            due = cell.due if part.lasts and cell.due is not None else None
            course.await_rest(visit, self._rest(cell, part) if due is None else self._until(due))
        elif work is None or work.flying:  # an agent has steps of its own under way, and counts as one
            visit.tries = max(0, (work.counted if work else 1) - 1)
            visit.since = -self._elapsed(cell)
            course.begin(visit, self._rest(cell, part))
        elif work.due is not None:
            visit.tries = work.counted
            course.want_later(visit, self._until(work.due))
        else:
            visit.tries = work.counted
            course.places.want(visit)

    def _until(self, due: int) -> int:
        return max(0, due - self._now) * 1_000

    def _elapsed(self, cell: Cell) -> int:
        return max(0, self._now - self._witness.began(cell.key)) * 1_000

    def _rest(self, cell: Cell, part: Part) -> Drawn:
        """What is left of a try: as it says itself, else as of those that took longer than it has taken."""
        course, elapsed = self._course, self._elapsed(cell)
        fraction = cell.body.fraction if isinstance(cell.body, Work) else 0.0
        drawn = course.draw(part)
        if fraction >= LEAST_FRACTION:
            left = elapsed * (1 - fraction) / fraction
            return drawn._replace(micros=round(left * math.exp(REPORTED_WIDTH * course.chance.gauss(0, 1))))
        for _ in range(DRAWS):
            if drawn.micros > elapsed:
                return drawn._replace(micros=drawn.micros - elapsed)
            drawn = course.draw(part)
        late = 0.5 * elapsed * math.exp(0.7 * course.chance.gauss(0, 1))  # who has kept us waiting goes on to do so
        return drawn._replace(micros=round(late))

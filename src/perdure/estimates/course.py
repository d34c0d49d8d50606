"""One simulated run: the plan in its order, with its limits, locks and places, and what its steps may well take.

It goes as the core goes: a serial group enters one child after the other, a graph those with the longest way first, and
places are given away by priority, then by age. Times are in millionths of a second.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any, Final

from perdure.core.chance import pause_before
from perdure.core.ladder import OWN
from perdure.core.wiring import EQUAL
from perdure.estimates.parts import Layout, Part, exit_of
from perdure.estimates.places import EVERYTHING, Places
from perdure.estimates.sources import Drawn
from perdure.estimates.standing import Group, Taken, Visit, all_skipped, verdict
from perdure.plan.model.steps import CheckpointStep, DecideStep, DoneStep, FailStep

MOST_VISITS: Final = 40
"""A run that visits each step so often, in the middle, is taken for one that does not end."""
LEAST_VISITS: Final = 20_000


class Course:
    """A run that is simulated."""

    def __init__(self, layout: Layout, chance: Random, spread: float = 1.0, extra: str = "") -> None:
        self.layout, self.chance, self.spread = layout, chance, spread
        self.taken = Taken()
        self.now = 0
        self.extra = extra
        """Of what there is one more than there really is, or more than anybody wants of `everything`."""
        self.donated: dict[str, list[Drawn]] = {}
        """What steps took in the earlier run that this one is like, by id; the first one last."""
        self.factor = 1.0
        """How much longer or shorter than that all takes."""
        self._first: list[Drawn | None] = []
        self._agenda: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._events: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._numbers = 0
        self.places = Places(layout.means, extra, self._start)
        self._flying = 0
        self._most = max(LEAST_VISITS, MOST_VISITS * len(layout.drawers)) + 2 * layout.items
        self._megabytes = 0.0

    # ------------------------------------------------------------ the clock

    def run(self) -> Taken:
        """From the beginning to the end."""
        self.draw_first()
        self.enter(self.layout.root, None, 0)
        return self.go_on()

    def draw_first(self) -> None:
        """Draw first tries in the order of the plan, so that they are the same ones whoever goes first."""
        self._first = [self._draw(part, 0) for part in self.layout.drawers]

    def go_on(self) -> Taken:
        """Until it is over."""
        taken, events = self.taken, self._events
        self._settle()
        while events and not taken.exit:
            at, _, do, what = heappop(events)
            if self._flying:
                taken.worked += at - self.now
            self.now = at
            do(what)
            self._settle()
        taken.took = self.now
        taken.exit = taken.exit or "stuck"
        return taken

    def after(self, micros: int, do: Callable[[Any], None], what: Any) -> None:
        """Do something later."""
        self._numbers += 1
        heappush(self._events, (self.now + micros, self._numbers, do, what))

    # ------------------------------------------------------------ going on from where a run stands

    def draw(self, part: Part) -> Drawn:
        """What one more try takes, whatever others there were."""
        return (
            part.ways[0][1].draw(self.chance, self.spread) if part.ways else Drawn(part.lasts, "success", "", 0, 0, 0)
        )

    def begin_group(self, group: Group) -> None:
        """It is entered, and nothing in it."""
        self._begin(group)

    def soon_at(self, group: Group, position: int) -> None:
        """It comes to a child next."""
        self._soon(self._enter_at, group, position)

    def soon_over(self, group: Group, position: int, exit_: str) -> None:
        """A child is over, and nothing has followed yet."""
        self._soon(self.child_over, group, position, exit_)

    def soon_look(self, group: Group) -> None:
        """Whoever may come is let in next."""
        self._soon(self.look, group)

    def want_later(self, visit: Visit, micros: int) -> None:
        """It is tried again after a pause."""
        self.after(micros, self._hungry_again, visit)

    def await_rest(self, visit: Visit, rest: Drawn | int) -> None:
        """Somebody or something outside is waited for a while longer."""
        visit.drawn = rest if isinstance(rest, Drawn) else None
        micros = rest.micros if isinstance(rest, Drawn) else rest
        self.taken.people += micros
        self.after(micros, self._woken, visit)

    # ------------------------------------------------------------ what happens

    def _settle(self) -> None:
        agenda = self._agenda
        while True:
            while agenda:
                do, given = agenda.popleft()
                do(*given)
            if self.taken.exit or not self.places.hungry or self.places.slots <= 0:
                return
            self.places.feed()

    def _soon(self, do: Callable[..., None], *given: Any) -> None:
        self._agenda.append((do, given))

    # ------------------------------------------------------------ chance

    def _draw(self, part: Part, way: int) -> Drawn:
        donated = self.donated.get(part.id) if way == 0 else None
        drawn = donated.pop() if donated else part.ways[way][1].draw(self.chance, self.spread)
        return drawn._replace(micros=round(drawn.micros * self.factor)) if self.factor != 1 else drawn

    def _next(self, part: Part, way: int) -> Drawn:
        if way == 0 and self._first and (first := self._first[part.number]) is not None:
            self._first[part.number] = None
            return first
        return self._draw(part, way)

    # ------------------------------------------------------------ entering

    def enter(self, part: Part, group: Group | None, position: int) -> None:
        """Come to a step."""
        if group is not None:
            count = group.counts[position] = group.counts.get(position, 0) + 1
            if part.max_visits is not None and count > part.max_visits:
                self._soon(self.child_over, group, position, "exhausted")
                return
            if part.passed and self.chance.random() < part.passed:
                self._soon(self.child_over, group, position, "skipped")
                return
        self.taken.steps += 1
        if self.taken.steps > self._most:
            self.taken.exit = "endless"
        elif part.kind in {"serial", "graph", "map"}:
            self._enter_group(part, group, position)
        elif group is not None:
            self._enter_leaf(part, group, position)

    def _enter_leaf(self, part: Part, group: Group, position: int) -> None:
        step = part.node.step
        if part.kind == "mark" and not part.ways:
            exit_ = "failure" if isinstance(step, FailStep) else "success"
            self._soon(self.child_over, group, position, exit_)
            return
        visit = group.live[position] = Visit(part, group, position)
        visit.at_rest = self.now
        if part.kind == "work":
            self.places.want(visit)
        else:
            self._wait(visit)

    def _wait(self, visit: Visit) -> None:
        """Somebody or something outside is waited for."""
        part = visit.part
        if not part.ways:
            self.after(part.lasts, self._woken, visit)
            return
        drawn = visit.drawn = self._next(part, 0)
        lasts = min(drawn.micros, part.lasts) if part.lasts else drawn.micros
        self.taken.people += lasts if part.kind != "mark" else 0
        self.after(lasts, self._woken, visit)

    def _woken(self, visit: Visit) -> None:
        if visit.alive:
            drawn = visit.drawn
            exit_ = "elapsed" if drawn is None else exit_of(visit.part, drawn, self.chance.random())
            self._leaf_over(visit, exit_)

    def _enter_group(self, part: Part, parent: Group | None, position: int) -> None:
        group = Group(part, parent, position)
        if parent is not None:
            parent.live[position] = group
        self._begin(group)

    def _begin(self, group: Group) -> None:
        part = group.part
        if not group.alive:
            return
        if part.kind == "serial":
            self._soon(self._enter_at, group, 0)
            return
        limit = (
            None if part.limit is None or self.extra == EVERYTHING else part.limit + (self.extra == f"limit {part.id}")
        )
        if part.kind == "map":
            total = part.items[int(self.chance.random() * len(part.items))]
            group.open(total, limit, [(EQUAL, n) for n in range(total)], ())
        else:
            free = [(rank, n) for n, rank in enumerate(part.ranks) if not part.needs[n]]
            group.open(len(part.children), limit, free, part.needs)
        group.ready_at = dict.fromkeys((n for _, n in group.ready), self.now)
        self._soon(self.look, group)

    def _enter_at(self, group: Group, position: int) -> None:
        if not group.alive:
            return
        if position >= len(group.part.children):
            self._group_over(group, "success")
        else:
            self.enter(group.part.children[position], group, position)

    # ------------------------------------------------------------ at work

    def _start(self, visit: Visit) -> None:
        part, taken = visit.part, self.taken
        if not visit.tries:
            visit.since = self.now
            taken.acts += 1
            if self.now > visit.at_rest:
                taken.waits[visit.cause or "slots"] += self.now - visit.at_rest
        self.begin(visit, self._next(part, visit.way))

    def begin(self, visit: Visit, drawn: Drawn) -> None:
        """A try is under way from now on."""
        part, taken = visit.part, self.taken
        self.places.take(visit)
        visit.drawn = drawn
        visit.tries += 1
        self._flying += 1
        self._megabytes += part.megabytes
        taken.at_once = max(taken.at_once, self._flying)
        taken.megabytes = max(taken.megabytes, self._megabytes)
        self.after(drawn.micros, self._ended, visit)

    def _ended(self, visit: Visit) -> None:
        if not visit.alive:
            return
        drawn, part, taken = visit.drawn, visit.part, self.taken
        assert drawn is not None  # noqa: S101  it was drawn when it began
        self._free(visit)
        taken.labour += drawn.micros
        taken.spent_on[part.id] += drawn.micros
        taken.tokens += drawn.tokens
        taken.calls += drawn.calls
        taken.usd += drawn.usd or 0.0
        taken.unpriced += drawn.usd is None
        if drawn.exit == "failure" and self._tried_again(visit, drawn.kind or "unknown"):
            return
        exit_ = exit_of(part, drawn, self.chance.random())
        goes_on = exit_ == "failure" and part.target("failure") == "recover" and part.goes_on(drawn.kind or "unknown")
        self._leaf_over(visit, exit_, goes_on=goes_on)

    def _free(self, visit: Visit) -> None:
        self.places.free(visit)
        self._flying -= 1
        self._megabytes -= visit.part.megabytes

    def _tried_again(self, visit: Visit, kind: str) -> bool:
        part = visit.part
        policy = part.patience(kind)
        if policy is not None and visit.tries < policy.attempts:
            pause = pause_before(self.chance.random(), visit.tries, policy, None) * 1_000
            if policy.within is None or self.now + pause - visit.since <= policy.within * 1_000_000:
                self.after(pause, self._hungry_again, visit)
                return True
        for way in range(visit.way + 1, len(part.ways)):
            if part.ways[way][0] in OWN.get(kind, ()):
                visit.way = way
                self.places.want(visit)
                return True
        return False

    def _hungry_again(self, visit: Visit) -> None:
        if visit.alive:
            self.places.want(visit)

    # ------------------------------------------------------------ ending

    def _leaf_over(self, visit: Visit, exit_: str, *, goes_on: bool = False) -> None:
        visit.alive = False
        self.places.unlock(visit)
        self._soon(self.child_over, visit.group, visit.position, exit_, goes_on)

    def child_over(self, group: Group, position: int, exit_: str, goes_on: bool = False) -> None:  # noqa: FBT001, FBT002  it waits in the agenda
        """A child of a group is over, or was passed by."""
        if not group.alive:
            return
        group.live.pop(position, None)
        part = group.child(position)
        if part is group.part.item:
            to = "next" if exit_ == "success" else "recover"
        elif isinstance(part.node.step, (DoneStep, FailStep)):
            to = "done" if isinstance(part.node.step, DoneStep) else "fail"
        elif isinstance(part.node.step, CheckpointStep) or (isinstance(part.node.step, DecideStep) and not part.ways):
            to = "next"
        else:
            to = "next" if goes_on else part.target(exit_)
        if group.part.kind == "serial":
            self._follow(group, position, to)
        else:
            self._count(group, position, exit_, to)

    def _follow(self, group: Group, position: int, to: str) -> None:
        match to:
            case "next":
                self._enter_at(group, position + 1)
            case "done":
                self._group_over(group, "success")
            case "fail" | "recover":
                self._group_over(group, "failure")
            case _:
                self._jump(group, to)

    def _jump(self, group: Group, to: str) -> None:
        """Go to a step of this group, or of one further out."""
        outer: Group | None = group
        while outer is not None and to not in outer.part.places:
            outer = outer.parent
        if outer is None or outer.part.kind != "serial":
            self._group_over(group, "failure")
            return
        self._kill_within(outer)
        self._enter_at(outer, outer.part.places[to])

    def _count(self, group: Group, position: int, exit_: str, to: str) -> None:
        group.over += 1
        if to not in {"next", "recover"}:
            if to in {"done", "fail"}:
                self._group_over(group, "success" if to == "done" else "failure")
            else:
                self._jump(group, to)
            return
        is_bad = to == "recover"
        group.bad += is_bad
        group.good += not is_bad and exit_ != "skipped"
        for dependent in group.part.dependents[position] if group.part.item is None else ():
            self._free_dependent(group, dependent, exit_, is_bad=is_bad)
        self.look(group)

    def _free_dependent(self, group: Group, dependent: int, exit_: str, *, is_bad: bool) -> None:
        group.left[dependent] -= 1
        if is_bad:
            group.unmet.add(dependent)
        if exit_ == "skipped":
            group.skipped[dependent] = group.skipped.get(dependent, 0) + 1
        if not group.left[dependent]:
            heappush(group.ready, (group.part.ranks[dependent], dependent))
            group.ready_at[dependent] = self.now

    def look(self, group: Group) -> None:
        """See whether a graph is over, and let in whoever may come."""
        if not group.alive:
            return
        found = verdict(group)
        if found:
            self._group_over(group, found)
            return
        part = group.part
        while group.ready and (group.limit is None or len(group.live) < group.limit):
            _, position = heappop(group.ready)
            waited = self.now - group.ready_at.pop(position, self.now)
            if waited:
                self.taken.waits[f"limit {part.id}"] += waited
            if position in group.unmet or (part.item is None and all_skipped(group, position)):
                self._soon(self.child_over, group, position, "skipped")
            else:
                self.enter(group.child(position), group, position)

    def _group_over(self, group: Group, exit_: str) -> None:
        if not group.alive:
            return
        self._kill_within(group)
        part = group.part
        if exit_ == "failure" and part.retry is not None and group.tries < part.retry.attempts:
            group.tries += 1
            group.good = group.bad = group.over = 0
            group.counts, group.unmet, group.skipped = {}, set(), {}
            pause = pause_before(self.chance.random(), group.tries - 1, part.retry, None) * 1_000
            self.after(pause, self._begin, group)
            return
        group.alive = False
        if group.parent is None:
            self.taken.exit = exit_
            return
        self._soon(self.child_over, group.parent, group.position, exit_)

    def _kill_within(self, group: Group) -> None:
        """Stop all that is live in a group."""
        stack: list[Visit | Group] = list(group.live.values())
        group.live.clear()
        while stack:
            each = stack.pop()
            each.alive = False
            if isinstance(each, Group):
                stack.extend(each.live.values())
                continue
            if each.at_work:
                self._free(each)
            self.places.unlock(each)

"""How long steps are expected to take, as far as their plan says. In millionths of a second, so that sums are exact."""

from collections.abc import Callable, Iterable, Iterator
from statistics import median_low
from typing import Final

from perdure.core.wiring import Wiring
from perdure.plan.index import Index, Node
from perdure.plan.model.steps import AnyStep, CheckpointStep, DecideStep, DoneStep, FailStep, MapStep, WaitStep, Working
from perdure.plan.raw import is_list

_SECOND: Final = 1_000_000


def usual_in(nodes: Iterable[Node]) -> int:
    """What a step counts that says nothing: as much as the middle one of those that say something, or a second.

    So a step is as long as others where nobody says anything, and where some do it neither vanishes beside them nor
    outweighs them all.
    """
    said = (_said(node.step) for node in nodes if node.holder is None)
    return median_low(known) if (known := [each for each in said if each is not None]) else _SECOND


def _said(step: AnyStep | None) -> int | None:
    """What a step says itself: what is expected of it, or how long it waits."""
    seconds = step.estimate.seconds if isinstance(step, Working) and step.estimate is not None else None
    if seconds is None and isinstance(step, WaitStep) and not isinstance(step.wait.for_, str):
        seconds = step.wait.for_
    return None if seconds is None else round(seconds * _SECOND)


class Durations:
    """What each step takes, worked out when somebody asks. Loops count once, repairs and retries not at all."""

    def __init__(
        self, index: Index, usual: int, wiring: Callable[[Node], Wiring], target: Callable[[Node, str], str]
    ) -> None:
        self._index, self._usual, self._wiring, self._target = index, usual, wiring, target
        self.known: dict[Node, int] = {}
        """What somebody has asked about."""

    def of(self, node: Node) -> int:
        """What one visit takes: as it says, else as what is in it says, else as is usual."""
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._worked_out(node)
        return found

    def take_over(self, other: "Durations") -> None:
        """Know what is known of the same steps in another tree."""
        self.known = {self._index.by_id[node.id]: found for node, found in other.known.items()}

    def forget(self, node: Node) -> None:
        """It is gone."""
        self.known.pop(node, None)

    def shifts(self, node: Node) -> bool:
        """Whether somebody who has asked before would be told otherwise now: it is another step, or holds others."""
        before = self.known.pop(node, None)
        return before is not None and self.of(node) != before

    def _worked_out(self, node: Node) -> int:
        said = _said(node.step)
        if said is not None:
            return said
        if node.holder is None:
            return 0 if _is_done_at_once(node.step) else self._usual
        inside = sum(map(self.of, self._way(node))) if node.serial else self._at_once(node)
        return inside * _rounds(node.step) if isinstance(node.step, MapStep) else inside

    def _at_once(self, group: Node) -> int:
        """A graph takes its longest way, and longer if it may not do so much at once."""
        wiring = self._wiring(group)
        most = None if group.holder is None or isinstance(group.holder, MapStep) else group.holder.limit
        return wiring.longest if most is None else max(wiring.longest, -(-wiring.work // most))

    def _way(self, group: Node) -> Iterator[Node]:
        """The children of a serial group that are reached when everything succeeds."""
        place = 0
        while place < len(group.children):
            child = group.children[place]
            yield child
            to = self._target(child, "success")
            target = self._index.by_id.get(to)
            if to == "next" and not isinstance(child.step, (DoneStep, FailStep)):
                place += 1
            elif target is not None and target.parent is group and target.position > place:
                place = target.position
            else:
                return


def _is_done_at_once(step: AnyStep | None) -> bool:
    return isinstance(step, (DoneStep, FailStep, CheckpointStep)) or (
        isinstance(step, DecideStep) and isinstance(step.decide, str)
    )


def _rounds(step: MapStep) -> int:
    """How often the body of a map is done one after another; once, if only the run will tell for how many items."""
    items = len(step.map) if is_list(step.map) else 1
    return -(-items // (step.limit or items or 1))

"""From one after another to as much at once as is safe.

In the plan that was found each requirement has a producer: the earliest move before it that makes the fact, with nobody
between them who ends it. That pair is a link. Whoever ends the fact of a link comes before its producer or after its
consumer, as in the plan that was found. These orders are kept, and no others: so whatever the order in which the steps
then run, each finds what it requires, and in the end holds what is wanted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from perdure.agents.contracts.grounding import Way
from perdure.agents.contracts.task import Literal, requirements
from perdure.plan.facts import Atom

Rank = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """Which steps wait for which, by their positions in the plan that was found."""

    needs: tuple[tuple[int, ...], ...]
    """Of each step those that it waits for directly; who waits for somebody waits for all that he waits for."""
    producers: Mapping[tuple[int, Literal], int]
    """Which step makes what a step requires; what was so from the start is not here."""


def ordered(ways: Sequence[Way], given: AbstractSet[Atom], wanted: Sequence[Literal]) -> Order:
    """The orders that have to be kept."""
    before: list[set[int]] = [set() for _ in ways]
    producers: dict[tuple[int, Literal], int] = {}
    asked = [(n, literal) for n, way in enumerate(ways) for literal in requirements(way)]
    for consumer, literal in [*asked, *((len(ways), literal) for literal in wanted)]:
        producer = _producer(ways, consumer, literal, given)
        if producer is not None:
            producers[consumer, literal] = producer
        for first, then in _orders(ways, producer, consumer, literal):
            before[then].add(first)
    return Order(_reduced(before), producers)


def arranged(ways: Sequence[Way], order: Order, rank: Callable[[Way], Rank]) -> tuple[list[Way], Order]:
    """The same steps and orders, told from the top: whoever may come comes in the order of `rank`."""
    waiting = [set(each) for each in order.needs]
    ready = [(rank(way), n) for n, way in enumerate(ways) if not waiting[n]]
    heapify(ready)
    places: dict[int, int] = {}
    while ready:
        _, n = heappop(ready)
        places[n] = len(places)
        for other, needs in enumerate(waiting):
            if n in needs:
                needs.remove(n)
                if not needs:
                    heappush(ready, (rank(ways[other]), other))
    needs = tuple(tuple(sorted(places[each] for each in order.needs[n])) for n in places)
    places[len(ways)] = len(ways)  # the goal requires, too
    producers = {(places[n], literal): places[maker] for (n, literal), maker in order.producers.items()}
    return [ways[n] for n in places if n < len(ways)], Order(needs, producers)


def _makes(way: Way, literal: Literal) -> bool:
    return literal[0] in (way.makes if literal[1] else way.ends)


def _ends(way: Way, literal: Literal) -> bool:
    return literal[0] in (way.ends if literal[1] else way.makes)


def _producer(ways: Sequence[Way], consumer: int, literal: Literal, given: AbstractSet[Atom]) -> int | None:
    """The earliest that makes it with nobody after it who ends it; None: it was so from the start."""
    found, holds = None, (literal[0] in given) == literal[1]
    for n, way in enumerate(ways[:consumer]):
        if _ends(way, literal):
            found, holds = None, False
        elif not holds and _makes(way, literal):
            found, holds = n, True
    return found


def _orders(ways: Sequence[Way], producer: int | None, consumer: int, literal: Literal) -> Iterator[tuple[int, int]]:
    if producer is not None and consumer < len(ways):
        yield producer, consumer
    for n, way in enumerate(ways):
        if not _ends(way, literal):
            continue
        if producer is not None and n < producer:
            yield n, producer
        elif n > consumer:
            yield consumer, n


def _reduced(before: Sequence[set[int]]) -> tuple[tuple[int, ...], ...]:
    """The same order, told by as few pairs as possible."""
    behind: list[int] = []
    found: list[tuple[int, ...]] = []
    for direct in before:
        farther = 0
        for n in direct:
            farther |= behind[n]
        found.append(tuple(n for n in sorted(direct) if not farther >> n & 1))
        behind.append(farther | sum(1 << n for n in direct))
    return tuple(found)

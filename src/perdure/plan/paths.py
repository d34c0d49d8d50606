"""Paths in graphs of numbered nodes: circles, components, and who can be reached from where."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

BATCH: Final = 4096
"""Sources followed at once: one bit each, so that a pass over the graph answers for all of them."""

Edges = Sequence[Collection[int]]
"""For each node the nodes that can follow it."""


def components(edges: Edges) -> Iterator[list[int]]:
    """The strongly connected components, each after all that it leads to. No recursion."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    for start in range(len(edges)):
        if start in number:
            continue
        number[start] = low[start] = len(number)
        open_.append(start)
        is_open.add(start)
        work = [(start, iter(edges[start]))]
        while work:
            node, left = work[-1]
            following = next(left, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    yield _closed(node, open_, is_open)
            elif following not in number:
                number[following] = low[following] = len(number)
                open_.append(following)
                is_open.add(following)
                work.append((following, iter(edges[following])))
            elif following in is_open:
                low[node] = min(low[node], number[following])


def _closed(node: int, open_: list[int], is_open: set[int]) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != node:
        component.append(open_.pop())
        is_open.discard(component[-1])
    return component


def heaviest(edges: Edges, weights: Sequence[int]) -> list[int]:
    """For each node what the heaviest path from it weighs, with itself; circles are left out."""
    waiting = [0] * len(edges)
    for following in edges:
        for node in following:
            waiting[node] += 1
    order = [node for node, count in enumerate(waiting) if not count]
    for node in order:  # it grows
        for following in edges[node]:
            waiting[following] -= 1
            if not waiting[following]:
                order.append(following)
    paths = list(weights)
    for node in reversed(order):
        paths[node] += max((paths[following] for following in edges[node]), default=0)
    return paths


def unconnected(edges: Edges, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """The pairs (a, b) for which no path of at least one edge leads from a to b."""
    left = {(a, b) for a, b in pairs if b not in edges[a]}
    sources = sorted({a for a, _ in left})
    order = [list(component) for component in components(edges)][::-1] if left else []
    missing: set[tuple[int, int]] = set()
    for begin in range(0, len(sources), BATCH):
        bit = {node: 1 << n for n, node in enumerate(sources[begin : begin + BATCH])}
        reached = _reached(edges, order, bit)
        missing |= {(a, b) for a, b in left if a in bit and not reached[b] & bit[a]}
    return missing


def _reached(edges: Edges, order: list[list[int]], bit: Mapping[int, int]) -> list[int]:
    """For each node the sources that lead to it, as bits."""
    reached = [0] * len(edges)
    for component in order:
        bits = 0
        for node in component:
            bits |= reached[node]
        if len(component) > 1:
            for node in component:
                bits |= bit.get(node, 0)
        for node in component:
            reached[node] |= bits
            onward = reached[node] | bit.get(node, 0)
            for following in edges[node]:
                reached[following] |= onward
    return reached


def circles(edges: Edges) -> Iterator[list[int]]:
    """One circle in each part of the graph that has any, as its nodes in order; the first node is the least."""
    for component in components(edges):
        inside = set(component)
        if len(component) > 1 or component[0] in edges[component[0]]:
            yield _circle(min(component), inside, edges)


def _circle(start: int, inside: set[int], edges: Edges) -> list[int]:
    """A shortest way from a node back to itself."""
    before: dict[int, int] = {}
    front = deque([start])
    while front:
        node = front.popleft()
        for following in edges[node]:
            if following == start:
                return _way(node, start, before)
            if following in inside and following not in before:
                before[following] = node
                front.append(following)
    return [start]


def _way(node: int, start: int, before: Mapping[int, int]) -> list[int]:
    way = [node]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


class Dominators:
    """For a graph that is entered at node 0: which nodes must be passed on the way to which."""

    def __init__(self, edges: Edges) -> None:
        order = _finished_last_first(edges)
        self._rank = {node: n for n, node in enumerate(order)}
        self._above = {0: 0}
        before: dict[int, list[int]] = {node: [] for node in order}
        for node in order:
            for following in edges[node]:
                before[following].append(node)
        changed = True
        while changed:
            changed = False
            for node in order[1:]:
                above = self._meet([each for each in before[node] if each in self._above])
                changed = changed or self._above.get(node) != above
                self._above[node] = above

    def _meet(self, nodes: list[int]) -> int:
        found = nodes[0]
        for node in nodes[1:]:
            other = node
            while found != other:
                if self._rank[found] > self._rank[other]:
                    found = self._above[found]
                else:
                    other = self._above[other]
        return found

    def holds(self, gate: int, node: int) -> bool:
        """Whether every way to a node leads through the gate."""
        while node in self._above and self._rank[node] > self._rank.get(gate, -1):
            node = self._above[node]
        return node == gate


def _finished_last_first(edges: Edges) -> list[int]:
    seen = {0}
    finished: list[int] = []
    work = [(0, iter(edges[0]))] if edges else []
    while work:
        node, left = work[-1]
        following = next(left, None)
        if following is None:
            finished.append(node)
            work.pop()
        elif following not in seen:
            seen.add(following)
            work.append((following, iter(edges[following])))
    return finished[::-1]

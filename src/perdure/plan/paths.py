"""Paths in graphs of numbered nodes: circles, components, and who can be reached from where."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

BATCH: Final = 4096
"""Sources followed at once: one bit each, so that a pass over the graph answers for all of them."""

Edges = Sequence[Iterable[int]]
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

"""Graphs to be scheduled, and a list scheduler of its own to hold the engine against. Times are in milliseconds."""

from heapq import heapify, heappop, heappush

DRAWS = {
    "even": lambda rng: rng.randint(100, 20_000),
    "equal": lambda rng: 1_000 * rng.randint(1, 4),
    "few long": lambda rng: rng.randint(20_000, 60_000) if rng.random() < 0.15 else rng.randint(100, 2_000),
}
"""How long steps take: anything, so that many end together, and a few much longer than the rest."""


def layered(rng, draw):
    """Layers of steps, each of which needs some of the layer before: what it takes and needs, in a shuffled order."""
    layers, nodes, before = rng.randint(3, 12), [], []
    for _ in range(layers):
        layer = []
        for _ in range(rng.randint(1, 12)):
            layer.append(len(nodes))
            nodes.append((draw(rng), sorted(rng.sample(before, rng.randint(1, min(3, len(before)))) if before else [])))
        before = layer
    return shuffled(rng, nodes)


def scattered(rng, draw):
    """Steps of which each may need any of those before it."""
    size, density = rng.randint(10, 80), rng.choice([0.02, 0.05, 0.1, 0.3])
    return shuffled(rng, [(draw(rng), [m for m in range(n) if rng.random() < density]) for n in range(size)])


def shuffled(rng, nodes):
    """The same graph, written down in another order: that it is known early says nothing."""
    places = rng.sample(range(len(nodes)), len(nodes))
    found = [None] * len(nodes)
    for place, (takes, needs) in zip(places, nodes, strict=True):
        found[place] = (takes, sorted(places[need] for need in needs))
    return found


def to_go(nodes):
    """For each step how long it takes from its beginning to the end of the longest chain behind it."""
    behind = [[n for n, (_, needs) in enumerate(nodes) if place in needs] for place in range(len(nodes))]
    found = {}

    def way(place):
        if place not in found:
            found[place] = nodes[place][0] + max(map(way, behind[place]), default=0)
        return found[place]

    return [way(place) for place in range(len(nodes))]


def list_schedule(nodes, places):
    """How long it takes if, whenever a place is free, the step with the longest way to go begins that may."""
    urgent = [(-way, n) for n, way in enumerate(to_go(nodes))]
    waits = [len(needs) for _, needs in nodes]
    ready = [urgent[n] for n, count in enumerate(waits) if not count]
    heapify(ready)
    at_work, now = [], 0
    while ready or at_work:
        while ready and len(at_work) < places:
            _, n = heappop(ready)
            heappush(at_work, (now + nodes[n][0], n))
        now = at_work[0][0]
        while at_work and at_work[0][0] == now:
            _, over = heappop(at_work)
            for n, (_, needs) in enumerate(nodes):
                if over in needs:
                    waits[n] -= 1
                    if not waits[n]:
                        heappush(ready, urgent[n])
    return now


def least(nodes, places):
    """What no schedule can beat: the longest chain, and all work spread over the places."""
    return max(*to_go(nodes), -(-sum(takes for takes, _ in nodes) // places))


def plan_of(nodes, places, estimated=None):
    """The graph as a plan; what steps are said to take may be something else than what they take."""
    said = estimated or [takes for takes, _ in nodes]
    return {
        "mode": "graph",
        "limit": places,
        "steps": [
            {"id": f"s{n}", "tool": "x.y", "needs": [f"s{m}" for m in needs], "estimate": {"seconds": said[n] / 1000}}
            for n, (_, needs) in enumerate(nodes)
        ],
    }

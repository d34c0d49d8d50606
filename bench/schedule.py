"""How well steps are put in order when only so many may be at work: against a list that begins with the critical path.

Layered and random graphs, drawn from seeds, in a group with a `limit`. Their steps declare how long they take, and take
that long on a simulated clock. The list is made by one who has the whole graph before them: whenever there is room, the
step that is ready and has the longest way to the end. Told is how much longer the engine takes.
"""

import argparse
import asyncio
import random
from collections.abc import Callable
from heapq import heappop, heappush

from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.testing.clock import FakeClock, run

GRAPHS, STEPS = 30, 120
ROOMS = (2, 4, 8)
Needs = dict[int, list[int]]


@tool(name="bench.work", repeat="safe")
async def work(seconds: float) -> float:
    """Take as long as was said."""
    await asyncio.sleep(seconds)
    return seconds


def layered(draw: random.Random) -> Needs:
    """Ten steps a layer, each with one to three needs in the layer before."""
    layer = 10
    return {
        n: sorted(draw.sample(range((n // layer - 1) * layer, n // layer * layer), draw.randint(1, 3)))
        if n >= layer
        else []
        for n in range(STEPS)
    }


def by_lot(draw: random.Random) -> Needs:
    """Up to four needs among all the steps before."""
    return {n: sorted(draw.sample(range(n), min(n, draw.randint(0, 4)))) for n in range(STEPS)}


SHAPES: dict[str, Callable[[random.Random], Needs]] = {"layered": layered, "random": by_lot}


def listed(needs: Needs, seconds: list[float], room: int) -> float:
    """When the last step of the list is over."""
    users: dict[int, list[int]] = {n: [] for n in needs}
    for n, each in needs.items():
        for need in each:
            users[need].append(n)
    way: dict[int, float] = {}
    for n in sorted(needs, reverse=True):
        way[n] = seconds[n] + max((way[user] for user in users[n]), default=0.0)
    left = {n: len(each) for n, each in needs.items()}
    ready = sorted((-way[n], n) for n in needs if not left[n])
    busy: list[tuple[float, int]] = []
    now = 0.0
    while ready or busy:
        while ready and len(busy) < room:
            _, n = heappop(ready)
            heappush(busy, (now + seconds[n], n))
        now, over = heappop(busy)
        for user in users[over]:
            left[user] -= 1
            if not left[user]:
                heappush(ready, (-way[user], user))
    return now


async def carried_out(needs: Needs, seconds: list[float], room: int) -> float:
    """Seconds that the engine takes, on a clock that is not real."""
    steps = [
        {
            "id": f"s{n}",
            "tool": "bench.work",
            "with": {"seconds": seconds[n]},
            "estimate": {"seconds": seconds[n]},
            "needs": [f"s{need}" for need in each],
        }
        for n, each in needs.items()
    ]
    plan = Plan.model_validate({"steps": [{"id": "all", "mode": "graph", "limit": room, "steps": steps}]})
    loop = asyncio.get_running_loop()
    async with Engine.open(tools=[work], clock=FakeClock()) as engine:
        began = loop.time()
        result = await (await engine.start(plan)).result()
        assert result.ok, result.failure  # noqa: S101  else there is nothing to measure
        return loop.time() - began


def main() -> None:
    """Draw, carry out, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=GRAPHS, help="of each kind, for each limit")
    graphs = parser.parse_args().graphs
    told: list[Figure] = []
    for name, shape in SHAPES.items():
        for room in ROOMS:
            ratios: list[float] = []
            for seed in range(graphs):
                draw = random.Random(f"{name} {room} {seed}")
                needs, seconds = shape(draw), [round(draw.uniform(1, 60), 1) for _ in range(STEPS)]
                ratios.append(run(carried_out(needs, seconds, room)) / listed(needs, seconds, room))
            who = f"{graphs} {name} graphs of {STEPS} steps, {room} at once: time, of the list's"
            told.append(Figure.of(who, ratios, "x"))
            told.append(Figure(f"{who}, the worst", max(ratios), "x", most=1.05))
    tell(told)


if __name__ == "__main__":
    main()

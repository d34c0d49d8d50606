"""What HTTP adds to a start, and what becomes of 500 starts a second.

A start by the engine and one over HTTP take turns, in an order that is drawn anew each time, each until it is in the
journal. Then starts come at a rate, whatever becomes of them: each is accepted, and then it is in the journal, or
refused with a reason. Who asks works in the same process and takes of its time.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from figures import Figure, tell

from perdure import Engine, Plan
from perdure.journal.listing import every_run
from perdure.server import Keys
from perdure.server.listening import Address
from perdure.server.serving import Place, serving
from perdure.world import Alone

RAW = {"steps": [{"id": "a", "tool": "flow.echo", "with": {"value": 1}}]}
BODY = json.dumps({"plan": RAW}).encode()
RATE, CONNECTIONS = 500, 16


class Connection:
    """One that is kept, with a key."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._head = (
            f"POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n"
        )

    async def open(self) -> "Connection":
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def start(self, name: str = "") -> tuple[int, bytes]:
        """Have a run started: the status, and the answer."""
        once = f"Idempotency-Key: {name}\r\n" if name else ""
        self._writer.write(f"{self._head}{once}\r\n".encode() + BODY)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        return int(head[9:12]), await self._reader.readexactly(length)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def turns(engine: Engine, connection: Connection, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds of starts by the engine, over HTTP, and over HTTP with an `Idempotency-Key`, one after the other."""
    plan = Plan.model_validate(RAW)
    took: tuple[list[float], list[float], list[float]] = ([], [], [])
    for number in range(rounds):
        starts = [
            lambda: engine.start(plan),
            connection.start,
            lambda number=number: connection.start(f"t{number}"),
        ]
        for place in random.sample(range(3), 3):
            begun = time.perf_counter()
            await starts[place]()
            took[place].append((time.perf_counter() - begun) * 1000)
            await asyncio.sleep(0.005)  # the run itself takes its time then, and not of the next one
    return took


async def rush(connections: list[Connection], seconds: float) -> tuple[dict[int, int], set[str], float]:
    """Starts at a rate: how many had which status, the runs that were accepted, and how long it took."""
    waiting: asyncio.Queue[int | None] = asyncio.Queue()
    statuses: dict[int, int] = {}
    runs: set[str] = set()

    async def ask(connection: Connection) -> None:
        while (number := await waiting.get()) is not None:
            status, answer = await connection.start(f"n{number}")
            statuses[status] = statuses.get(status, 0) + 1
            if status == 202:  # noqa: PLR2004  accepted
                runs.add(json.loads(answer)["id"])

    asking = [asyncio.create_task(ask(each)) for each in connections]
    begun = time.perf_counter()
    for number in range(round(RATE * seconds)):
        await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
        waiting.put_nowait(number)
    for _ in connections:
        waiting.put_nowait(None)
    await asyncio.gather(*asking)
    return statuses, runs, time.perf_counter() - begun


async def measure(rounds: int, seconds: float) -> list[Figure]:
    """All of it, on a journal of its own."""
    with tempfile.TemporaryDirectory() as home, Address(port=0).bound() as listener:
        keys = Keys(Path(home) / "runs.db.keys")
        key, place = keys.new("bench", ["run"], 0), Place(listener, keys)
        async with Engine.open(Path(home) / "runs.db") as engine, serving(engine, Alone(), place):
            connections = [await Connection(place.port, key).open() for _ in range(CONNECTIONS)]
            await turns(engine, connections[0], 20)
            own, over, once = map(statistics.median, await turns(engine, connections[0], rounds))
            statuses, runs, took = await rush(connections, seconds)
            kept = {each.id for each in await every_run(engine.journal)}
            for each in connections:
                each.close()
    refused = sum(count for status, count in statuses.items() if status == 429)  # noqa: PLR2004  told to come again
    other = sum(statuses.values()) - refused - len(runs)
    return [
        Figure("a start by the engine, p50", own, "ms"),
        Figure("what HTTP adds to it, p50", over - own, "ms", most=5),
        Figure("what an Idempotency-Key adds to that, p50", once - over, "ms"),
        Figure(f"starts a second that were answered, of {RATE} that came", sum(statuses.values()) / took, "/s"),
        Figure("of them refused with 429", refused),
        Figure("of them answered otherwise", other, most=0),
        Figure("accepted, and not in the journal", len(runs - kept), most=0),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    tell(asyncio.run(measure(given.rounds, given.seconds)))

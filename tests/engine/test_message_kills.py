"""Owners and senders of messages, SIGKILL whenever they have just asked for something: what they were told is so (R1)."""

import asyncio
import random
import time
from itertools import count
from multiprocessing import connection

import message_victim
import pytest
from engine_victim import EFFECTS, effects
from message_scene import taken
from message_victim import OVER, TOOLS, see_through
from seen import Seen

from perdure import Engine
from perdure.ports import Filter
from perdure.testing.replays import assert_replays

MOST_SEEN = 12
"""Messages after which somebody is killed, at the most."""
A_FILE = 8
"""Kills before a new file is begun."""


@pytest.mark.campaign("kills of owners and of senders of messages", "I1 I2 I7 I12", of="kills", times=8)
@pytest.mark.parametrize("shard", range(2))
def test_what_senders_were_told_is_so_however_often_all_are_killed(shard, begin, tmp_path, monkeypatch, trials):
    for seed, place in trials.places(tmp_path, 1, shard):
        place.mkdir()
        monkeypatch.setenv(EFFECTS, str(place / "effects"))
        tumult(place, begin, random.Random(seed))
        asyncio.run(all_to_the_end(place / "runs.db"))


def tumult(place, begin, draw):
    """An owner and a sender, each killed and begun anew; then everything that they were told is looked for."""
    seen = Seen(place / "runs.db", place / "effects")
    seeds = (draw.getrandbits(40) for _ in count())
    makers = {
        "owner": lambda: begin(message_victim.drive, seen.path, seen.world, place / "told", next(seeds)),
        "sender": lambda: begin(message_victim.send, seen.path, place / "told", next(seeds)),
    }
    those = {name: make() for name, make in makers.items()}
    for _ in range(A_FILE):
        wait_for(those, draw.randrange(1, MOST_SEEN))
        time.sleep(draw.choice([0, 0, draw.uniform(0, 0.01)]))
        for name in draw.choice([["owner"], ["owner"], ["sender"], ["owner", "sender"]]):
            those[name].kill()
            those[name] = makers[name]()
        seen.look()
    for each in those.values():
        each.kill()
    seen.look()
    asyncio.run(assert_told(place))


def wait_for(those, messages):
    """Until so many messages were sent, whoever sent them."""
    pipes = [each.pipe for each in those.values()]
    while messages > 0:
        ready = connection.wait(pipes, 120)
        assert ready, "somebody asks for something"
        for pipe in ready:
            pipe.recv()
            messages -= 1


async def assert_told(place):
    """Each thing that a sender was told happened once, each that was refused never, the others at most once."""
    lines = effects(place / "told")
    ends = {token: (word, value) for word, token, value in lines}  # the last that is said of each
    async with Engine.open(place / "runs.db", tools=TOOLS, idle=True) as engine:
        facts = await taken(engine.journal)
        for run in await engine.journal.runs(Filter(), None, 1_000):
            await assert_replays(engine.journal, run.id)
    requests = {token: request for word, token, request in lines if word == "asked"}
    for token, (word, value) in ends.items():
        check_told(requests[token], word, value, facts.get(token, []))


def check_told(request, word, value, facts):
    about = f"{request} {word} {value} {facts}"
    whole = 2 if request["do"] == "retry" and "edits" in request else 1
    if word == "refused":
        assert facts == [], about
    elif word == "asked" or request["do"] == "resume" or value is False:  # to go on with what goes on is no fact
        assert len(facts) in (0, whole), about
    else:
        assert len(facts) == whole, about
        run, event = facts[-1]
        assert value == run if request["do"] == "fork" else request["run"] == run, about
        if request["do"] == "revise":
            assert value == event.base + 1, about


async def all_to_the_end(path):
    async with Engine.open(path, tools=TOOLS, resume=True) as engine:
        for run in await engine.journal.runs(Filter(), None, 1_000):
            await see_through(engine, run.id)
            assert (await engine.result(run.id)).status in OVER
    Seen(path, path.with_name("effects")).look()

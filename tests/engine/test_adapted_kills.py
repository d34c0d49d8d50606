"""E10: an adapted agent whose process is killed at any turn pays no finished question twice, and does nothing twice."""

import asyncio
import json
import signal
import sys
from collections import Counter
from types import ModuleType

import adapted_victim
import pytest
from engine_victim import EFFECTS, effects
from fake_provider import FakeProvider, called, said

from perdure import Engine
from perdure.core import events as e
from perdure.core.events import decode
from perdure.testing.replays import assert_replays

MOST_TURNS = 40
QUESTIONS = 3


class Thinking(FakeProvider):
    """Answers by what was said so far, however often it is asked."""

    async def _one(self, head, reader, writer):
        lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        asked = json.loads(await reader.readexactly(int(lines.get("content-length", 0))))
        self.asked.append(json.dumps(asked["messages"], sort_keys=True))
        turn = sum(each["role"] == "assistant" for each in asked["messages"])
        answers = [called(("look", '{"at": "bill"}')), called(("pay", '{"usd": 5}')), said("All is paid.")]
        await self._send(answers[turn], writer)


async def to_the_end(place, processes, turn, what):
    """Kill a process at a turn, go on in this one; whether it was killed, and what the provider was asked."""
    fake = Thinking([])
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    url, path = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", place / f"{what}{turn}.db"
    process = processes.Process(target=adapted_victim.work, args=(path, place, url, turn, what), daemon=True)
    process.start()
    await asyncio.to_thread(process.join)
    async with Engine.open(path, resume=True, **adapted_victim.settings(url)) as engine:
        run, result = await asyncio.wait_for(adapted_victim.carried_on(engine), 30)
        _, entries = await engine.journal.load(run)
        await assert_replays(engine.journal, run)
    server.close()
    assert result.output == "All is paid.", result.failure
    return process.exitcode == -signal.SIGKILL, fake.asked, [decode(each.type, each.body) for each in entries]


def check(asked, facts, done):
    ended = Counter(each.step for each in facts if isinstance(each, e.AttemptEnded))
    assert max(ended.values()) == 1
    assert len(set(asked)) == QUESTIONS
    begun = sum(isinstance(each, e.AttemptStarted) for each in facts)
    assert len(asked) - QUESTIONS <= begun - len(ended), "only what was under way is asked again"
    assert len({key for *_, key in done}) == 1


@pytest.mark.campaign(
    "kills at every turn of an agent of another framework", "I1 I2 I3", of="sweeps over its turns", lot=False
)
@pytest.mark.parametrize("what", ["lose", "keep"])
def test_e10_killed_at_every_turn_for_real(tmp_path, processes, monkeypatch, what, trials):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    for _, place in trials.places(tmp_path, 1):
        place.mkdir()
        monkeypatch.setenv(EFFECTS, str(place / "effects"))
        for turn in range(1, MOST_TURNS):
            was_killed, asked, facts = asyncio.run(to_the_end(place, processes, turn, what))
            check(asked, facts, effects(place / "effects"))
            (place / "effects").unlink()
            if not was_killed:
                break
        assert 10 < turn < MOST_TURNS

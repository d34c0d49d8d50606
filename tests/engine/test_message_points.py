"""SIGKILL at each system call by which an owner takes a message: what its sender was told is so (R1, R2).

What they were not told is in the journal whole or not at all. Asked again, it is done once, or refused with a reason.
Messages come through the socket and from the owner's own code.
"""

import asyncio
import shutil
from itertools import count

import pytest
from engine_victim import EFFECTS, effects
from hands_points import looking, points_in
from message_scene import Place, taken
from message_victim import PLAN, TOOLS, done, extra, see_through

from perdure import Engine, Plan
from perdure.ports import Filter
from perdure.testing.replays import assert_replays

ASKER = "the one who asks"
EDITS = {"edits": extra("extra"), "base": 0}
REQUESTS = {
    "revise": ("waiting", EDITS),
    "fork": ("waiting", {}),
    "fork_before": ("failed", {"step": "made"}),
    "answer": ("waiting", {"question": "q_q_1", "value": True}),
    "signal": ("waiting", {"name": "bell", "value": "x" * 20_000}),
    "pause": ("waiting", {}),
    "cancel": ("waiting", {}),
    "rollback": ("waiting", {}),
    "rollback_after": ("failed", {}),
    "retry": ("failed", {}),
    "retry_edited": ("failed", EDITS),
}
FACTS = {"retry_edited": 2}
"""How many facts a message is, if it is more than one."""
AGAIN = {
    "revise": {"PRD3009"},
    "pause": {"PRD3001"},
    "cancel": {"PRD3001", "PRD3002"},
    "rollback": {"PRD3001", "PRD3002"},
    "retry": {"PRD3001", "PRD3002"},  # the next process may have brought it to its end before it is asked
}
"""How the same message is refused the second time. Whoever answers twice is not; a fork or a signal is another one."""
ENDS = {"cancel": "cancelled", "rollback": "rolled_back"}
THREADS = {"MainThread", "perdure-journal"}
"""Those who take a message; others wait for the next one."""
FLOOR = 5
"""System calls that write, at the least; else they are not looked at."""


@pytest.fixture
def stand(tmp_path, begin, monkeypatch):
    """A copy of a journal whose run waits, or has failed."""
    numbers, made = count(), {}

    def make(state):
        monkeypatch.setenv(EFFECTS, str(tmp_path / state / "effects"))
        if state not in made:
            (tmp_path / state).mkdir()
            made[state] = asyncio.run(_bring(tmp_path / state / "runs.db", state))
        place = tmp_path / f"{next(numbers)}"
        shutil.copytree(tmp_path / state, place)
        monkeypatch.setenv(EFFECTS, str(place / "effects"))
        return Place(place, begin), made[state]

    return make


async def _bring(path, state):
    async with Engine.open(path, tools=TOOLS) as engine:
        run = await engine.start(Plan.model_validate(PLAN))
        await run.rested()
        if state == "failed":
            await run.answer("q_q_1", True, by="somebody")
            await run.signal("bell")
            assert (await run.result()).status == "failed"
        return run.id


@pytest.mark.campaign("a kill at each system call by which a message is taken", "I1 I5 I12", of="kills")
@pytest.mark.parametrize("way", ["socket", "code"])
@pytest.mark.parametrize("name", REQUESTS)
def test_a_message_is_taken_whole_or_not_at_all_wherever_the_owner_dies(name, way, stand, strace, trials):
    points = whole(stand, name, way)
    assert len(points) >= FLOOR
    for point in trials.among(points, 1):
        killed_at(point, stand, name, way)
    if way == "socket":  # the very last: it is done, and the sender is not told
        killed_at(points[-1], stand, name, way)


def request_of(name, run):
    return {"do": name.partition("_")[0], "run": run, "by": ASKER, **REQUESTS[name][1]}


def whole(stand, name, way):
    """All points of an owner that nobody ends, while it takes a message."""
    place, run = stand(REQUESTS[name][0])
    told = place.asked(way, request_of(name, run), looking(place.place / "log"))
    assert "done" in told, told
    asyncio.run(assert_taken(place, name, run, told))
    return [each for each in points_in(place.place / "log", sent=True) if each.thread in THREADS]


def killed_at(point, stand, name, way):
    place, run = stand(REQUESTS[name][0])
    request = request_of(name, run)
    told = place.asked(way, request, point.trace(place.place / "log", signal="KILL"))
    place.look()
    asyncio.run(assert_taken(place, name, run, told))
    asyncio.run(go_on(place, name, request))
    place.look()
    shutil.rmtree(place.place)


async def assert_taken(place, name, run, told):
    """It is in the journal, as its sender was told; or if they were told nothing, whole or not at all."""
    async with Engine.open(place.path, tools=TOOLS, idle=True) as engine:
        found = (await taken(engine.journal)).get(ASKER, [])
        assert len(found) == FACTS.get(name, 1) if told else len(found) in (0, FACTS.get(name, 1))
        for each in await engine.journal.runs(Filter(), None, 100):
            await assert_replays(engine.journal, each.id)
        if told and "fork" in name:
            assert found[0][0] == told["done"]
        elif told:
            assert told["done"] in ([run], None, 1)  # also an answer that is news, and a first revision


async def go_on(place, name, request):
    """Ask again in a new process, as it were; then everything comes to its end."""
    async with Engine.open(place.path, tools=TOOLS, resume=True) as engine:
        before = len((await taken(engine.journal)).get(ASKER, []))
        told = await done(engine, request)
        refusals = AGAIN.get(request["do"], set()) if before else set()
        assert told.get("refused") in (refusals or {None}), told
        makes_more = request["do"] in {"fork", "signal"}
        assert len((await taken(engine.journal))[ASKER]) == (before + 1 if makes_more else FACTS.get(name, 1))
        if request["do"] == "answer":
            assert told["done"] is not bool(before), "said twice, it is news once"
        for run in await engine.journal.runs(Filter(), None, 100):
            await see_through(engine, run.id)
            is_it = run.id == request["run"]
            assert (await engine.result(run.id)).status == ENDS.get(request["do"] if is_it else "", "succeeded")
            await assert_replays(engine.journal, run.id)
    if request["do"] == "rollback":
        kinds = [kind for kind, run, *_ in effects(place.world) if run == request["run"]]
        assert "undone" in kinds

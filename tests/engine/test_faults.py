"""What can go wrong around an engine: a clear word each, nothing lost, and it goes on after repair (R11, R12, R16)."""

import asyncio
import math
import sqlite3
import sys
from contextlib import suppress
from itertools import count

import apsw
import pytest
from program import held
from simulated_disk import Disk as FailingDisk

from perdure import Engine, Plan, tool
from perdure.control import ask, socket_of
from perdure.core.calls import Failure, Outcome
from perdure.core.turn import turn
from perdure.journal import MemoryJournal, SqliteJournal
from perdure.ports import Closed, Corrupt, DiskFull, Locked, Malformed, ReadOnlyDisk, Suspect
from perdure.runtime import runner
from perdure.runtime.clock import SystemClock
from perdure.runtime.room import Limits
from perdure.testing.clock import FakeClock, run
from perdure.testing.crashes import Disk, Fault, crashing
from perdure.testing.replays import assert_replays
from perdure.testing.scripted import Scripted

NAMES = (f"engine{n}" for n in count())
TWO = Plan.model_validate({"steps": [{"id": "a", "agent": "x"}, {"id": "b", "agent": "x"}]})
LONG = "x" * 3_000


def virtual(test):
    """Run a test in a loop where waiting takes no time."""

    def running(*args, **kwargs):
        run(test(*args, **kwargs))

    running.__name__, running.__doc__ = test.__name__, test.__doc__
    return running


def takes(seconds, answer=None):
    async def later(_):
        await asyncio.sleep(seconds)
        return answer

    return later


def opened(journal, **settings):
    return Engine.open(journal=journal, **{"clock": FakeClock(), **settings})


class Plot:
    """Fails every turn while there is an error."""

    def __init__(self, what="fail"):
        self.what, self.error, self.seen = what, None, 0

    def __call__(self, number, turn):
        self.seen += 1
        return Fault(self.what, self.error) if self.error else None


# ------------------------------------------------------------------------------- disks


@virtual
async def test_a_full_disk_pauses_a_run_and_keeps_what_came_meanwhile():
    disk, plot = MemoryJournal(), Plot()
    script = Scripted({"a": takes(10, LONG), "b": "end"})

    def full_once(number, turn):
        return Fault("fail", DiskFull("no room")) if number == 3 else plot(number, turn)

    plan = Plan.model_validate(
        {
            "steps": [
                {"id": "g", "parallel": [{"id": "a", "agent": "x"}, {"id": "w", "wait": "2s"}]},
                {"id": "b", "agent": "x"},
            ]
        }
    )
    async with opened(Disk(disk, full_once), performer=script) as engine:
        handle = await engine.start(plan)
        result = await handle.rested()
        assert result.status == "paused"
        assert b"PRD2201: no room" in next(
            each.body for each in await disk.read(handle.id) if each.type == "run_paused"
        )
        await handle.resume()
        result = await handle.result()
    assert (result.status, result.output, len(script.made)) == ("succeeded", "end", 2)
    assert result.steps["a"].output == LONG
    await assert_replays(disk, handle.id)


@virtual
async def test_a_disk_that_stays_full_holds_a_run_until_there_is_room():
    disk, plot = MemoryJournal(), Plot()
    script = Scripted({"a": takes(10, LONG), "b": "end"})
    async with opened(Disk(disk, plot), performer=script) as engine:
        handle = await engine.start(TWO)
        plot.error = DiskFull("no room")
        with pytest.raises(DiskFull):
            await handle.result()
        with pytest.raises(DiskFull):
            await handle.cancel()
        with pytest.raises(DiskFull):
            await handle.resume()
        assert plot.seen < 20, "it does not knock all the time"
        plot.error = None
        await handle.resume()
        result = await handle.result()
    assert (result.status, result.output, len(script.made)) == ("succeeded", "end", 2)
    assert result.steps["a"].output == LONG, "what came while the disk was full"
    await assert_replays(disk, handle.id)


@virtual
async def test_a_run_that_cannot_be_begun_is_unheard_of():
    disk, plot = MemoryJournal(), Plot()
    async with opened(Disk(disk, plot), performer=Scripted(default=1), limits=Limits(total=1)) as engine:
        plot.error = DiskFull("no room")
        with pytest.raises(DiskFull):
            await engine.start(TWO)
        assert await disk.runs() == []
        plot.error = None
        assert (await (await engine.start(TWO)).result()).ok, "nothing of the other one is in the way"


@virtual
async def test_what_one_run_cannot_write_does_not_touch_another():
    disk = MemoryJournal()

    def refuse(number, turn):
        return Fault("fail", Malformed("no")) if turn.run == bad and turn.first_seq > 1 else None

    bad = ""
    async with opened(Disk(disk, refuse), performer=Scripted(default=takes(1, 1))) as engine:
        first, second = await engine.start(TWO), await engine.start(TWO)
        bad = first.id
        with pytest.raises(Malformed):
            await first.result()
        assert (await second.result()).ok
        bad = ""
        await first.resume()
        assert (await first.result()).ok


@pytest.mark.parametrize("what", ["fail", "doubt"])
def test_a_disk_in_doubt_stops_the_engine_and_all_is_there_afterwards(what):
    @virtual
    async def work():
        disk, plot, script = MemoryJournal(), Plot(what), Scripted({"a": takes(5, 1), "b": 2})
        async with opened(Disk(disk, plot), performer=script) as engine:
            handles = [await engine.start(TWO) for _ in range(3)]
            plot.error = Suspect("the disk failed")
            for handle in handles:
                with pytest.raises(Suspect):
                    await handle.result()
            for send in (lambda: engine.start(TWO), handles[0].pause, handles[1].rested):
                with pytest.raises(Suspect):
                    await send()
            assert engine.host.runners == {}
        async with opened(Disk(disk), performer=script, resume=True) as engine:
            for handle in handles:
                assert (await engine.run(handle.id).result()).output == 2
                await assert_replays(disk, handle.id)

    work()


async def test_a_real_disk_that_fails_to_sync_stops_the_engine(tmp_path):
    failing = FailingDisk(tmp_path, next(NAMES))
    journal = await SqliteJournal.open(tmp_path / "runs.db", connect=failing.connect)
    script = Scripted({"a": takes(0.05, 1), "b": 2})
    async with Engine.open(journal=journal, performer=script) as engine:
        handle = await engine.start(TWO)
        failing.fault = lambda kind, _: kind == "sync" and apsw.exceptionfor(apsw.SQLITE_IOERR_FSYNC)
        with pytest.raises(Suspect):
            await handle.result()
        failing.fault = None
    async with Engine.open(tmp_path / "runs.db", performer=script, resume=True) as engine:
        assert (await engine.run(handle.id).result()).output == 2


async def test_a_real_disk_that_is_full_or_read_only_can_be_mended(tmp_path):
    failing = FailingDisk(tmp_path, next(NAMES))
    journal = await SqliteJournal.open(tmp_path / "runs.db", connect=failing.connect)
    script = Scripted({"a": takes(0.05, LONG), "b": takes(0.05, 2)})
    async with Engine.open(journal=journal, performer=script) as engine:
        for code, error in ((apsw.SQLITE_FULL, DiskFull), (apsw.SQLITE_READONLY, ReadOnlyDisk)):
            handle = await engine.start(TWO)
            failing.fault = lambda kind, _, code=code: kind == "write" and apsw.exceptionfor(code)
            with pytest.raises(error):
                await handle.result()
            failing.fault = None
            await handle.resume()
            result = await handle.result()
            assert (result.output, result.steps["a"].output) == (2, LONG)
    assert len(script.made) == 4


# ------------------------------------------------------------------------------- damage


async def test_a_damaged_run_is_refused_by_its_entry_and_others_go_on(tmp_path):
    path, script = tmp_path / "runs.db", Scripted({"a": takes(0.3, 1), "b": 2})
    async with Engine.open(path, performer=script, patience=0) as engine:
        handles = [await engine.start(TWO) for _ in range(4)]
        await asyncio.sleep(0.05)
    made = len(script.made)
    rows = sqlite3.connect(path)
    spoil = "UPDATE turns SET body = CAST(replace(body, 'call', 'cell') AS BLOB) WHERE run = (SELECT number FROM runs WHERE id = ?)"
    rows.execute(spoil, (handles[1].id,))
    rows.commit()
    rows.close()
    async with Engine.open(path, performer=script) as engine:
        going = await engine.resume()
        assert sorted(going) == sorted(each.id for each in handles if each is not handles[1])
        with pytest.raises(Corrupt, match=r"entry \d+"):
            await engine.resume(handles[1].id)
        for handle in handles[2:]:
            assert (await engine.run(handle.id).result()).ok
        touched = [each.run for each in script.made[made:]]
        assert handles[1].id not in touched, "no effect of a run that cannot be believed"


@virtual
async def test_a_plan_that_no_longer_decodes_stops_its_run_alone():
    disk, script = MemoryJournal(), Scripted({"a": takes(5, 1), "b": 2})
    async with crashing(disk, clock=FakeClock(), performer=script) as engine:
        first, second = (
            await engine.start(TWO),
            await engine.start(Plan.model_validate({"steps": [{"id": "a", "agent": "x"}]})),
        )
        await asyncio.sleep(1)
    disk._artifacts[TWO.hash.rpartition(":")[2]] = b'{"steps": [{"id": "a", "agant": "x"}]}'
    async with opened(Disk(disk), performer=script, resume=True) as engine:
        assert (await engine.run(second.id).result()).ok
        with pytest.raises(Corrupt, match="cannot be read any more"):
            await engine.run(first.id).result()
    disk._artifacts[TWO.hash.rpartition(":")[2]] = TWO.canonical_json()
    async with opened(Disk(disk), performer=script, resume=True) as engine:
        assert (await engine.run(first.id).result()).ok


# ------------------------------------------------------------------------------- time


@pytest.mark.parametrize("by", [-86_400, -3, 3])
def test_a_clock_that_was_set_while_nobody_looked_moves_no_deadline_backward(by):
    @virtual
    async def work():
        disk, clock = MemoryJournal(), FakeClock()
        plan = Plan.model_validate(
            {
                "steps": [
                    {"id": "w", "wait": "100s"},
                    {"id": "a", "agent": "x", "timeout": "50s", "on": {"failure": "next"}},
                ]
            }
        )
        script = Scripted({"a": takes(10_000)})
        loop = asyncio.get_running_loop()
        async with crashing(disk, clock=clock, performer=script) as engine:
            began = loop.time()
            handle = await engine.start(plan)
            await asyncio.sleep(10)
        clock.set_by(by)
        async with opened(Disk(disk), clock=clock, performer=script, resume=True) as engine:
            result = await engine.run(handle.id).result()
        early = max(by, 0) + 10 * (by < 0)  # time that nobody saw pass counts as passed only if a clock shows it
        assert 150 - early - 1 <= loop.time() - began <= 160 + 1
        assert result.steps["a"].exit == "failure"
        assert result.usage.seconds >= 0
        await assert_replays(disk, handle.id)

    work()


def test_the_clock_of_a_process_does_not_follow_when_people_set_theirs(monkeypatch):
    clock = SystemClock()
    before = clock.now()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert before <= clock.now() < before + 60_000


# ------------------------------------------------------------------------------- two processes


async def test_a_second_process_is_told_who_has_the_file_and_speaks_through_the_socket(tmp_path):
    path = tmp_path / "runs.db"
    with held(path), pytest.raises(Locked, match="is written by process"):
        async with Engine.open(path):
            pass
    plan = Plan.model_validate({"steps": [{"id": "q", "ask": "Shall we?"}]})
    async with Engine.open(path) as engine:
        handle = await engine.start(plan)
        with pytest.raises(Locked):
            async with Engine.open(path):
                pass
        request = {"do": "answer", "run": handle.id, "question": "q_q_1", "value": "approved", "by": "me"}
        await ask(socket_of(path), request)
        assert (await handle.result()).ok


# ------------------------------------------------------------------------------- closing


@virtual
async def test_an_engine_that_is_closed_waits_a_little_and_loses_nothing():
    disk, script = MemoryJournal(), Scripted({"a": [takes(3, 1)], "b": [takes(60, 2), 2]})
    async with opened(Disk(disk), performer=script, patience=5) as engine:
        handle = await engine.start(TWO)
        waiting = asyncio.create_task(handle.result())
        await asyncio.sleep(1)
    with pytest.raises(Closed, match="engine was closed"):
        await waiting
    with pytest.raises(Closed):
        await engine.start(TWO)
    assert [each.type for each in await disk.read(handle.id)][-2:] == ["attempt_ended", "step_entered"], (
        "a came to its end"
    )
    async with opened(Disk(disk), performer=script, resume=True) as engine:
        handle = engine.run(handle.id)
        await asyncio.sleep(1)
        waiting = asyncio.create_task(handle.rested())
        await asyncio.sleep(1)
    with suppress(Closed):
        await waiting
    async with opened(Disk(disk), performer=script, resume=True) as engine:
        result = await engine.run(handle.id).result()
    assert (result.output, [each.step for each in script.made]) == (2, ["a", "b", "b"])
    assert len({each.key for each in script.made}) == 2


# ------------------------------------------------------------------------------- performers


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no")


def raising(error):
    def perform(_):
        raise error

    return perform


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (raising(SystemExit(3)), "unknown"),
        (raising(GeneratorExit()), "unknown"),
        (raising(Unprintable()), "unknown"),
        (raising(asyncio.CancelledError()), "cancelled"),
        (object(), "invalid"),
        ({1, 2}, "invalid"),
        (math.nan, "invalid"),
        ({"deep": math.inf}, "invalid"),
        (b"bytes", "invalid"),
        (deep(100_000), "invalid"),
        (Outcome(exit="never heard of"), "invalid"),
        (Outcome(exit=5), "invalid"),
        (Outcome(exit="\ud800"), "invalid"),
        (Failure("transient", "\ud800", math.nan, {"x": "\udfff"}), "transient"),
        (Failure("transient", "wait", math.inf, deep(2_000)), "transient"),
        (Failure("transient", 5, -3, object()), "transient"),
        (Failure(7, None), "unknown"),
    ],
)
def test_whatever_a_performer_does_is_a_failure_of_its_step(answer, kind):
    @virtual
    async def work():
        disk = MemoryJournal()
        plan = Plan.model_validate(
            {
                "steps": [
                    {"id": "a", "agent": "x", "retry": {"attempts": 2}, "on": {"failure": "next"}},
                    {"id": "b", "agent": "x"},
                ]
            }
        )
        async with opened(Disk(disk), performer=Scripted({"a": answer, "b": 2})) as engine:
            handle = await engine.start(plan)
            result = await handle.result()
            assert (result.status, result.output) == ("succeeded", 2)
            assert result.steps["a"].failure.kind == kind
            await assert_replays(disk, handle.id, live=None)

    work()


@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        {"\udfff": "\ud83d\ude00"},
        "x" * 5_000_000,
        deep(100),
        deep(900),
        (1, (2, 3)),
        {1: 2, None: 3, False: 4},
        10**400,
        1e308,
        -0.0,
        [[]],
        "",
    ],
    ids=["half", "halves", "huge", "deep", "deeper", "tuple", "keys", "integer", "float", "zero", "empty", "nothing"],
)
def test_odd_values_are_the_same_live_and_after_a_crash(value):
    @virtual
    async def work():
        disk, script = MemoryJournal(), Scripted({"a": Outcome(value), "b": takes(5, 1)})
        plan = Plan.model_validate(
            {
                "steps": [{"id": "a", "agent": "x"}, {"id": "b", "agent": "x", "with": {"given": "${steps.a.output}"}}],
                "output": "${steps.a.output}",
            }
        )
        async with crashing(disk, clock=FakeClock(), performer=script) as engine:
            handle = await engine.start(plan)
            await asyncio.sleep(1)
            live = await engine.result(handle.id)
            if live.status == "failed":
                assert live.failure.kind == "invalid"
                return
            given = live.steps["a"].output
        async with opened(Disk(disk), performer=script, resume=True) as engine:
            result = await engine.run(handle.id).result()
        assert result.status == "succeeded", result.failure
        assert (type(result.output), result.output) == (type(given), given)
        calls = [each.call.arguments for each in script.made if each.step == "b"]
        assert calls[0] == calls[1]
        assert script.made[1].key == script.made[2].key
        await assert_replays(disk, handle.id)

    work()


@virtual
async def test_a_performer_that_does_not_listen_is_given_up():
    async def deaf(_):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(1_000)
        await asyncio.sleep(100)
        return "too late"

    disk = MemoryJournal()
    plan = Plan.model_validate(
        {"steps": [{"id": "a", "agent": "x", "timeout": "1s", "on": {"failure": "next"}}, {"id": "b", "agent": "x"}]}
    )
    script = Scripted({"a": deaf, "b": 2})
    async with opened(Disk(disk), performer=script, limits=Limits(grace=2)) as engine:
        began = asyncio.get_running_loop().time()
        result = await (await engine.start(plan)).result()
        assert asyncio.get_running_loop().time() - began == pytest.approx(3, abs=0.1)
        await asyncio.sleep(200)
    assert (result.output, result.steps["a"].failure.kind) == (2, "timeout")


@virtual
async def test_one_that_is_stopped_before_it_began_is_over_at_once():
    plan = Plan.model_validate(
        {"steps": [{"id": "g", "join": "any", "parallel": [{"id": "a", "agent": "x"}, {"id": "b", "agent": "x"}]}]}
    )
    async with opened(Disk(MemoryJournal()), performer=Scripted(default=1)) as engine:
        began = asyncio.get_running_loop().time()
        assert (await (await engine.start(plan)).result()).ok
        assert asyncio.get_running_loop().time() - began < 1


@virtual
async def test_reports_of_progress_never_spoil_a_journal():
    async def odd(attempt):
        for fraction, message in ((math.nan, "\ud800"), (math.inf, "x" * 1_000), (-1, 5), (0.5, "half")):
            attempt.report(fraction, message)
            await asyncio.sleep(2)
        return 1

    disk = MemoryJournal()
    async with opened(Disk(disk), performer=Scripted({"a": odd, "b": 2})) as engine:
        handle = await engine.start(TWO)
        assert (await handle.result()).ok
    await assert_replays(disk, handle.id)
    assert sum(each.type == "attempt_progressed" for each in await disk.read(handle.id)) == 4


async def test_a_secret_that_is_not_there_fails_its_step_and_nothing_hangs():
    plan = Plan.model_validate({"steps": [{"id": "a", "agent": "x", "with": {"key": "${secrets.GONE}"}}]})
    async with Engine.open(performer=Scripted(default=1), secrets={"OTHER": "x"}) as engine:
        result = await (await engine.start(plan)).result()
    assert (result.status, result.failure.kind) == ("failed", "invalid")


# ------------------------------------------------------------------------------- strategies


@virtual
async def test_a_strategy_that_raises_fails_its_agent_and_not_the_engine():
    def strategy(view):
        raise RuntimeError("a bug")

    plan = Plan.model_validate({"steps": [{"id": "a", "agent": "x"}]})
    async with opened(Disk(MemoryJournal()), strategies={"agent:x": strategy}) as engine:
        result = await (await engine.start(plan)).result()
    assert (result.status, result.cause) == ("failed", "a")
    assert "a bug" in result.failure.message


@virtual
async def test_a_decision_that_cannot_be_made_stops_its_run_until_it_is_mended():
    """Whatever the bug is, what attempts gave is held on to, and others go on."""
    disk, script = MemoryJournal(), Scripted({"a": takes(1, LONG), "b": 2})
    async with opened(Disk(disk), performer=script) as engine:
        handle, fine = await engine.start(TWO), await engine.start(TWO)

        def broken(state, message, moment):
            if state.run == handle.id:
                raise RuntimeError("a bug")
            return turn(state, message, moment)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runner, "turn", broken)
            with pytest.raises(RuntimeError, match="a bug"):
                await handle.result()
            assert (await fine.result()).ok
            with pytest.raises(RuntimeError, match="a bug"):
                await handle.resume()
        await handle.resume()
        result = await handle.result()
    assert (result.status, result.output, len(script.made)) == ("succeeded", 2, 4)
    assert result.steps["a"].output == LONG
    await assert_replays(disk, handle.id)


@tool(name="faults.leave", repeat="safe")
def leave() -> None:
    """Wants to end the process."""
    sys.exit(3)


async def test_a_tool_that_wants_to_end_the_process_fails():
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "faults.leave"}]})
    async with Engine.open(tools=[leave]) as engine:
        result = await (await engine.start(plan)).result()
    assert (result.status, result.failure.kind) == ("failed", "unknown")

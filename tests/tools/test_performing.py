"""Performing calls: in the task, in threads; cancelled, failing, reporting."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time

import pytest

from perdure.tools import Context, Tool, ToolFailure, ToolPerformer, tool

COLOUR = contextvars.ContextVar("colour", default="none")


def in_both_ways(function):
    """The same function as a plain tool and as an async one."""

    async def later(context: Context):
        return function(context)

    def now(context: Context):
        return function(context)

    return [tool(name="a.now")(now), tool(name="a.later")(later)]


WAYS = pytest.mark.parametrize("name", ["a.now", "a.later"])


@WAYS
async def test_what_a_tool_returns_is_the_output(name, an_attempt):
    performer = ToolPerformer(in_both_ways(lambda _: {"a": (1, 2)}))
    outcome = await performer.perform(an_attempt(name))
    assert (outcome.output, outcome.exit, outcome.failure) == ({"a": [1, 2]}, "success", None)


@WAYS
@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ToolFailure("denied", "not you"), "denied", "not you"),
        (TimeoutError("slow"), "timeout", "TimeoutError: slow"),
        (ConnectionRefusedError("nobody"), "unavailable", "ConnectionRefusedError: nobody"),
        (ZeroDivisionError("x"), "unknown", "ZeroDivisionError: x"),
        (SystemExit(1), "unknown", "SystemExit: 1"),
        (StopIteration("x"), "unknown", "StopIteration"),
        (asyncio.CancelledError("by itself"), "unknown", "CancelledError: by itself"),
    ],
)
async def test_exceptions_are_failures(name, error, kind, message, an_attempt):
    def raising(_):
        raise error

    outcome = await ToolPerformer(in_both_ways(raising)).perform(an_attempt(name))
    assert outcome.exit == "failure"
    assert outcome.failure.kind == kind
    assert message in outcome.failure.message


@WAYS
def test_an_interrupt_is_not_swallowed(name, an_attempt):
    def raising(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(ToolPerformer(in_both_ways(raising)).perform(an_attempt(name)))


@WAYS
async def test_a_result_that_is_not_json_is_invalid(name, an_attempt):
    for value in (float("nan"), object(), [{1: threading.Lock()}]):
        outcome = await ToolPerformer(in_both_ways(lambda _, value=value: value)).perform(an_attempt(name))
        assert outcome.failure.kind == "invalid"
        assert f'the result of "{name}" is not JSON' in outcome.failure.message


@WAYS
async def test_context_and_context_variables_are_there(name, an_attempt):
    COLOUR.set("blue")

    def look(context):
        context.progress(0.25, "on it")
        return [context.key, context.attempt, COLOUR.get(), 0 < context.seconds_left <= 60]

    outcome = await ToolPerformer(in_both_ways(look)).perform(an_attempt(name, seconds=60))
    assert outcome.output == ["key-1", 3, "blue", True]
    assert an_attempt.heard == [(0.25, "on it")]


async def test_async_runs_in_the_task_and_plain_in_a_thread(an_attempt):
    performer = ToolPerformer(in_both_ways(lambda _: threading.get_ident()))
    here = threading.get_ident()
    assert (await performer.perform(an_attempt("a.later"))).output == here
    assert (await performer.perform(an_attempt("a.now"))).output != here


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "message"),
    [
        ("a.nwo", {}, "tool", 'there is no tool "a.nwo"; did you mean "a.now"?'),
        ("a.now", {"x": 1}, "tool", 'there is no argument "x"'),
        ("a.now", {}, "agent", "which is done elsewhere"),
    ],
)
async def test_a_call_that_does_not_fit_is_invalid(name, arguments, kind, message, an_attempt):
    outcome = await ToolPerformer(in_both_ways(str)).perform(an_attempt(name, arguments, kind=kind))
    assert outcome.failure.kind == "invalid"
    assert message in outcome.failure.message


# ------------------------------------------------------------------------------- cancelling


async def cancelled(task):
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_coroutine_is_cancelled(an_attempt):
    seen, begun = [], asyncio.Event()

    @tool(name="a.b")
    async def waiting(context: Context) -> None:
        begun.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            seen.append(context.cancelled)
            raise

    task = asyncio.create_task(ToolPerformer([waiting]).perform(an_attempt("a.b")))
    await begun.wait()
    await cancelled(task)
    assert seen == [True]


async def test_a_thread_is_told_and_given_up_at_once(an_attempt):
    begun, told, go_on = threading.Event(), threading.Event(), threading.Event()

    @tool(name="a.b")
    def stubborn(context: Context) -> None:
        begun.set()
        while not context.cancelled:
            time.sleep(0.001)
        told.set()
        go_on.wait(60)
        context.progress(1, "nobody hears this")

    task = asyncio.create_task(ToolPerformer([stubborn]).perform(an_attempt("a.b")))
    await asyncio.to_thread(begun.wait, 60)
    await cancelled(task)
    assert await asyncio.to_thread(told.wait, 60)
    assert not go_on.is_set(), "the wait was over before the function was"
    go_on.set()
    await asyncio.sleep(0.01)
    assert an_attempt.heard == []


async def test_the_tools_own_time_limit_holds_where_the_plan_has_none(an_attempt):
    left = []

    async def later(context: Context):
        left.append(context.seconds_left)
        await asyncio.sleep(600)

    def now(context: Context):
        left.append(context.seconds_left)
        while not context.cancelled:
            time.sleep(0.001)

    performer = ToolPerformer([tool(name="a.later", timeout=0.05)(later), tool(name="a.now", timeout=0.05)(now)])
    for name in ("a.later", "a.now"):
        outcome = await performer.perform(an_attempt(name))
        assert (outcome.failure.kind, outcome.failure.message) == ("timeout", f'"{name}" took longer than 0.05 seconds')
    assert max(left) <= 0.05
    with pytest.raises(TimeoutError):  # the plan's own limit is kept by who started the task
        await asyncio.wait_for(performer.perform(an_attempt("a.later", seconds=60)), 0.2)


# ------------------------------------------------------------------------------- threads


async def test_more_calls_than_threads_wait_for_each_other(an_attempt):
    lock, now, most = threading.Lock(), [0], [0]

    @tool(name="a.b")
    def busy() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.005)
        with lock:
            now[0] -= 1

    performer = ToolPerformer([busy], threads=3)
    outcomes = await asyncio.gather(*(performer.perform(an_attempt("a.b")) for _ in range(20)))
    assert [outcome.failure for outcome in outcomes] == [None] * 20
    assert most == [3]


async def test_calls_that_were_given_up_take_no_places_but_there_is_an_end_to_it(an_attempt):
    go_on = threading.Event()

    @tool(name="a.stuck")
    def stuck() -> None:
        go_on.wait(60)

    @tool(name="a.quick")
    def quick() -> str:
        return "here"

    performer = ToolPerformer([stuck, quick], threads=1)
    try:
        for _ in range(4):
            assert (await performer.perform(an_attempt("a.quick"))).output == "here"
            task = asyncio.create_task(performer.perform(an_attempt("a.stuck")))
            await asyncio.sleep(0.01)
            await cancelled(task)
        outcome = await performer.perform(an_attempt("a.quick"))
        assert outcome.failure.kind == "unavailable"
    finally:
        go_on.set()
    async with asyncio.timeout(60):
        while (await performer.perform(an_attempt("a.quick"))).failure:  # noqa: ASYNC110  a thread ends when it ends
            await asyncio.sleep(0.01)


async def test_threads_are_used_again_and_end_when_there_is_nothing_to_do(an_attempt, monkeypatch):
    monkeypatch.setattr("perdure.tools.threads.IDLE", 0.02)
    threads = []

    @tool(name="a.b")
    def who() -> None:
        threads.append(threading.current_thread())

    performer = ToolPerformer([who])
    for _ in range(5):
        await performer.perform(an_attempt("a.b"))
    assert len(set(threads)) < 5
    async with asyncio.timeout(60):
        while any(each.is_alive() for each in threads):  # noqa: ASYNC110  a thread ends when it ends
            await asyncio.sleep(0.01)
    assert (await performer.perform(an_attempt("a.b"))).failure is None


STUCK = """
import asyncio, time
from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer, tool

@tool(name="a.b")
def stuck() -> None:
    time.sleep(600)

async def main():
    work = ToolPerformer([stuck]).perform(Attempt("r", "s", 1, 1, "k", Call("tool", "a.b", {})))
    try:
        await asyncio.wait_for(work, 0.1)
    except TimeoutError:
        print("given up")

asyncio.run(main())
"""


def test_a_stuck_thread_does_not_hold_up_the_end_of_the_process():
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("given up\n", "")


def test_a_tool_is_a_tool():
    assert all(isinstance(each, Tool) for each in in_both_ways(str))

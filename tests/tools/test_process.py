"""Tools in processes of their own: results, failures, and that none of them stays behind."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import odd_tools
import pytest

from perdure.tools import ToolPerformer
from perdure.tools import process as process_room
from perdure.tools.box import load_tools
from perdure.tools.hands import Hands

PERFORMER = ToolPerformer(load_tools("odd_tools"))


async def test_arguments_and_result_cross_over(an_attempt):
    assert (await PERFORMER.perform(an_attempt("odd.add", {"a": 2}))).output == 3
    assert (await PERFORMER.perform(an_attempt("odd.renamed", {"text": "é"}))).output == "é!"
    assert odd_tools.plain("x") == odd_tools.renamed("x")


async def test_context_and_progress_cross_over(an_attempt):
    outcome = await PERFORMER.perform(an_attempt("odd.later", {"text": "\u2028\n"}, seconds=60))
    assert outcome.output["text"] == "\u2028\n"
    assert outcome.output["pid"] != os.getpid()
    assert outcome.output["known"] == ["key-1", "r_1", "fetch", 2, 3, False]
    assert 0 < outcome.output["left"] < 60
    assert an_attempt.heard == [(0.5, "half"), (1.0, "whole")]


@pytest.mark.parametrize("what", ["guard", "hands"])
async def test_what_is_not_there_in_a_process_of_its_own_says_so(what, an_attempt, tmp_path):
    """A guard without rules would let everything pass."""
    performer = ToolPerformer(load_tools("odd_tools"), hands=Hands(tmp_path, tmp_path))
    failure = (await performer.perform(an_attempt("odd.reach", {"what": what}))).failure
    assert failure.kind == "invalid"
    assert f"there is no context.{what} in a process of its own" in failure.message
    assert "isolate=True" in failure.message


async def test_the_arguments_of_the_plan_are_there(an_attempt):
    assert (await PERFORMER.perform(an_attempt("odd.reach", {"what": "x"}))).output == "{'what': 'x'}"


@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("failure", "rate_limited", "slow down"),
        ("exit", "unknown", "SystemExit: enough"),
        ("error", "unknown", "KeyError: 'error'"),
        ("die", "in_doubt", "the process of the tool ended with exit code 7 and no result: last words"),
        ("escape", "in_doubt", "the process of the tool ended with exit code 8 and no result"),
        ("kill", "in_doubt", "the process of the tool was ended by SIGKILL"),
    ],
)
async def test_failures_cross_over(how, kind, message, an_attempt, monkeypatch):
    monkeypatch.setattr(process_room, "GRACE", 0.5)
    failure = (await PERFORMER.perform(an_attempt("odd.raise", {"how": how}))).failure
    assert (failure.kind, failure.message) == (kind, message)
    if how == "failure":
        assert (failure.retry_after, failure.detail) == (3, {"left": 0})


async def test_arguments_are_checked_before_a_process_is_started(an_attempt, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere")
    outcome = await PERFORMER.perform(an_attempt("odd.add", {"a": "2"}))
    assert outcome.failure.message == "a must be a whole number"
    outcome = await PERFORMER.perform(an_attempt("odd.add", {"a": 2}))
    assert outcome.failure.kind == "unavailable"


async def test_large_results_pass_and_too_large_ones_are_refused(an_attempt, monkeypatch):
    assert len((await PERFORMER.perform(an_attempt("odd.large", {"letters": 3_000_000}))).output) == 3_000_000
    monkeypatch.setattr(process_room, "LARGEST", 1_000)
    outcome = await PERFORMER.perform(an_attempt("odd.large", {"letters": 3_000_000}))
    assert outcome.failure.kind == "invalid"
    assert "larger" in outcome.failure.message


async def test_a_result_is_a_result_though_the_process_lingers(an_attempt, monkeypatch):
    monkeypatch.setattr(process_room, "GRACE", 0.05)
    assert (await PERFORMER.perform(an_attempt("odd.lingering"))).output == "done"


# ------------------------------------------------------------------------------- none stays behind


def exists(pid):
    return Path(f"/proc/{pid}").exists()


def is_alive(pid):
    """A zombie that somebody else has to reap is dead too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  nobody tells us when a process dies
            await asyncio.sleep(0.01)


async def test_cancelling_kills_the_process_and_what_it_has_started(an_attempt, tmp_path):
    note = tmp_path / "note"
    task = asyncio.create_task(PERFORMER.perform(an_attempt("odd.stuck", {"note": str(note)})))
    await until(note.exists)
    await until(lambda: an_attempt.heard)
    child, grandchild = map(int, note.read_text().split())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not exists(child), "killed and reaped when the wait is over"
    await until(lambda: not is_alive(grandchild))


async def test_cancelling_while_it_starts_leaves_nothing(an_attempt):
    for seconds in (0, 0.001, 0.01, 0.05):
        task = asyncio.create_task(PERFORMER.perform(an_attempt("odd.later", {"text": ""})))
        await asyncio.sleep(seconds)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await until(lambda: not children())


def children():
    """Processes of isolated tools that this process has started."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            ours = f"PPid:\t{os.getpid()}\n" in (each / "status").read_text()
            found += [each.name] if ours and b"perdure.tools.child" in (each / "cmdline").read_bytes() else []
        except OSError:  # it has ended meanwhile
            continue
    return found


PARENT = """
import asyncio, sys
from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer, load_tools

asyncio.run(ToolPerformer(load_tools("odd_tools")).perform(
    Attempt("r", "s", 1, 1, "k", Call("tool", "odd.stuck", {"note": sys.argv[1]}))))
"""


def start_parent(note):
    environment = {**os.environ, "PYTHONPATH": str(Path(odd_tools.__file__).parent)}
    return subprocess.Popen([sys.executable, "-c", PARENT, note], env=environment)


async def test_the_process_dies_with_its_parent(tmp_path):
    note = tmp_path / "note"
    parent = start_parent(note)
    try:
        await until(note.exists)
        child, grandchild = map(int, note.read_text().split())
        assert is_alive(child)
    finally:
        parent.kill()
        parent.wait()
    await until(lambda: not is_alive(child))
    os.kill(grandchild, signal.SIGKILL)

"""A command and what becomes of its changes: disks that fail, commands that write too much, calls that are cancelled."""

import asyncio
import shutil
import threading
from dataclasses import replace

import pytest
from changes_world import context_of

from perdure.core.policy import Deed
from perdure.tools.failure import ToolFailure
from perdure.tools.sandbox import Command, Limits
from perdure.tools.sandbox.carrying import Errand, carried
from perdure.tools.sandbox.finding import Findings

STAMP = "date +%s%N | tee stamp"


def errand(script, **limits):
    return Errand(Command(["sh", "-c", script], limits=Limits(**limits)), "sh", (Deed("command", "sh"),))


async def test_what_a_disk_has_kept_from_being_carried_over_is_carried_over_later_and_not_run_again(hands):
    blocked = hands.state / "changes/intents/abc.json.new"
    blocked.mkdir(parents=True)
    with pytest.raises(ToolFailure, match="nothing was changed") as failed:
        await carried(context_of(hands), errand(STAMP))
    assert failed.value.failure.kind == "unavailable"
    assert not (hands.workspace / "stamp").exists()
    said = Findings(hands.state, "key").get().output["stdout"]
    blocked.rmdir()
    assert (await carried(context_of(hands), errand(STAMP)))["stdout"] == said
    assert (hands.workspace / "stamp").read_text() == said


async def test_a_command_that_fills_the_disk_is_ended_and_nothing_of_it_is_kept(hands):
    with pytest.raises(ToolFailure, match="sh wrote more than it may and was ended") as failed:
        await carried(context_of(hands), errand("while :; do head -c 3000000 /dev/zero >> big; done", disk=10_000_000))
    assert failed.value.failure.kind == "budget"
    assert not (hands.workspace / "big").exists()
    assert list((hands.state / "stages").iterdir()) == []


async def test_a_call_that_is_cancelled_while_its_stage_is_made_leaves_none(hands, monkeypatch):
    real, loop = shutil.copystat, asyncio.get_running_loop()
    reached, going_on = asyncio.Event(), threading.Event()

    def waiting(*given):
        loop.call_soon_threadsafe(reached.set)
        going_on.wait()
        return real(*given)

    monkeypatch.setattr(shutil, "copystat", waiting)
    task = asyncio.create_task(carried(context_of(replace(hands, tier="none")), errand("touch run")))
    await reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    going_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list((hands.state / "stages").iterdir()) == []
    assert not (hands.workspace / "run").exists()


@pytest.mark.parametrize(("files", "word"), [(1_001, "more than 1,000 files"), (3, "")])
async def test_files_that_nobody_may_read_are_hidden_as_far_as_they_can_be(hands, files, word):
    for n in range(files):
        (hands.workspace / f".env.{n}").write_text("KEY=hush")
    (hands.workspace / "link").symlink_to(".env.0")
    listed = errand("cat .env.* link; true")
    if word:
        with pytest.raises(ToolFailure, match=word):
            await carried(context_of(hands), listed)
    else:
        assert "hush" not in str(await carried(context_of(hands), listed))

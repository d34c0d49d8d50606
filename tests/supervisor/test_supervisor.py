"""R9 R18 E17: what ends an engine that cannot end itself, and leaves nothing behind. All processes are real."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from runs import until

from perdure.cli.stopping import NotStopped, stop_all
from perdure.config import load
from perdure.engine import Engine, View
from perdure.journal import open_journal
from perdure.journal.lock import FileLock
from perdure.supervisor import Supervisor, flag_of, raised

SUPPORT = Path(__file__).parents[1] / "support"
BLOCKING = ("regex", "sum", "power", "spin", "thread")
SOON = 10.0
"""Seconds, on a machine that has other things to do: what is meant is one."""


def step(id_, name, **more):
    return {"id": id_, "tool": f"odd.{name}", **more}


class Scene:
    """A journal, a process that works on it, and what is left of it in the end."""

    def __init__(self, path):
        self.path, self.db, self.notes = path, path / "runs.db", path / "notes"

    @contextmanager
    def living(self, *steps, memory=0, **plan):
        raw = json.dumps({"mode": "graph", "steps": list(steps), **plan})
        env = {**os.environ, "NOTES": str(self.notes)}
        with (self.path / "err").open("ab") as err:
            begin = f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); import supervised_victim as it; it.main()"
            words = [sys.executable, "-c", begin, str(self.db), raw, str(memory)]
            process = subprocess.Popen(words, env=env, stderr=err, start_new_session=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            until(lambda: not self.left_over(), "the end of all that it has started")

    def noted(self, word):
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [int(line.split()[1]) for line in lines if line.startswith(word)]

    @property
    def said(self):
        return (self.path / "err").read_text()

    def left_over(self):
        """Processes that name this place, but for zombies: supervisors, tools, and what those have started."""
        found = []
        for each in Path("/proc").iterdir():
            if each.name.isdigit() and int(each.name) != os.getpid():
                try:
                    is_ours = (
                        str(self.path).encode() in (each / "environ").read_bytes() + (each / "cmdline").read_bytes()
                    )
                except OSError:
                    continue
                found += [each.name] if is_ours and b"\0" in (each / "cmdline").read_bytes() else []
        return found

    async def view(self):
        journal = await open_journal(self.db, read_only=True)
        try:
            return await View.of(journal, (await journal.run("@last")).id)
        finally:
            await journal.close()

    def state(self):
        return asyncio.run(self.view()).state

    def stop(self):
        """As `perdure stop --all`; how long until the process is gone is for the caller to see."""
        return asyncio.run(stop_all(load({"db": str(self.db)}).settings, {"do": "stop", "by": "test"}))


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


# ------------------------------------------------------------------------------- the kill switch


@pytest.mark.campaign("the kill switch, while the event loop is blocked", "R9 I11", of="kills", lot=False)
@pytest.mark.parametrize("how", BLOCKING)
def test_r9_the_kill_switch_works_while_the_event_loop_is_blocked(how, tmp_path, trials):
    for _, place in trials.places(tmp_path, 1):
        place.mkdir()
        scene = Scene(place)
        with scene.living(step("c", "child"), step("f", "after"), step("b", how, needs=["f"])) as process:
            until(lambda: scene.noted("blocked") and scene.noted("child"), "a blocked loop")  # noqa: B023  at once
            asked = time.monotonic()
            assert len(scene.stop()) == 1
            assert process.wait(SOON) == -signal.SIGKILL
            assert time.monotonic() - asked < SOON
            assert scene.left_over() == []
        assert scene.state().ended.status == "cancelled"
        assert not flag_of(scene.db).exists()


def test_a_process_that_listens_is_not_ended_by_force(scene):
    with scene.living(step("i", "idle")) as process:
        until(lambda: scene.noted("idle"), "a tool at work")
        assert len(scene.stop()) == 1
        assert process.wait(60) == 0
    assert scene.state().ended.status == "cancelled"


def test_a_flag_that_nobody_means_any_more_stops_nobody(scene):
    with raised(flag_of(scene.db)):
        os.utime(flag_of(scene.db), (time.time() - 60, time.time() - 60))
        with scene.living(step("f", "fine")) as process:
            assert process.wait(60) == 0
    assert scene.state().ended.status == "succeeded"


@contextmanager
def locked(db):
    lock = FileLock(db.with_name(f"{db.name}.lock"))
    try:
        yield
    finally:
        lock.release()


async def test_without_a_supervisor_one_is_told_whom_to_end(scene, monkeypatch):
    monkeypatch.setattr("perdure.cli.stopping.PATIENCE", 0.2)
    settings = load({"db": str(scene.db)}).settings
    async with Engine.open(scene.db):
        pass
    with locked(scene.db), socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(scene.db.with_name("runs.db.sock")))
        deaf.listen()
        with pytest.raises(NotStopped, match=str(os.getpid())):
            await stop_all(settings, {"do": "stop"})


# ------------------------------------------------------------------------------- clock and memory


@pytest.mark.parametrize("limit", [{"timeout": "1s"}, {"budget": {"seconds": 1}}])
def test_e17_time_is_up_also_when_the_event_loop_is_blocked(scene, limit):
    with scene.living(step("b", "regex", **limit)) as process:
        assert process.wait(60) == -signal.SIGKILL
    assert "event loop is blocked" in scene.said
    assert scene.state().flying, "nothing is recorded: whoever comes next finds it"


def test_more_memory_than_it_may_take_ends_it(scene):
    with scene.living(step("e", "eat"), memory=300) as process:
        assert process.wait(60) == -signal.SIGKILL
    assert "more memory" in scene.said


# ------------------------------------------------------------------------------- one without the other


def test_an_engine_that_is_killed_takes_all_with_it(scene):
    with scene.living(step("c", "child")) as process:
        until(lambda: scene.noted("child"), "a tool in a process of its own")
        time.sleep(1.5)  # so long it takes at most until it was seen
        process.kill()
        process.wait()
        until(lambda: not scene.left_over(), "the end of all")


async def comes(happened):
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.02)


def is_alive(pid):
    return Path(f"/proc/{pid}").exists()


async def test_a_supervisor_that_dies_is_replaced(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("perdure.supervisor.supervisor.AGAIN", 0.1)
    async with Supervisor(tmp_path / "flag", lambda: None) as supervisor:
        first = supervisor.pid
        os.kill(first, signal.SIGKILL)
        await comes(lambda: supervisor.pid != first)
        second = supervisor.pid
        assert is_alive(second)
    assert "the supervisor has died" in caplog.text
    assert not is_alive(second), "it leaves with its engine"


async def test_an_engine_without_a_supervisor_goes_on(tmp_path, caplog, monkeypatch):
    async with Supervisor(tmp_path / "flag", lambda: None) as supervisor:
        monkeypatch.setattr("sys.executable", "/no/such/file")
        os.kill(supervisor.pid, signal.SIGKILL)
        await comes(lambda: "no supervisor can be started" in caplog.text)


# ------------------------------------------------------------------------------- steps that kill


@pytest.mark.parametrize("how", ["exit", "segv"])
def test_r18_a_step_that_kills_the_engine_three_times_is_left_alone_and_the_rest_goes_on(scene, how):
    steps = [
        step("bad", "kill", **{"with": {"how": how}}),
        *(step(f"f{n}", "fine", needs=[f"f{n - 1}"] if n else []) for n in range(4)),
    ]
    codes = []
    for _ in range(6):
        with scene.living(*steps, join="settled") as process:
            codes.append(process.wait(120))
        if codes[-1] == 0:
            break
    assert codes == [-signal.SIGSEGV if how == "segv" else 3] * 3 + [0]
    state = scene.state()
    assert [(each.step, each.about) for each in state.questions.values()] == [("bad", "doubt")]
    assert all(state.cells[f"f{n}"].result.exit == "success" for n in range(4))

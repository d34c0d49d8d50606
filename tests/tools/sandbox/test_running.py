"""Commands in the sandbox: what reaches them, what comes back, and that nothing of them is left."""

import asyncio
import os
import random
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
import unprivileged

from perdure.tools.sandbox import Bind, Command, Limits, SandboxFailed, run, spawn
from perdure.tools.sandbox import root as root_room

WRITER = "(setsid sh -c 'while :; do echo x >> late; done' >/dev/null 2>&1 &) ; exec sleep 60"
"""A command whose child hides from it and writes for ever."""


async def test_what_goes_in_and_comes_out():
    ran = await run(Command(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=b"go\nin\n"))
    assert (ran.code, ran.stdout, ran.stderr, ran.signal) == (3, b"go\nin\n", b"err\n", "")
    assert (ran.truncated, ran.sandboxed, ran.stopped) == (False, "bwrap", "")


async def test_the_environment_is_what_was_given(monkeypatch):
    monkeypatch.setenv("API_KEY", "hush")
    ran = await run(Command(["env"], env={"MINE": "a=b c", "LANG": "C"}))
    found = dict(line.split("=", 1) for line in ran.stdout.decode().splitlines())
    found.pop("PWD", None)
    own = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert found == {
        "PATH": own, "HOME": "/tmp/home", "LANG": "C", "TMPDIR": "/tmp", "USER": "user", "TERM": "dumb", "MINE": "a=b c",  # noqa: S108  inside
    }  # fmt: skip


def command_lines():
    return [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()]


async def test_s6_a_variable_is_on_no_command_line():
    """What a process is started with, everybody on the machine can read."""
    made = await spawn(Command(["sleep", "60"], env={"TOKEN": "canary-7f3a"}))
    try:
        lines = command_lines()
    finally:
        await made.close()
    assert any(b"sleep\x0060" in each for each in lines)
    assert not any(b"canary-7f3a" in each for each in lines)


async def test_nothing_in_a_variable_is_read_as_a_word_to_the_sandbox():
    with pytest.raises(ValueError, match="NUL"):
        await run(Command(["true"], env={"A": "x\0--bind\0/\0/"}))


async def test_words_are_not_read_by_any_shell():
    ran = await run(Command(["printf", "%s|", "$HOME", "a b", "*", "'\"", "", "é"]))
    assert ran.stdout.decode() == "$HOME|a b|*|'\"||é|"


async def test_a_program_that_is_not_there():
    assert (await run(Command(["no-such-program"]))).code == 127
    assert (await run(Command(["/etc/passwd"]))).code == 126


async def test_a_signal_is_told():
    ran = await run(Command(["sh", "-c", "kill -TERM $$"]))
    assert (ran.code, ran.signal) == (143, "SIGTERM")


async def test_the_workspace_is_seen_at_its_path(hands):
    ran = await run(Command(["sh", "-c", "pwd; cat a.txt; echo x > a.txt"], workspace=hands.workspace))
    assert ran.stdout.decode() == f"{hands.workspace}\none\n"
    assert b"Read-only" in ran.stderr
    ran = await run(
        Command(["sh", "-c", "echo x > a.txt; echo x > .git/HEAD"], workspace=hands.workspace, writable=True)
    )
    assert (hands.workspace / "a.txt").read_text() == "x\n"
    assert (hands.workspace / ".git" / "HEAD").read_text() == "ref\n"


async def test_what_is_hidden_is_not_seen(hands):
    hidden = [hands.workspace / "a.txt", hands.workspace / "src"]
    ran = await run(Command(["sh", "-c", "cat a.txt; ls src"], workspace=hands.workspace, hidden=hidden))
    assert ran.stdout == b""


async def test_a_link_in_place_of_version_control_leads_nowhere(hands, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("hush")
    (hands.workspace / ".git" / "HEAD").unlink()
    (hands.workspace / ".git").rmdir()
    (hands.workspace / ".git").symlink_to(secret)
    ran = await run(Command(["sh", "-c", "cat .git/key"], workspace=hands.workspace, writable=True))
    assert (ran.code, ran.stdout) == (1, b"")


async def test_directories_can_be_bound(hands, tmp_path):
    for name in ("tools", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "tools" / "x").write_text("tool")
    binds = [Bind(tmp_path / "tools", Path("/opt/tools")), Bind(tmp_path / "out", writable=True)]
    script = f"cat /opt/tools/x; echo y > {tmp_path}/out/y; echo z > /opt/tools/x"
    ran = await run(Command(["sh", "-c", script], binds=binds))
    assert ran.stdout == b"tool"
    assert (tmp_path / "out" / "y").read_text() == "y\n"
    assert (tmp_path / "tools" / "x").read_text() == "tool"


async def test_output_is_heard_while_it_runs_and_bounded():
    heard = []
    command = Command(["sh", "-c", "echo first; yes | head -c 3000000; echo last"], limits=Limits(output=1000))
    ran = await run(command, lambda stream, more: heard.append((stream, more)))
    assert ran.truncated
    assert ran.stdout.startswith(b"first\n")
    assert ran.stdout.endswith(b"last\n")
    assert b"bytes left out" in ran.stdout
    assert len(ran.stdout) < 1100
    assert sum(len(more) for _, more in heard) == 3_000_011


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
async def test_who_is_left_behind_holds_nobody_up(tier):
    ran = await run(Command(["sh", "-c", "(setsid sleep 60 &) ; echo hi"], seconds=30, tier=tier))
    assert (ran.stdout, ran.stopped) == (b"hi\n", "")
    assert ran.seconds < 20


async def test_an_endless_talker_is_ended():
    ran = await run(Command(["yes"], seconds=0.5, limits=Limits(output=1000)))
    assert (ran.stopped, ran.code, ran.truncated) == ("time", 137, True)


async def test_a_long_lived_process_is_talked_to():
    process = await spawn(Command(["cat"]))
    for text in (b"one\n", b"two\n"):
        process.stdin.write(text)
        assert await process.stdout.readline() == text
    await process.close()
    await process.close()
    assert process.code == 137


async def test_a_sandbox_that_cannot_be_set_up_says_why(tmp_path):
    with pytest.raises(SandboxFailed, match="nowhere"):
        await run(Command(["true"], workspace=tmp_path / "nowhere"))


async def test_no_sandbox_no_command(monkeypatch, tmp_path):
    monkeypatch.setattr(root_room, "BWRAP", str(tmp_path / "bwrap"))
    with pytest.raises(OSError, match="No such file"):
        await run(Command(["touch", str(tmp_path / "run")]))


# ------------------------------------------------------------------ limits


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
async def test_processes_are_counted(tier):
    code = (
        "import os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0: time.sleep(9); os._exit(0)\n"
        "    n += 1\nexcept OSError: pass\nprint(n)"
    )
    words = ["python3", "-c", code]
    ran = await run(Command(words, seconds=20, tier=tier, limits=Limits(processes=50)))
    assert 20 < int(ran.stdout) <= 60


async def test_a_fork_bomb_ends():
    began = time.monotonic()
    ran = await run(Command(["bash", "-c", "f() { f | f & }; f; sleep 60"], seconds=2, limits=Limits(processes=60)))
    assert ran.stopped == "time"
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("code", "limits", "said"),
    [
        ("x = bytearray(400_000_000)", Limits(memory=100_000_000), b"MemoryError"),
        ("import mmap; mmap.mmap(-1, 900_000_000)", Limits(memory=100_000_000), b"Cannot allocate memory"),
        ("open('/tmp/x', 'wb').write(bytes(2_000_000))", Limits(file_size=1_000_000), b"File too large"),
        ("open('/tmp/x', 'wb').write(bytes(3_000_000))", Limits(scratch=1_000_000), b"No space left"),
        ("open('/dev/shm/x', 'wb').write(bytes(3_000_000))", Limits(scratch=1_000_000), b"No space left"),
        ("k = [open('/dev/null') for _ in range(100)]", Limits(files=50), b"Too many open files"),
    ],
)
async def test_what_is_used_up_is_bounded(code, limits, said):
    ran = await run(Command(["python3", "-c", code], seconds=30, limits=limits))
    assert ran.code == 1
    assert said in ran.stderr


async def test_time_of_the_processor_is_bounded():
    ran = await run(Command(["python3", "-c", "while True: pass"], seconds=30, limits=Limits(cpu_seconds=1)))
    assert ran.signal in ("SIGKILL", "SIGXCPU")
    assert ran.stopped == ""


# ------------------------------------------------------------------ ending


@pytest.mark.campaign("commands that write until they are ended", "R9", of="commands")
@pytest.mark.parametrize("tier", ["bwrap", "landlock", "none"])
async def test_nothing_is_written_after_the_end(hands, tier, trials):
    """0 late writes: the hidden child is dead when the call comes back, also if that was cancelled."""
    late = hands.workspace / "late"
    command = Command(["sh", "-c", WRITER], workspace=hands.workspace, writable=True, tier=tier)
    for seed in trials(50 if tier == "bwrap" else 5):
        draw = random.Random(f"late {tier} {seed}")
        late.unlink(missing_ok=True)
        if seed % 2:
            await run(replace(command, seconds=draw.uniform(0.1, 0.15)))
        else:
            await _cancelled(command, late)
        size = late.stat().st_size if late.exists() else 0
        await asyncio.sleep(0.02)
        assert (late.stat().st_size if late.exists() else 0) == size


async def test_whoever_listens_goes_on_listening_while_a_command_ends():
    """Somebody holds its pipe open for a moment longer than it lives."""
    process = await spawn(Command(["sh", "-c", "echo $$; sleep 100"], tier="none"))
    pid = int(await process.stdout.readline())
    ours = os.open(f"/proc/{pid}/fd/1", os.O_WRONLY)
    heard = asyncio.create_task(process.stdout.read())
    ending = asyncio.create_task(process.end())
    await process.wait()
    await asyncio.sleep(0.1)
    os.write(ours, b"last words")
    os.close(ours)
    await ending
    assert await heard == b"last words"


async def _cancelled(command, late):
    task = asyncio.create_task(run(command))
    for _ in range(200):
        await asyncio.sleep(0.005)
        if late.exists():
            break
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.campaign("commands that are cancelled, also while they are begun", "R9", of="commands")
async def test_cancelling_at_any_moment_leaves_nothing(trials):
    """Also while the sandbox is still being set up; and a second cancel does not hurry it."""
    before = _open_files()
    for seed in trials(40):
        marker, draw = f"9{os.getpid()}.{seed}", random.Random(f"cancelled {seed}")
        task = asyncio.create_task(run(Command(["sleep", marker])))
        await asyncio.sleep(draw.uniform(0, 0.08))
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert _with(marker) == []
    await asyncio.sleep(0.05)
    assert _open_files() <= before + 2


@pytest.mark.campaign("kills of an engine with commands at work", "R9", of="kills")
@pytest.mark.parametrize("user", unprivileged.users())
@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_when_the_engine_is_killed_its_commands_die(user, tier, trials):
    for seed in trials(5):
        marker, draw = f"8{os.getpid()}.{seed}", random.Random(f"killed {user} {tier} {seed}")
        engine = unprivileged.popen(user, "sandbox_parent.py", marker, tier, stdout=subprocess.PIPE)
        engine.stdout.readline()
        time.sleep(draw.uniform(0, 0.12))
        engine.send_signal(signal.SIGKILL)
        engine.wait()
        engine.stdout.close()
        assert _left(marker) == []


def _left(marker):
    """What is there in the end; one that is just being started has another command line for a moment."""
    deadline = time.monotonic() + 20
    looks = 0
    while looks < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
        looks = 0 if _with(marker) else looks + 1
    return _with(marker)


def _with(marker):
    """Processes that have a word on their command line."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in each.read_bytes() and each.parent.name != str(os.getpid()):
                found.append(each.read_bytes())
        except OSError:
            continue
    return found


def _open_files():
    return len(list(Path("/proc/self/fd").iterdir()))

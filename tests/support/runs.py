"""Plans, tools and processes for tests of the commands that drive runs."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import program

PATIENCE = 120
"""Seconds until a test gives up on something that must come; never a time that a test hopes is enough."""

TOOLS = '''
import asyncio
from pathlib import Path
from perdure import tool

@tool(name="deed.write", repeat="safe")
async def write(name: str) -> str:
    """Add a line to a file, once for each call."""
    with Path("deeds").open("a") as file:
        file.write(name + "\\n")
    return name

@tool(name="deed.wait", repeat="safe")
async def wait(name: str) -> str:
    """Say that it has begun, then wait for a file of this name."""
    with Path("deeds").open("a") as file:
        file.write("begun " + name + "\\n")
    while not Path(name).exists():
        await asyncio.sleep(0.02)
    return name

@tool(name="deed.once", repeat="never")
async def once(name: str) -> str:
    """As `deed.wait`, but nobody may do it twice."""
    return await wait(name)

@tool(name="deed.block", repeat="safe")
async def block() -> None:
    """Hold up the event loop, as a badly written tool does."""
    import time
    with Path("deeds").open("a") as file:
        file.write("begun block\\n")
    while True:
        time.sleep(0.05)
'''

HELLO = """
perdure: 1
goal: Greet ${inputs.name}
inputs: {name: {type: string}, times: {type: integer, default: 1}, more: {type: [object, "null"], default: null}}
steps:
  - {id: greet, tool: flow.echo, with: {value: {name: "${inputs.name}", times: "${inputs.times}", more: "${inputs.more}"}}}
output: ${steps.greet.output}
"""
TEXT = """
perdure: 1
steps: [{id: say, tool: flow.echo, with: {value: "one\\ntwo"}}]
output: ${steps.say.output}
"""
ASK = """
perdure: 1
goal: Ship it
steps:
  - {id: build, tool: flow.echo, with: {value: 7}}
  - {id: ship, ask: "Ship build ${steps.build.output}?"}
  - {id: publish, tool: flow.echo, with: {value: published}}
output: ${steps.publish.output}
"""
WAIT = """
perdure: 1
steps:
  - {id: first, tool: deed.wait, with: {name: one}}
  - {id: second, tool: deed.write, with: {name: two}}
output: ${steps.second.output}
"""
FAIL = """
perdure: 1
steps:
  - {id: good, tool: flow.echo, with: {value: 1}}
  - {id: bad, tool: flow.fail, with: {message: "no luck", kind: logic}}
"""


def until(happened, what="", patience=PATIENCE):
    """Wait for a condition, however slow the machine is; what it gave."""
    deadline = time.monotonic() + patience
    while not (found := happened()):
        assert time.monotonic() < deadline, f"it never came: {what}"
        time.sleep(0.02)
    return found


class Place:
    """A directory with a journal, plans and tools, and the program at work in it."""

    def __init__(self, path: Path):
        self.path = path
        self.db = path / "runs.db"
        (path / "deeds.py").write_text(TOOLS)
        self.perdure = partial(program.perdure, home=path, cwd=path)

    def plan(self, text, name="plan.yaml"):
        (self.path / name).write_text(text)
        return self.path / name

    def do(self, *words, code=0, **more):
        """Run a command on the journal to its end."""
        done = self.perdure(*words, "--db", self.db, **more)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done

    def run(self, text, *words, code=0, **more):
        return self.do("run", self.plan(text), *words, code=code, **more)

    def shown(self, run="@last"):
        return json.loads(self.do("show", run, "--json").stdout)

    def deeds(self):
        file = self.path / "deeds"
        return file.read_text().splitlines() if file.exists() else []

    def let(self, name):
        (self.path / name).touch()

    def is_replayed(self, run="@last"):
        return json.loads(self.do("replay", run, "--json").stdout)["status"]

    @contextmanager
    def going(self, *words, **env):
        """The program at work, in a group of its own; killed at the end of the block."""
        out, err = (
            self.path / f"out{len(list(self.path.glob('out*')))}",
            self.path / f"err{len(list(self.path.glob('err*')))}",
        )
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "perdure", *map(str, words), "--db", str(self.db)],
                stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL, cwd=self.path,
                env=program.clean_environment(self.path, **env), start_new_session=True,
                preexec_fn=_hear_ctrl_c,  # noqa: PLW1509  a test has no threads of its own
            )  # fmt: skip
        going = Going(process, out, err)
        try:
            yield going
        finally:
            going.kill()


def _hear_ctrl_c():
    """Tests that run in the background of a shell ignore it, and so would their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Going:
    """A process that was started and can be watched."""

    def __init__(self, process, out, err):
        self.process, self._out, self._err = process, out, err

    @property
    def out(self):
        return self._out.read_text()

    @property
    def err(self):
        return self._err.read_text()

    @property
    def run(self):
        """The id that is said first."""
        found = until(lambda: self.err.partition("\n")[0] if "\n" in self.err or self._left() else "", "a run")
        assert found.startswith("run r_"), self.err
        return found.split()[1]

    def _left(self):
        assert self.process.poll() is None or self.err, "it left without a word"
        return False

    def says(self, words):
        until(lambda: words in self.err, f"{words!r} in {self.err}")

    def send(self, number=signal.SIGINT):
        os.killpg(self.process.pid, number)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def ends(self, code):
        assert self.process.wait(PATIENCE) == code, self.err
        return self


def editor(place, text):
    """A program that puts a text in the place of the file it is given."""
    path = place.path / "editor"
    path.write_text(f'#!/bin/sh\ncp "$1" seen\ncat > "$1" <<\'END\'\n{text}\nEND\n')
    path.chmod(0o755)
    return {"VISUAL": str(path)}


def on_a_terminal(place, *words):
    """What the program draws, with escape sequences taken out of it."""
    child, screen = pty.fork()
    if child == 0:
        os.chdir(place.path)
        env = program.clean_environment(place.path, TERM="xterm", COLUMNS="100", LINES="30")
        os.execve(sys.executable, [sys.executable, "-m", "perdure", *map(str, words), "--db", str(place.db)], env)  # noqa: S606  our own program
    seen, deadline = b"", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if select.select([screen], [], [], 1)[0]:
            try:
                chunk = os.read(screen, 65_536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
    os.close(screen)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())

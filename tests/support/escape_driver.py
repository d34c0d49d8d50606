"""Tries all escapes as the user who starts it: in the sandbox, and as a control where every door is open.

Prints both findings as JSON. Started as a program, so that it can be another user.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from perdure.tools.hands import Hands
from perdure.tools.sandbox import Bind, Command, Limits, available, run
from perdure.tools.sandbox.outlet import interpreter, needed
from perdure.tools.sandbox.stage import staged

ESCAPES = Path(__file__).with_name("escapes.py")


def main():
    os.environ["ESCAPE_CANARY"] = "canary-5f1c"
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as stack:
        root = Path(made)
        bait = laid_out(root, stack)
        inside = asyncio.run(sandboxed(root, bait))
        leaked = [name for name in ("written",) if (root / "outside" / name).exists()]
        intact = workspace_of(root)
        control = in_the_open(root, bait)
    print(json.dumps({"inside": inside, "control": control, "leaked": leaked, "intact": intact}))  # noqa: T201


def laid_out(root, stack):
    """Things that nobody inside should reach."""
    for name in ("ws", "ws/.git", "ws/inner", "home", "outside"):
        (root / name).mkdir()
    (root / "state").mkdir(mode=0o700)
    for name in ("secret", "home/.netrc", "state/journal", "ws/.git/config", "ws/file"):
        (root / name).write_text("bait")
    (root / "ws" / "leak").symlink_to(root / "secret")
    listening = stack.enter_context(socket.create_server(("0.0.0.0", 0)))  # noqa: S104  it must be seen not to be reached
    for kind, name in ((socket.SOCK_STREAM, "engine.sock"), (socket.SOCK_DGRAM, "engine.dgram")):
        made = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        os.chdir(root / "ws")
        made.bind(name)
        if kind == socket.SOCK_STREAM:
            made.listen()
    abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
    abstract.bind("\0perdure-escape-" + root.name)
    abstract.listen()
    shared = Path("/dev/shm", "perdure-escape-" + root.name)  # noqa: S108  it is the place that matters
    shared.write_text("bait")
    stack.callback(shared.unlink)
    libc = ctypes.CDLL(None)
    key = os.getpid() | 0x50000000
    segment = libc.shmget(key, 4096, 0o1666)
    stack.callback(libc.shmctl, segment, 0, None)
    return {
        "secret": str(root / "secret"), "home": str(root / "home"), "state": str(root / "state"),
        "outside": str(root / "outside"), "canary": "canary-5f1c", "engine": os.getpid(), "shared": str(shared),
        "segment": key, "abstract": "perdure-escape-" + root.name, "port": listening.getsockname()[1],
        "address": own_address(), "open": False,
    }  # fmt: skip


def own_address():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.connect(("192.0.2.1", 53))
        return found.getsockname()[0]
    return "127.0.0.2"


async def sandboxed(root, bait):
    hands = Hands(root / "ws", root / "state")
    report = await available(hands)
    at = Path("/run/perdure/escapes.py")
    command = Command(
        [interpreter(), "-I", "-S", str(at), json.dumps(bait)],
        binds=[*needed(), Bind(ESCAPES, at)], seconds=120, limits=Limits(output=10_000_000),
    )  # fmt: skip
    with staged(hands.state, hands.workspace, report.staging) as stage:
        ran = await run(stage.command(command))
    if ran.code != 0:
        sys.exit(f"the escapes did not run: {ran}")
    return json.loads(ran.stdout)


def in_the_open(root, bait):
    """Mounts of its own, so that it can do no harm; apart from that everything is left open."""
    words = ["/usr/bin/bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--cap-add", "ALL", "--unshare-uts"]
    os.set_inheritable(os.dup(0), True)
    told = json.dumps({**bait, "open": True})
    words += ["--chdir", str(root / "ws"), "--", interpreter(), "-I", "-S", str(ESCAPES), told]
    ran = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60, close_fds=False)
    if ran.returncode != 0:
        sys.exit(f"the control did not run: {ran}")
    return json.loads(ran.stdout)


def workspace_of(root):
    """What the sandboxed run has left in the real workspace; the control comes later and is let be."""
    return sorted(each.name for each in (root / "ws").iterdir())


if __name__ == "__main__":
    main()

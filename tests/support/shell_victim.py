"""An engine that runs one staged step and may be killed at any moment: the step adds a line to thirty files."""

import asyncio
import sys
from pathlib import Path

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.builtin import HANDS
from perdure.tools.hands import Hands

SCRIPT = "for n in $(seq 30); do echo $LINE >> f$n; done"


async def main(place, key):
    for name in ("ws", "state"):
        (place / name).mkdir(mode=0o700, exist_ok=True)
    print("started", flush=True)  # noqa: T201  whoever kills it waits for this
    call = Call("tool", "shell.run", {"command": SCRIPT, "env": {"LINE": key}})
    hands = Hands(place / "ws", place / "state")
    done = await ToolPerformer(HANDS, hands=hands).perform(Attempt("r", "s", 1, 1, key, call))
    if done.failure is not None:
        sys.exit(str(done.failure))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

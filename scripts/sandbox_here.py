"""Says why there is no sandbox here, if there is none: else tests would fail by the hundred, all of them for that."""

import asyncio
import sys
import tempfile
from pathlib import Path

from perdure.tools.hands import Hands
from perdure.tools.sandbox import probe


def lacking() -> str:
    """What is wrong and what to do about it; nothing, if commands can be run."""
    with tempfile.TemporaryDirectory(prefix="perdure-sandbox-") as place:
        workspace = Path(place).resolve()
        report = asyncio.run(probe(Hands(workspace, workspace / "state"), afresh=True))
    return "" if report.ok else f"{report.problem}\n  help: {report.fix}"


def main() -> None:
    """Say it, and fail."""
    if told := lacking():
        rest = f"{Path(sys.executable).parent}/pytest tests/plan tests/core tests/journal"
        sys.exit(f"Most tests need the sandbox, which does not work here: {told}\n  tests that need none: {rest}")


if __name__ == "__main__":
    main()

"""The collector does not look through what was loaded before the first engine was opened."""

import subprocess
import sys

PROGRAM = """
import asyncio, gc
from perdure import Engine

async def main():
    async with Engine.open():
        first = gc.get_freeze_count()
    assert first > 10_000, first
    later = [[] for _ in range(1_000)]
    async with Engine.open():
        assert gc.get_freeze_count() <= first, "what came later is left to the collector"

asyncio.run(main())
"""


def test_what_was_loaded_is_set_aside_once():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)

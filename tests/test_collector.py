"""The collector does not look through what was loaded before the first engine was opened, nor at turns."""

import gc
import subprocess
import sys

import pytest

from perdure import Engine, Plan, tool
from perdure.core.turn import turn

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


@tool(name="own.step", repeat="safe")
async def step(n: int) -> int:
    """A number."""
    return n


@pytest.mark.anyio
@pytest.mark.parametrize("is_on", [True, False])
async def test_no_turn_is_disturbed_by_the_collector_and_it_is_left_as_it_was_found(is_on, monkeypatch):
    on_in_turns = []

    def watched(*given):
        on_in_turns.append(gc.isenabled())
        return turn(*given)

    monkeypatch.setattr("perdure.runtime.runner.turn", watched)
    steps = [{"id": f"s{n}", "tool": "own.step", "with": {"n": n}} for n in range(3)]
    gc.enable() if is_on else gc.disable()
    try:
        async with Engine.open(tools=[step]) as engine:
            assert (await (await engine.start(Plan.model_validate({"steps": steps}))).result()).ok
        assert gc.isenabled() is is_on
        assert on_in_turns == [False] * 4
    finally:
        gc.enable()

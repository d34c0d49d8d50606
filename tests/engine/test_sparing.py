"""The collector does not look through what was loaded before an engine was opened."""

import gc

from perdure import Engine


async def test_what_was_loaded_is_set_aside_once():
    async with Engine.open():
        first = gc.get_freeze_count()
    assert first > 0
    kept = [[] for _ in range(10_000)]
    async with Engine.open():
        assert gc.get_freeze_count() <= first < len(kept) + first, "what came later is left to the collector"

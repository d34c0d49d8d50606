"""The collector does not look through what was loaded before an engine was opened."""

import gc

from perdure import Engine


async def test_what_was_there_before_is_set_aside_until_the_last_engine_is_closed():
    before = gc.get_freeze_count()
    async with Engine.open():
        assert gc.get_freeze_count() > before
        async with Engine.open():
            pass
        assert gc.get_freeze_count() > before
    assert gc.get_freeze_count() == before

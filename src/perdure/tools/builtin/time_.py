"""Tools about time."""

import asyncio
import time
from typing import Annotated, Final

from pydantic import Field

from perdure.tools.context import Context
from perdure.tools.tool import tool

DAY: Final = 86_400


@tool(name="time.sleep", repeat="safe", effects=(), staged=False)
async def sleep(seconds: Annotated[float, Field(ge=0, le=DAY)], context: Context) -> float:
    """Waits, while the run stays in memory; for hours and days there are `wait` steps.

    Args:
        seconds: How long, at most a day.
    """
    start = time.monotonic()
    while (left := start + seconds - time.monotonic()) > 0:
        context.progress(1 - left / seconds)
        await asyncio.sleep(min(1.0, left))
    return seconds

"""Calling a tool's function, so that whatever it does ends as an outcome."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from perdure.core.calls import Outcome
from perdure.tools.failure import failure_of
from perdure.tools.guard import Unapproved
from perdure.tools.tool import AnyTool
from perdure.tools.values import NotJson, json_and_text

Function = Callable[..., Any]
Read = Callable[[Any], Any]


def same(value: Any) -> Any:
    """What a function returns is what it gives."""
    return value


def called(tool: AnyTool, bound: Mapping[str, Any], function: Function | None = None, read: Read = same) -> Outcome:
    """Call a plain function: the tool's own, or one that belongs to it. `read` makes an output of what it returns."""
    try:
        return _outcome(tool, read((function or tool.function)(**bound)))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Unapproved as asked:
        return Outcome(exit="failure", approval=asked.approval)
    except BaseException as error:  # noqa: BLE001  also SystemExit: a tool does not end the engine
        return Outcome(exit="failure", failure=failure_of(error))


async def awaited(
    tool: AnyTool, bound: Mapping[str, Any], function: Function | None = None, read: Read = same
) -> Outcome:
    """Call an `async` function. Only who cancels this task cancels more than the call."""
    try:
        return _outcome(tool, read(await (function or tool.function)(**bound)))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Unapproved as asked:
        return Outcome(exit="failure", approval=asked.approval)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
            raise
        return Outcome(exit="failure", failure=failure_of(error))


def _outcome(tool: AnyTool, value: Any) -> Outcome:
    try:
        plain, text = json_and_text(value)
        return Outcome(plain, text=text)
    except NotJson as error:
        return Outcome.failed("invalid", f'the result of "{tool.name}" is not JSON: {error}')


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

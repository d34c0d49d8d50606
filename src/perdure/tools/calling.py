"""Calling a tool's function, so that whatever it does ends as an outcome."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from perdure.core.calls import Outcome
from perdure.tools.declaring import Happened, NotHappened
from perdure.tools.failure import failure_of
from perdure.tools.guard import Unapproved
from perdure.tools.tool import AnyTool
from perdure.tools.values import NotJson, json_and_text

Function = Callable[..., Any]
NOT_HAPPENED: Final = "not_happened"
"""The exit of a probe that found nothing."""


def called(tool: AnyTool, bound: Mapping[str, Any], function: Function | None = None) -> Outcome:
    """Call a plain function: the tool's own, or one that belongs to it."""
    try:
        return _outcome(tool, (function or tool.function)(**bound))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Unapproved as asked:
        return Outcome(exit="failure", approval=asked.approval)
    except BaseException as error:  # noqa: BLE001  also SystemExit: a tool does not end the engine
        return Outcome(exit="failure", failure=failure_of(error))


async def awaited(tool: AnyTool, bound: Mapping[str, Any], function: Function | None = None) -> Outcome:
    """Call an `async` function. Only who cancels this task cancels more than the call."""
    try:
        return _outcome(tool, await (function or tool.function)(**bound))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Unapproved as asked:
        return Outcome(exit="failure", approval=asked.approval)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
            raise
        return Outcome(exit="failure", failure=failure_of(error))


def _outcome(tool: AnyTool, value: Any) -> Outcome:
    match value:
        case Happened(output):
            return _outcome(tool, output)
        case NotHappened():
            return Outcome(exit=NOT_HAPPENED)
        case _:
            return _plain(tool, value)


def _plain(tool: AnyTool, value: Any) -> Outcome:
    try:
        plain, text = json_and_text(value)
        return Outcome(plain, text=text)
    except NotJson as error:
        return Outcome.failed("invalid", f'the result of "{tool.name}" is not JSON: {error}')


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

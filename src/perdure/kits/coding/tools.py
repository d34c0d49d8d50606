"""The tools of the coding kit: they read, compare and judge what came of tests, and do nothing to the world."""

from typing import Any, Final

from perdure.kits.coding.refusing import refusal
from perdure.kits.coding.results import Comparison, Ran, Report, broken, compare, report_of
from perdure.tools import AnyTool, ToolFailure, tool

_ENDED: Final = frozenset({"timeout", "budget"})
"""How `shell.run` fails where the command was at work and had to be ended."""


@tool(name="tests.read", repeat="safe", effects=())
async def read(
    ran: Ran | None,
    again: Ran | None = None,
    failure: dict[str, Any] | None = None,
    before: Report | None = None,
) -> Report:
    """What came of the tests that a command has run: which failed, how, and whether they always do.

    Args:
        ran: What `shell.run` has given, called with `check: false`; null if it has failed.
        again: The same of a second run with nothing changed in between; what failed only once is flaky.
        failure: Why the last of them gave nothing. Tests that took too long are reported as broken.
        before: What this gave before a change. Tests that did not fail then are told first: not all are told in full.
    """
    said = "" if failure is None else f"{failure.get('message', '')}"
    if ran is not None:
        return report_of(ran, again, said, before)
    if failure is None:
        raise ToolFailure("invalid", "ran: there is nothing to read; give what `shell.run` gave, or its failure")
    if failure.get("kind") in _ENDED:
        return broken(said)
    raise ToolFailure(failure.get("kind", "unknown"), said)


@tool(name="tests.compare", repeat="safe", effects=())
async def compare_(before: Report | None, after: Report | None) -> Comparison:
    """What has become of the tests: what is fixed, what is broken now, and what still fails.

    Args:
        before: What `tests.read` gave before a change; null if there was nothing then.
        after: What it gave after it; null if there is no command that runs tests.
    """
    return compare(before, after)


@tool(name="tests.refuse", repeat="safe", effects=())
async def refuse(before: Report, files: list[str] | None = None, hint: str = "") -> None:
    """Ends work before it begins: what shall test it tests nothing. It always fails, with what to do about that.

    Args:
        before: What `tests.read` gave before a change.
        files: Files that have tests for certain; a command that runs none is the wrong one then.
        hint: What may help.
    """
    raise refusal(before, files or (), hint)


TOOLS: Final[tuple[AnyTool, ...]] = (read, compare_, refuse)
"""The tools of the kit."""

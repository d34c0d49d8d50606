"""The tools that are always there: small and pure, enough to try plans without writing Python."""

from typing import Final

from perdure.tools.builtin import flow, json_, text, time_
from perdure.tools.tool import AnyTool, is_tool

BUILTIN: Final[tuple[AnyTool, ...]] = tuple(
    each for module in (flow, json_, text, time_) for each in vars(module).values() if is_tool(each)
)
"""All of them, by domain."""

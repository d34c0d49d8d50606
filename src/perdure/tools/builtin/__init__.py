"""The tools that are always there: small and pure, enough to try plans without writing Python; and hands."""

from typing import Final

from perdure.tools.builtin import flow, json_, text, time_
from perdure.tools.builtin.http_ import HTTP as HTTP
from perdure.tools.tool import AnyTool, is_tool

BUILTIN: Final[tuple[AnyTool, ...]] = tuple(
    each for module in (flow, json_, text, time_) for each in vars(module).values() if is_tool(each)
)
"""All of them, by domain."""
HANDS: Final[tuple[AnyTool, ...]] = (*HTTP,)
"""Tools that touch the world: each deed of theirs is judged first."""

"""Tools for git repositories. The user's files, index, stash and checked-out branch are never touched."""

from typing import Final

from perdure.tools.builtin.git_ import looking, moving, pushing, worktrees
from perdure.tools.tool import AnyTool, is_tool

GIT: Final[tuple[AnyTool, ...]] = tuple(
    each for module in (looking, moving, worktrees, pushing) for each in vars(module).values() if is_tool(each)
)

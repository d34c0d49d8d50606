"""The tools that come with it: `BUILTIN` are small and pure, `HANDS` reach into a workspace and into the world."""

from typing import TYPE_CHECKING, Any, Final

from perdure.tools.builtin import flow, json_, text, time_
from perdure.tools.tool import AnyTool, is_tool

if TYPE_CHECKING:
    HANDS: tuple[AnyTool, ...]

BUILTIN: Final[tuple[AnyTool, ...]] = tuple(
    each for module in (flow, json_, text, time_) for each in vars(module).values() if is_tool(each)
)
"""All of them, by domain."""


def __getattr__(name: str) -> Any:
    """`HANDS` are made when somebody asks for them: a plan that touches nothing does not wait for them."""
    if name != "HANDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from perdure.tools.builtin.files import FILES  # noqa: PLC0415
    from perdure.tools.builtin.git_ import GIT  # noqa: PLC0415
    from perdure.tools.builtin.http_ import HTTP  # noqa: PLC0415
    from perdure.tools.builtin.python_ import PYTHON  # noqa: PLC0415
    from perdure.tools.builtin.shell import SHELL  # noqa: PLC0415

    return globals().setdefault("HANDS", (*FILES, *HTTP, *SHELL, *PYTHON, *GIT))

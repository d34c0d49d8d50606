"""The tools that come with it: `BUILTIN` are small and do nothing to the world, `HANDS` reach into it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from perdure.tools.builtin import agents_, flow, json_, memory, planning, text, time_
from perdure.tools.tool import AnyTool, is_tool

if TYPE_CHECKING:
    HANDS: tuple[AnyTool, ...]
    BRANCH: tuple[AnyTool, ...]
    FILES: tuple[AnyTool, ...]
    HTTP: tuple[AnyTool, ...]
    SHELL: tuple[AnyTool, ...]
    PYTHON: tuple[AnyTool, ...]
    GIT: tuple[AnyTool, ...]

_ROOMS: Final = {
    "FILES": "files", "HTTP": "http_", "SHELL": "shell", "PYTHON": "python_", "GIT": "git_", "BRANCH": "branch",
}  # fmt: skip
"""Where the tools that reach out are, by domain."""

BUILTIN: Final[tuple[AnyTool, ...]] = tuple(
    each
    for module in (agents_, flow, json_, memory, planning, text, time_)
    for each in vars(module).values()
    if is_tool(each)
)
"""All of them, by domain."""


def __getattr__(name: str) -> Any:
    """`HANDS` are made when somebody asks for them: a plan that touches nothing does not wait for them."""
    if name not in _ROOMS and name != "HANDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    rooms = {each: import_module(f"{__name__}.{room}") for each, room in _ROOMS.items()}
    found = {each: getattr(room, each) for each, room in rooms.items()}
    globals().update(found, HANDS=tuple(tool for tools in found.values() for tool in tools))
    return globals()[name]

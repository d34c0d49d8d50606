"""Tools by name: for the performer, for the checks of a plan, and from a module somebody names."""

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from perdure.plan.problems import did_you_mean
from perdure.plan.raw import is_list
from perdure.plan.toolbox import Toolbox, ToolFacts
from perdure.tools.declaring import UNDECLARED
from perdure.tools.errors import Duplicate, NotLoaded
from perdure.tools.failure import kept
from perdure.tools.tool import AnyTool, is_tool


def by_name(tools: Iterable[AnyTool]) -> dict[str, AnyTool]:
    """The tools by name. The same tool twice is one tool; two of one name are refused."""
    found: dict[str, AnyTool] = {}
    for each in tools:
        if found.setdefault(each.name, each) is not each:
            where = f"{found[each.name].address} and {each.address}"
            raise Duplicate(f'two tools are called "{each.name}": {where}', 'give one of them another `name="…"`')
    return found


def toolbox_of(tools: Iterable[AnyTool], others: Mapping[str, AnyTool] | None = None) -> Toolbox:
    """What the checks of a plan need to know of tools. `others` are asked only about names that are not among them."""
    return Toolbox.model_construct(tools=_Facts(by_name(tools), {} if others is None else others))


class _Facts(Mapping[str, ToolFacts]):
    """What is known of tools; the schemas are made of those that are looked at, which are few of many."""

    def __init__(self, tools: Mapping[str, AnyTool], others: Mapping[str, AnyTool]) -> None:
        self._tools = tools
        self._others = others

    def __getitem__(self, name: str) -> ToolFacts:
        return (self._tools[name] if name in self._tools else self._others[name]).facts()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._tools, *self._others)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def load_tools(address: str) -> tuple[AnyTool, ...]:
    """The tools at `module:object` (a tool, several, or a module of them), or all that are in `module`.

    Modules are also looked for in the current directory.
    """
    module, _, path = address.partition(":")
    if "/" in module or module.endswith(".py"):
        hint = (
            f"write {Path(module).stem}, without its directory and ending; modules are found in the current directory"
        )
        raise NotLoaded(f'"{module}" is a file, not a module', hint)
    found: Any = _imported(module, address)
    for name in path.split(".") if path else ():
        if not hasattr(found, name):
            hint = did_you_mean(name, dir(found))
            raise NotLoaded(f'there is no "{name}" in {module}', hint or "write module:object")
        found = getattr(found, name)
    return tuple(by_name(_collected(found, address)).values())


def _imported(module: str, address: str) -> ModuleType:
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        why = kept(f"{type(error).__name__}: {error}".partition("\n")[0])
        hint = "write module:object; a module is found in the current directory or where Python finds it"
        raise NotLoaded(f'no tools can be loaded from "{address}": {why}', hint) from error


def _collected(found: Any, address: str) -> list[AnyTool]:
    each: Iterable[Any] = (
        vars(found).values() if isinstance(found, ModuleType) else found if is_list(found) else [found]
    )
    tools = [one for one in each if is_tool(one)]
    if not tools:
        raise NotLoaded(f'there are no tools in "{address}"', "decorate a function with @tool")
    return tools


def outside_of(known: Mapping[str, AnyTool]) -> Callable[[str], str]:
    """What a tool by its name reads outside of the run, in words; empty: nothing."""

    def outside(name: str) -> str:
        if not name:
            return ""  # a model or an agent hands on what it was given
        return known[name].declared.outside if name in known else UNDECLARED.outside

    return outside

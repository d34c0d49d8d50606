"""The coding kit: goals become tested changes of many files, on a branch of their own.

`TOOLS` are its tools and `plans()` its plans, for `Engine.open(tools=TOOLS, plans=plans())`.
"""

from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perdure.kits.coding.tools import TOOLS as TOOLS
    from perdure.plan import Plan

__all__ = ["TOOLS", "plans"]


@cache
def plans() -> "Mapping[str, Plan]":
    """The plans of the kit, by the names that other plans call them by: `coding.test` is `plans/test.yaml`."""
    from perdure.plan import Plan  # noqa: PLC0415  who only looks at the kit needs no plan

    with resources.as_file(resources.files(__name__).joinpath("plans")) as directory:
        files = sorted(Path(directory).glob("*.yaml"))
        return MappingProxyType({f"coding.{each.stem}": Plan.load(each) for each in files})


def __getattr__(name: str) -> Any:
    if name == "TOOLS":
        from perdure.kits.coding.tools import TOOLS  # noqa: PLC0415  they are heavy, and who looks at plans needs none

        return TOOLS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

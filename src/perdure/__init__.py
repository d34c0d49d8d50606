"""Perdure: plans as data, runs as journals, and both get to the end.

Names are imported when they are first used, so that `import perdure` and `perdure --help` stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perdure.agents import Agent as Agent
    from perdure.core.occasion import Adjustment as Adjustment
    from perdure.core.occasion import Occasion as Occasion
    from perdure.engine import Engine as Engine
    from perdure.engine import Result as Result
    from perdure.engine import RunHandle as RunHandle
    from perdure.engine import run_sync as run_sync
    from perdure.errors import PerdureError as PerdureError
    from perdure.plan import Plan as Plan
    from perdure.plan import PlanError as PlanError
    from perdure.plan import Problem as Problem
    from perdure.plan import Toolbox as Toolbox
    from perdure.plan.checks import check as check
    from perdure.plan.diff import diff as diff
    from perdure.plan.edits import revise as revise
    from perdure.plan.reading import LabelStep as LabelStep
    from perdure.runtime.room import Limits as Limits
    from perdure.tools import Context as Context
    from perdure.tools import Deed as Deed
    from perdure.tools import Happened as Happened
    from perdure.tools import NotHappened as NotHappened
    from perdure.tools import Tool as Tool
    from perdure.tools import ToolFailure as ToolFailure
    from perdure.tools import tool as tool
    from perdure.tools.rules import Rule as Rule

__version__: Final = "0.1.0"

_HOMES: Final = {
    "Agent": "perdure.agents",
    "Occasion": "perdure.core.occasion",
    "Adjustment": "perdure.core.occasion",
    "Engine": "perdure.engine",
    "Result": "perdure.engine",
    "RunHandle": "perdure.engine",
    "run_sync": "perdure.engine",
    "Limits": "perdure.runtime.room",
    "PerdureError": "perdure.errors",
    "Plan": "perdure.plan",
    "PlanError": "perdure.plan",
    "Problem": "perdure.plan",
    "Toolbox": "perdure.plan",
    "LabelStep": "perdure.plan.reading",
    "check": "perdure.plan.checks",
    "diff": "perdure.plan.diff",
    "revise": "perdure.plan.edits",
    "Context": "perdure.tools",
    "Deed": "perdure.tools",
    "Happened": "perdure.tools",
    "NotHappened": "perdure.tools",
    "Rule": "perdure.tools.rules",
    "Tool": "perdure.tools",
    "ToolFailure": "perdure.tools",
    "tool": "perdure.tools",
}

__all__ = [
    "Adjustment",
    "Agent",
    "Context",
    "Deed",
    "Engine",
    "Happened",
    "LabelStep",
    "Limits",
    "NotHappened",
    "Occasion",
    "PerdureError",
    "Plan",
    "PlanError",
    "Problem",
    "Result",
    "Rule",
    "RunHandle",
    "Tool",
    "ToolFailure",
    "Toolbox",
    "check",
    "diff",
    "revise",
    "run_sync",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'perdure' has no attribute {name!r}")

"""Heads: who makes plans, judges them and grows them. What needs a model's judgement, or stands in for it.

The roster knows all ways of working; it is loaded when somebody wants it, because most who look for an agent do not.
"""

from typing import TYPE_CHECKING, Any

from perdure.agents.agent import Agent

if TYPE_CHECKING:
    from perdure.agents.roster import BadAgent, Roster

__all__ = ["Agent", "BadAgent", "Roster"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'perdure.agents' has no attribute {name!r}")
    from perdure.agents import roster  # noqa: PLC0415  see above

    return getattr(roster, name)

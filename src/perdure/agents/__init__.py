"""Heads: who makes plans, judges them and grows them. What needs a model's judgement, or stands in for it.

Names are imported when they are first used: the roster knows all ways of working, and most who look for an agent do not
want them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from perdure.agents.agent import Agent

if TYPE_CHECKING:
    from perdure.agents.reading import agents_in as agents_in
    from perdure.agents.roster import BadAgent as BadAgent
    from perdure.agents.roster import Roster as Roster
    from perdure.agents.templates import Template as Template
    from perdure.agents.templates import classify as classify
    from perdure.agents.templates import template_of as template_of

_HOMES: Final = {
    "BadAgent": "perdure.agents.roster",
    "Roster": "perdure.agents.roster",
    "Template": "perdure.agents.templates",
    "agents_in": "perdure.agents.reading",
    "classify": "perdure.agents.templates",
    "template_of": "perdure.agents.templates",
}

__all__ = ["Agent", "BadAgent", "Roster", "Template", "agents_in", "classify", "template_of"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'perdure.agents' has no attribute {name!r}")

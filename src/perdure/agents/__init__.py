"""Heads: who makes plans, judges them and grows them. What needs a model's judgement, or stands in for it."""

from perdure.agents.agent import Agent
from perdure.agents.roster import BadAgent, Roster

__all__ = ["Agent", "BadAgent", "Roster"]

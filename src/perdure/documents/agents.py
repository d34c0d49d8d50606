"""Agents: whom plans may give work to, and all that is known about them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from perdure.agents.agent import Agent


class Known(NamedTuple):
    """An agent, and where it comes from."""

    agent: Agent
    origin: str


def agents_document(agents: Iterable[Known]) -> dict[str, Any]:
    """All of them."""
    return {"schema": "perdure.agents/1", "agents": [_agent(each) for each in agents]}


def agent_document(known: Known, good: int, bad: int) -> dict[str, Any]:
    """One agent: what it is told, and how it did with its last tasks."""
    return {"schema": "perdure.agent/1", **_agent(known), "tasks": {"good": good, "bad": bad}}


def _agent(known: Known) -> dict[str, Any]:
    return {"origin": known.origin, **known.agent.model_dump(mode="json")}

"""How strategies ask models: by reference to what is known, and with what the answer may take.

No value is copied into a step that is grown. What a task, a fact or a result says stands behind `${…}`, so that data
which looks like an expression stays data; and what an agent is told is escaped, for the same reason.
"""

from collections.abc import Mapping
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.core.growth import View
from perdure.models.answering import written as told
from perdure.plan.expr import escaped
from perdure.plan.expr.path import written

USUAL_TOKENS: Final = 1024
"""The most an answer may have, where the agent does not say."""
FEWEST: Final = 16
"""Nothing shorter is worth asking for."""
CHARACTERS: Final = 3
"""As many make a token at least."""


def who_is(agent: Agent, manner: str = "") -> str:
    """What the model of an agent is told before all else."""
    who = [f"You are {agent.role}." if agent.role else "", f"Your goal: {agent.goal}" if agent.goal else ""]
    parts = [*who, agent.backstory, agent.instructions, manner]
    return "\n\n".join(each.strip() for each in parts if each.strip())


def instructions_of(agent: Agent, manner: str = "") -> str:
    """The same as a text of a plan."""
    return escaped(who_is(agent, manner))


def task_of(view: View) -> str:
    """What an agent is to do, what it is given for that and what was done before, as a text of a plan that names it."""
    facts = [f"{escaped(name)}: ${{{written('inputs', (name,))}}}" for name in view.facts if _may_be_named(name)]
    given = ["What you are given:\n" + "\n".join(facts)] if facts else []
    shown = ["What was done before, the newest first:\n${inputs.context}"] if view.context else []
    return "\n\n".join(["${inputs.task}", *given, *shown])


def _may_be_named(name: str) -> bool:
    return not set(name) & set("\"'\\\r\n")


def size_of(value: Any) -> int:
    """How many tokens a value takes at most, when a model reads it."""
    return len(told(value)) // CHARACTERS + 1


def most_of(view: View, agent: Agent, known: int) -> int:
    """The most an answer may have: what the agent says, and no more than the budget leaves beside what is known."""
    usual = agent.tokens or USUAL_TOKENS
    left = view.left.get("tokens")
    return usual if left is None else max(FEWEST, min(usual, int(left) - known))


def asked(view: View, agent: Agent, known: int, **fields: Any) -> dict[str, Any]:
    """A step that asks the model of an agent. `known`: tokens that it has to read, as far as they can be told."""
    most = most_of(view, agent, known)
    step: dict[str, Any] = {"model": agent.model, "tokens": most, **fields}
    return step if not known else {**step, "estimate": {"tokens": known + most}}


def options_of(agent: Agent, strategy: str) -> Mapping[str, Any]:
    """What a strategy is told: all options, if it is the agent's own, else those under its name."""
    return agent.options if agent.strategy == strategy else agent.options.get(strategy, {})


def facts_of(view: View) -> dict[str, Any]:
    """What an agent was given, to hand it on as it is."""
    return {name: f"${{{written('inputs', (name,))}}}" for name in view.facts if _may_be_named(name)}

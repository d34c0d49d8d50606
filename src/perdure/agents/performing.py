"""Performing the calls of agents as a whole: to choose, to judge, to take back. One question to the agent's model.

An agent that is given a step grows into steps of its own; this is for those who are asked beside the plan's order.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from perdure.agents.agent import Agent
from perdure.agents.roster import Roster
from perdure.agents.strategies.asking import usual_tokens
from perdure.agents.strategies.words import who_is
from perdure.core.calls import Call, Outcome
from perdure.models.answering import written
from perdure.models.performing import ModelPerformer
from perdure.ports import Attempt


class AgentPerformer:
    """Asks an agent one thing."""

    def __init__(self, roster: Roster, models: ModelPerformer) -> None:
        self._roster: Final = roster
        self._models: Final = models

    async def perform(self, attempt: Attempt) -> Outcome:
        """Ask the agent's model."""
        agent = self._roster.find(attempt.call.name)
        if agent is None:
            return Outcome.failed("unavailable", f'there is no agent "{attempt.call.name}"')
        if agent.loop is not None:
            told = (
                f"{agent.name} is an agent of another framework: it can be given a step, and not a question beside it"
            )
            return Outcome.failed("invalid", told)
        return await self._models.perform(replace(attempt, call=_question(agent, attempt.call)))

    def expected(self, call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
        """What its answer may take."""
        agent = self._roster.find(call.name)
        return said if agent is None or agent.loop else self._models.expected(_question(agent, call), said)


def _question(agent: Agent, call: Call) -> Call:
    return Call("model", agent.model, _asked(agent, call.arguments))


def _asked(agent: Agent, given: Mapping[str, Any]) -> dict[str, Any]:
    facts: Mapping[str, Any] = given.get("with", {})
    told = [f"{name}: {written(value)}" for name, value in facts.items()]
    prompt = "\n\n".join(filter(None, (str(given.get("task", "")), "\n".join(told))))
    asked = {"prompt": prompt or "Go ahead.", "instructions": who_is(agent), "tokens": usual_tokens(agent)}
    handed_on = {word: given[word] for word in ("returns", "choices", "context") if word in given}
    free = {} if agent.temperature is None else {"temperature": agent.temperature}
    return {**asked, **handed_on, **free}

"""Asking a model, as a step: what it is told, what it may answer with, and what that may take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.asking import CHARACTERS, USUAL_TOKENS, instructions_of
from perdure.agents.strategies.costs import Cost, budgets, call_cost
from perdure.agents.strategies.finishing import wanted
from perdure.agents.strategies.words import Words, length_of
from perdure.core.growth import Child, View
from perdure.plan.expr import escaped

NO_TOOLS: Final[list[str]] = []
"""Offered with a schema: then an answer that does not fit is heard whole, with what is wrong, and is no failure."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A step to be grown, and what it may take."""

    step: dict[str, Any]
    cost: Cost
    size: int = 0
    """How long the conversation is when it is over, in letters."""


def ask(  # noqa: PLR0913  each is a part of the question, given by name
    view: View,
    agent: Agent,
    words: Words,
    *,
    returns: Mapping[str, Any] | None = None,
    after: str = "",
    before: int = 0,
    instructions: str | None = None,
    model: str = "",
) -> Asked:
    """Ask the agent's model; `after` goes on with a conversation that is `before` letters long."""
    told = "" if after else instructions_of(agent, wanted(view)) if instructions is None else escaped(instructions)
    letters = before + words.size + len(told) + (length_of(returns) if returns else 0)
    tokens = agent.tokens or USUAL_TOKENS
    cost = call_cost(view, model or agent.model, letters, tokens)
    step: dict[str, Any] = {"model": model or agent.model, "prompt": words.text, "tokens": tokens}
    step |= {"after": after} if after else {"instructions": told} if told else {}
    step |= {"returns": dict(returns), "tools": NO_TOOLS} if returns is not None else {}
    step |= {} if after or agent.temperature is None else {"temperature": agent.temperature}
    return Asked({**step, "estimate": {"tokens": round(cost["tokens"])}}, cost, letters + tokens * CHARACTERS)


def longest(agent: Agent) -> int:
    """How long an answer may be, in letters."""
    return (agent.tokens or USUAL_TOKENS) * CHARACTERS


def grown(asked: Sequence[Asked], left: Cost) -> list[dict[str, Any]]:
    """Steps that are at work at once, each with what it may spend."""
    shares = budgets(left, [each.cost for each in asked])
    return [{**each.step, **share} for each, share in zip(asked, shares, strict=True)]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model has answered."""

    id: str
    """The step that has asked."""
    path: str
    """Where the answer is found."""
    value: Any = None
    flaws: tuple[str, ...] = ()
    """What is wrong with it; empty: nothing."""


def hear(child: Child, returns: Mapping[str, Any] | None) -> Heard:
    """Read an answer: a text, or a value where a schema was given."""
    path = f"steps.{child.id}.output"
    if child.exit != "success":
        return Heard(child.id, path, flaws=(child.failure.message if child.failure else "it was not asked",))
    output = child.output
    if returns is None:
        return Heard(child.id, path, output)
    if "value" in output:
        return Heard(child.id, f"{path}.value", output["value"])
    return Heard(
        child.id, path, flaws=tuple(output.get("flaws") or ("it asks for calls, and there are none to be made",))
    )

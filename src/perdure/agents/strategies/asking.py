"""Asking a model, as a step: what it is told, what it may answer with, and what that may take.

Whoever begins a conversation offers tools, maybe none: then an answer is heard whole, as `{text, calls}`, with `value`
or `flaws` where there is a schema, and one that does not fit is no failure. Whoever goes on says only what is new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.prompts import prompt
from perdure.agents.strategies.answering import schema_of, wanted
from perdure.agents.strategies.costs import Cost, budgets, call_cost
from perdure.agents.strategies.words import Words, length_of, task_of, who_is
from perdure.core.growth import Child, View
from perdure.plan.expr import escaped
from perdure.plan.tokens import FRAME, PIECES, pieces_in, tokens_in
from perdure.tools import AnyTool

USUAL_TOKENS: Final = 1024
"""The most an answer may have, where the agent does not say."""
NOTHING: Final = Words()
FEWEST: Final = 64
"""Where less than this is left for an answer, it does not fit."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A step to be grown, and what it may take."""

    step: dict[str, Any]
    cost: Cost


def ask(  # noqa: PLR0913  each is a part of the question, given by name
    view: View,
    agent: Agent,
    words: Words,
    *,
    returns: Mapping[str, Any] | None = None,
    after: Child | None = None,
    told: str | None = None,
    tools: Sequence[str] = (),
    model: str = "",
) -> Asked:
    """Ask the agent's model, or another; `after` goes on with a conversation, which holds what it was told before."""
    told = "" if after else who_is(agent, wanted(view)) if told is None else told
    size = words.size + pieces_in(told) + (length_of(returns) if returns else 0)
    reads = tokens_in(size) + FRAME + (after.tokens if after else 0)
    most = most_of(view, agent, reads)
    cost = call_cost(view, model or agent.model, reads, most)
    step: dict[str, Any] = {"model": model or agent.model, "tokens": most, "estimate": {"tokens": reads + most}}
    step |= {"after": after.id} if after else {"tools": list(tools), **_opening(agent, told)}
    step |= {"prompt": words.text} if words.text else {}
    step |= {"returns": dict(returns)} if returns is not None else {}
    return Asked(step, cost)


def opening(view: View, agent: Agent, tools: Mapping[str, AnyTool], note: Words = NOTHING) -> Asked:
    """The first question of one who acts. What is told of the tools that are offered is read with it."""
    offered = sum(_length(tools[each]) for each in agent.tools if each in tools)
    told, words = f"{prompt('react')}\n\n{wanted(view)}", task_of(view).add(note).beside(offered)
    return ask(view, agent, words, returns=schema_of(view), told=who_is(agent, told), tools=agent.tools)


def _opening(agent: Agent, told: str) -> dict[str, Any]:
    """What holds for a whole conversation."""
    said = {"instructions": escaped(told) or None, "temperature": agent.temperature}
    return {word: value for word, value in said.items() if value is not None}


def most_of(view: View, agent: Agent, reads: int) -> int:
    """The most an answer may have: what the agent says, and no more than is left beside what is read."""
    left = view.left.get("tokens")
    usual = usual_tokens(agent)
    return usual if left is None else min(usual, max(FEWEST, int(left) - reads))


def usual_tokens(agent: Agent) -> int:
    """The most an answer may have, as far as its agent goes."""
    return agent.tokens or USUAL_TOKENS


def longest(agent: Agent) -> int:
    """How long an answer may be, in pieces of tokens."""
    return usual_tokens(agent) * PIECES


def _length(tool: AnyTool) -> int:
    """How long it is what a model is told of a tool."""
    return length_of([tool.name, tool.summary, tool.signature.inputs])


def grown(asked: Sequence[Asked], left: Cost) -> list[dict[str, Any]]:
    """Steps that are at work at once, each with what it may spend."""
    shares = budgets(left, [each.cost for each in asked])
    return [{**each.step, **share} for each, share in zip(asked, shares, strict=True)]

"""Agents of pydantic-ai as agents of plans: `adapted(agent)` gives one to an engine as it is."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import PrivateAttr, ValidationError
from pydantic_ai import UsageLimits

from perdure.agents.adapted.errors import Changed, NotAdapted
from perdure.agents.adapted.reading import AnyAgent, tools_of, who_is
from perdure.agents.adapted.working import CALLING, AdaptedLoop, Deps
from perdure.agents.agent import Agent, Loop
from perdure.errors import PerdureError
from perdure.plan.problems import did_you_mean
from perdure.plan.sayings import sentence
from perdure.tools import Context

__all__ = ["AdaptedAgent", "Changed", "NotAdapted", "adapted", "context"]


class AdaptedAgent(Agent):
    """An agent whose loop is another framework's."""

    _loop: Loop | None = PrivateAttr(default=None)

    def working_by(self, loop: Loop) -> Self:
        """The same, with its loop."""
        self._loop = loop
        return self

    @property
    def loop(self) -> Loop | None:
        """What runs its own loop."""
        return self._loop


def adapted(  # noqa: PLR0913  each is a word of its own, given by name
    agent: AnyAgent,
    *,
    name: str = "",
    tools: Sequence[str] = (),
    declared: Mapping[str, Mapping[str, Any]] | None = None,
    deps: Deps | None = None,
    model: str = "",
    limits: UsageLimits | None = None,
    **fields: Any,
) -> AdaptedAgent:
    """An agent of pydantic-ai, to be handed to `Engine.open(agents=[…])`. `NotAdapted` if it cannot be.

    `name` is what plans call it, if not by its own name. `tools` are tools of Perdure that it may call besides its own,
    as in `files.*`. `declared` says about its own tools what `@tool` says: `{"search": {"repeat": "safe"}}`; whoever
    says nothing has a person asked when it is not known whether a call was made. `deps` makes what the agent depends on
    from the facts of its step. `model` is a tier or a model of the engine's, instead of the agent's own. `limits` are
    the framework's own, beside the budgets of the plan; without them it asks its model 50 times at most. All other
    fields are those of `Agent`.
    """
    called = name or agent.name or ""
    own = tools_of(agent)
    _check_declared(own, declared or {})
    who = {**who_is(agent, own), **({"model": model} if model else {})}
    try:
        loop = AdaptedLoop(called, agent, who, own, declared or {}, deps, model, tools, limits)
        found = AdaptedAgent(
            name=called,
            model=f"agent:{called}",
            tools=tuple(tools),
            strategy="adapted",
            options={"who": who},
            **fields,
        )
    except ValidationError as error:
        told = "; ".join(sentence(each) for each in error.errors(include_url=False)[:5])
        raise NotAdapted(f"the agent {called!r} cannot be given to plans: {told}", HOW) from None
    except (TypeError, PerdureError) as error:
        raise NotAdapted(f"the agent {called!r} cannot be given to plans: {error}", HOW) from None
    return found.working_by(loop)


HOW = "see the words of `adapted` in docs/guides/pydantic-ai.md"


def _check_declared(own: Mapping[str, Any], declared: Mapping[str, Any]) -> None:
    for each in declared:
        if each not in own:
            hint = did_you_mean(each, own) or "it has none of its own"
            raise NotAdapted(f'something is declared about "{each}", which the agent has not', hint)


def context() -> Context:
    """What a tool of an adapted agent may know of the attempt it belongs to: its key, how long it may take."""
    try:
        return CALLING.get()
    except LookupError:
        raise NotAdapted("this is asked outside of a call", "ask it in a tool that an adapted agent calls") from None

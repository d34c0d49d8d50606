"""Agents in a world without models: a function answers for the model, and the product reads what it says."""

import json
import random

from driven import driven

from perdure.agents.agent import Agent
from perdure.agents.strategies import STRATEGIES
from perdure.core.calls import Failure, Outcome, Usage
from perdure.models.answering import form_of, outcome_of
from perdure.ports import Answer, Request
from perdure.testing.worlds import HANGS, Takes, World


def answers(say, tools=None, paid=None):
    """A script: `say(prompt, step)` answers for the model, tools are functions, `paid(call)` tells what a call took."""
    tools = tools or {}

    def script(command):
        def given(call):
            if call.kind == "model":
                return _read(call, say(call.arguments["prompt"], command.step), paid(call) if paid else (1, 1, 0.0))
            return tools[call.name](**call.arguments)

        return given

    return script


def _read(call, said, paid):
    if isinstance(said, Failure):
        return Outcome(exit="failure", failure=said, usage=Usage(tokens=paid[0] + paid[1], usd=paid[2], calls=1))
    text = said if isinstance(said, str) else json.dumps(said)
    tokens_in, tokens_out, usd = paid
    about = call.arguments
    request = Request(call.name, (), returns=about.get("returns"), choices=tuple(about.get("choices", ())))
    return outcome_of(request, Answer(text, (), "stop", tokens_in, tokens_out, usd), form_of(about))


def step_of(**more):
    """A step for the agent."""
    return {"id": "ag", "agent": "me", "task": "What is ${inputs.what}?", **more}


def bound(agents):
    """The strategies, as an engine binds them to agents."""
    named = {each.name: each for each in agents}
    own = {f"agent:{each.name}": _for(each.strategy, named) for each in agents}
    return {**{name: _for(name, named) for name in STRATEGIES}, **own}


def _for(strategy, agents):
    return lambda view: STRATEGIES[strategy](view, agents[view.agent])


def agent(strategy, options=None, **more):
    """The agent `me`."""
    return Agent(name="me", strategy=strategy, options=options or {}, **more)


def thought(me, say, tools=None, step=None, paid=None, budget=None, others=(), what="it", **dials):
    """A run in which an agent has worked, driven as it is and folded anew before every message."""
    plan = {"steps": [step or step_of()], **({"budget": budget} if budget else {})}
    return driven(plan, answers(say, tools, paid), {"what": what}, strategies=bound([me, *others]), **dials)


def world_of(me, say, tools=None, step=None, paid=None, budget=None, others=(), what="it", **dials):
    """The same, not yet begun."""
    plan = {"steps": [step or step_of()], **({"budget": budget} if budget else {})}
    return World(plan, answers(say, tools, paid), strategies=bound([me, *others]), **dials).start({"what": what})


def prompts(world):
    """What models were asked, in order."""
    return [made.call.arguments["prompt"] for made in world.made if made.call.kind == "model"]


def grown_by(world):
    """All steps that were grown, as they were written."""
    from perdure.core import events as e

    return [step for event in world.find(e.StepsGrown) for step in event.add]


__all__ = [
    "HANGS",
    "Takes",
    "agent",
    "answers",
    "bound",
    "grown_by",
    "prompts",
    "random",
    "step_of",
    "thought",
    "world_of",
]

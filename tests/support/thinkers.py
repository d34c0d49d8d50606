"""Agents in a world without models: a function answers for the model, and the product reads what it says."""

import json

from driven import driven

from perdure.agents.agent import Agent
from perdure.agents.roster import Roster
from perdure.core import events as e
from perdure.core.calls import Failure, Outcome, Usage
from perdure.models.answering import form_of, outcome_of
from perdure.ports import Answer, Request
from perdure.testing.worlds import World


def answers(say, tools=None, paid=None):
    """A script: `say(prompt, step)` answers for the model, tools are functions, `paid(call)` tells what a call took."""
    tools = tools or {}

    def script(command):
        def given(call):
            if call.kind == "model":
                return _read(
                    call, say(call.arguments.get("prompt", ""), command.step), paid(call) if paid else (1, 1, 0.0)
                )
            return tools[call.name](**call.arguments)

        return given

    return script


def _read(call, said, paid):
    if isinstance(said, Failure):
        return Outcome(exit="failure", failure=said, usage=Usage(tokens=paid[0] + paid[1], usd=paid[2], calls=1))
    text, wishes = (said.text, said.wishes) if isinstance(said, Answer) else (said, ())
    text = text if isinstance(text, str) else json.dumps(text)
    tokens_in, tokens_out, usd = paid
    about = call.arguments
    request = Request(call.name, (), returns=about.get("returns"), choices=tuple(about.get("choices", ())))
    return outcome_of(request, Answer(text, wishes, "stop", tokens_in, tokens_out, usd), _form(about))


def _form(about):
    """What an answer is read as: in a conversation, as the one before, unless tools are said anew."""
    before = about.get("answer", {}).get("data")
    return "calls" if isinstance(before, dict) and "calls" in before else form_of(about)


def step_of(**more):
    """A step for the agent."""
    return {"id": "ag", "agent": "me", "task": "What is ${inputs.what}?", **more}


def bound(agents):
    """The strategies, as an engine binds them to agents."""
    return Roster(agents).strategies()


def agent(strategy, options=None, **more):
    """The agent `me`."""
    return Agent(name="me", strategy=strategy, options=options or {}, **more)


def thought(me, say, tools=None, step=None, **dials):
    """A run in which an agent has worked, driven as it is and folded anew before every message."""
    plan, script, inputs, more = _setting(me, say, tools, step, dials)
    return driven(plan, script, inputs, **more)


def world_of(me, say, tools=None, step=None, **dials):
    """The same, not yet begun."""
    plan, script, inputs, more = _setting(me, say, tools, step, dials)
    return World(plan, script, **more).start(inputs)


def _setting(me, say, tools, step, dials):
    """`paid` says what a call took, `others` are agents besides, `what` is in the task; the rest are the world's."""
    script = answers(say, tools, dials.pop("paid", None))
    inputs = {"what": dials.pop("what", "it")}
    agents = [me, *dials.pop("others", ())]
    return {"steps": [step or step_of()]}, script, inputs, {"strategies": bound(agents), **dials}


def prompts(world):
    """What models were asked, in order."""
    return [made.call.arguments["prompt"] for made in world.made if made.call.kind == "model"]


def grown_by(world):
    """All steps that were grown, as they were written."""
    return [step for event in world.find(e.StepsGrown) for step in event.add]

"""E12: a real model plans: nonsense in the right form, which ends in a valid plan or an honest refusal, inside its budget."""

import asyncio

import local_model as local
import pytest

from perdure import Engine, Plan
from perdure.agents import Agent
from perdure.models.places import Place, Places
from perdure.models.tiers import Models
from perdure.plan.reading import read_data
from perdure.tools import BUILTIN, toolbox_of

GOALS = (
    "Count the words of a text",
    "Wait a moment, then say hello",
    "Split a text into lines and count them",
    "Say what time it is",
    "Join two texts",
    "Take a field out of a JSON text",
    "Replace a word in a text",
    "Greet ${secrets.KEY} in three languages",
)
TOOLS = ("flow.echo", "text.words", "text.replace", "time.sleep")
TOKENS, CALLS = 6_000, 3
REFUSALS = {"invalid", "budget", "stalled", "logic"}


async def planned(url, goal):
    """What came of a goal."""
    agent = Agent(name="planning", strategy="draft", tokens=120, temperature=0.0, options={"repairs": 2, "steps": 3})
    models = Models({"default": f"local:{local.NAME}"}, lambda: Places([Place("local", url)], ["local"]))
    step = {"id": "plan", "agent": "planning", "task": "${inputs.goal}", "with": {"tools": list(TOOLS)}}
    document = {
        "steps": [step],
        "inputs": {"goal": {"type": "string"}},
        "output": "${steps.plan.output}",
        "budget": {"tokens": TOKENS, "calls": CALLS},
        "recovery": {"other": ["fail"], "stalled": ["fail"]},
    }
    async with Engine.open(agents=[agent], models=lambda: models) as engine:
        return await (await engine.start(Plan.model_validate(document), {"goal": goal})).result()


@pytest.mark.campaign("a small model that plans and talks nonsense", "R19", of="goals")
def test_a_real_model_ends_in_a_valid_plan_or_an_honest_refusal(local_model, trials):
    toolbox = toolbox_of(BUILTIN)
    for seed in trials(len(GOALS)):
        goal = GOALS[seed % len(GOALS)] + " please" * (seed // len(GOALS) % 50)
        result = asyncio.run(planned(local_model, goal))
        assert result.usage.tokens <= TOKENS
        assert result.usage.calls <= CALLS
        if result.status == "succeeded":
            assert not [each for each in read_data(result.output, toolbox=toolbox).problems if each.severity == "error"]
        else:
            assert result.failure.kind in REFUSALS, result.failure

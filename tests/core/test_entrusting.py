"""S11: what a model says becomes steps, and those steps get no secret that the plan has not given their agent."""

import pytest
from driven import driven, tool

from perdure.core.growth import Finish, Move


def grown(*steps, given=None, task="Work"):
    """An agent that was given some secrets, and grows steps."""

    def strategy(view):
        return Move(add=steps) if view.first else None if view.live else Finish(output="done")

    agent = {"id": "ag", "agent": "coder", "task": task, "with": given or {}}
    return driven([agent], {}, strategies={"agent:coder": strategy})


NAMED = {"key": "${secrets.MINE}"}


@pytest.mark.parametrize(
    "step",
    [
        tool("x", **{"with": {"a": "${secrets.OTHER}"}}),
        tool("x", **{"with": {"a": [{"b": "c ${secrets['OTHER']} d"}]}}),
        tool("x", **{"with": {"a": "${secrets}"}}),
        tool("x", **{"with": {"a": "${secrets[inputs.task]}"}}),
        tool("x", **{"with": {"a": "${secrets.?OTHER}"}}),
        tool("x", undo={"tool": "un.do", "with": {"a": "${secrets.OTHER}"}}),
        tool("x", accept=[{"tool": "y.look", "with": {"a": "${secrets.OTHER}"}}]),
        {"agent": "coder", "with": {"a": "${secrets.OTHER}"}},
        {"agent": "coder", "task": "${secrets.MINE}"},
        {"model": "weak", "prompt": "Say ${secrets.MINE}"},
        {"ask": "Is it ${secrets.MINE}?"},
        {"steps": [tool("in", **{"with": {"a": "${secrets.OTHER}"}})]},
        {"map": [1], "steps": [tool("in", **{"with": {"a": "${secrets.OTHER}"}})]},
        {"plan": {"steps": [tool("in", **{"with": {"a": "${secrets.OTHER}"}})]}},
        {"plan": {"steps": [tool("in")], "output": "${secrets.MINE}"}},
    ],
    ids=str,
)
def test_a_grown_step_names_no_secret_that_its_agent_was_not_given(step):
    world = grown(step, given=NAMED)
    assert world.failure.kind == "denied", world.failure
    assert "secret" in world.failure.message
    assert world.made == []


def test_what_the_plan_gives_an_agent_its_steps_may_use():
    world = grown(tool("x", **{"with": {"a": "${secrets.MINE}"}}), given=NAMED)
    assert world.output == "done"
    assert len(world.made) == 1


def test_an_agent_within_an_agent_can_only_be_given_less():
    inner = {"agent": "coder", "with": NAMED}
    assert grown(inner).failure.kind == "denied"

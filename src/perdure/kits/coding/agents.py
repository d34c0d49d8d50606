"""The agents of the kit: each is a file with what it is told, beside those that come with the engine."""

from functools import cache
from importlib import resources

from perdure import Agent
from perdure.agents import agents_in


@cache
def agents() -> tuple[Agent, ...]:
    """All of them, by name."""
    return tuple(agents_in(resources.files("perdure.kits.coding").joinpath("prompts")))

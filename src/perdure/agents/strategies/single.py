"""`single`: one call of a model. An answer that does not fit is handed back with what is wrong, so many times.

s1 ask → s2 (goes on after s1: what is wrong with the answer) → … → the answer
"""

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import finished, hear, schema_of
from perdure.agents.strategies.asking import Asked, ask
from perdure.agents.strategies.mending import mend
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.words import task_of
from perdure.core.growth import Finish, Move, View
from perdure.plan.model.parts import Amount, Part


class SingleOptions(Part):
    """How often an answer may be mended."""

    repairs: Amount = 2
    """How often it is asked again when an answer does not fit `returns`."""


def single(view: View, agent: Agent) -> Move | Finish | None:
    """Ask once, and again as long as the answer does not fit."""
    options, returns = options_of(agent, "single", SingleOptions), schema_of(view)
    if view.live:
        return None
    if view.first:
        return Move(add=[ask(view, agent, task_of(view), returns=returns).step])
    heard = hear(view.fresh[-1], returns)
    if not heard.flaws:
        return finished(view, heard)
    again = mend(view, agent, heard, options.repairs - view.born + 1, returns=returns)
    return Move(add=[again.step]) if isinstance(again, Asked) else Finish("failure", failure=again)

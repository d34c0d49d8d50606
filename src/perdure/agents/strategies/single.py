"""`single`: one call of a model. An answer that does not fit is handed back with what is wrong, so many times.

s1 ask → s2 (goes on after s1: what is wrong with the answer) → … → the answer
"""

from collections.abc import Mapping
from typing import Any

from perdure.agents.agent import Agent
from perdure.agents.strategies.costs import fits, lacking
from perdure.agents.strategies.finishing import finished, schema_of
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.questions import Asked, Heard, ask, hear
from perdure.agents.strategies.words import Words, task_of
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.model.parts import Amount, Part


class SingleOptions(Part):
    """How often an answer may be mended."""

    repairs: Amount = 2
    """How often it is asked again when an answer does not fit `returns`."""


def single(view: View, agent: Agent) -> Move | Finish | None:
    """Ask once, and again as long as the answer does not fit."""
    options = options_of(agent, "single", SingleOptions)
    if view.first:
        first = ask(view, agent, task_of(view), returns=schema_of(view))
        return Move(add=[first.step], memo=first.size)
    return None if view.live else answered(view, agent, view.fresh[-1], options.repairs - view.born + 1)


def answered(view: View, agent: Agent, child: Child, repairs: int) -> Move | Finish:
    """Finish with an answer, or ask for a better one."""
    heard = hear(child, schema_of(view))
    if not heard.flaws:
        return finished(view, heard.path, heard.value)
    if child.exit != "success":
        return Finish("failure", failure=child.failure)
    again = mend(view, agent, child, schema_of(view) or {}, view.memo)
    if repairs > 0 and fits(again.cost, view.left):
        return Move(add=[again.step], memo=again.size)
    why = f"; {lacking(again.cost, view.left)}" if repairs > 0 else ""
    return Finish("failure", failure=unfit(heard, why))


def mend(view: View, agent: Agent, child: Child, returns: Mapping[str, Any], before: int) -> Asked:
    """Go on with a conversation whose last answer does not fit."""
    words = Words().say("Your answer does not fit:")
    for n, flaw in enumerate(child.output.get("flaws", ())):
        words = words.say("\n- ").show(f"steps.{child.id}.output.flaws[{n}]", flaw)
    words = words.say("\n\nAnswer again, with nothing but the JSON value that was asked for.")
    return ask(view, agent, words, returns=returns, after=child.id, before=before)


def unfit(heard: Heard, why: str = "") -> Failure:
    """No answer that fits."""
    return Failure("invalid", f"the answer is not what was asked for: {'; '.join(heard.flaws)}{why}")

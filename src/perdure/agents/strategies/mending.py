"""Mending: an answer that does not fit is handed back with what is wrong with it, so many times."""

from collections.abc import Mapping
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import Heard
from perdure.agents.strategies.asking import Asked, ask
from perdure.agents.strategies.costs import fits, lacking
from perdure.agents.strategies.words import Words
from perdure.core.calls import Failure
from perdure.core.growth import View

UNFIT: Final = "the answer is not what was asked for"
AGAIN: Final = "Answer again, with nothing but the JSON value that was asked for."


def mend(  # noqa: PLR0913  the last two are the words that are said
    view: View,
    agent: Agent,
    heard: Heard,
    repairs: int,
    *,
    returns: Mapping[str, Any] | None,
    unfit: str = UNFIT,
    again: str = AGAIN,
) -> Asked | Failure:
    """Ask for a better answer; or why not: it was not said at all, it was asked often enough, or nobody can pay it."""
    if heard.failure is not None:
        return heard.failure
    failure = Failure("invalid", f"{unfit}: {'; '.join(heard.flaws)}")
    if repairs <= 0:
        return failure
    lines = "".join(f"\n- {each}" for each in heard.flaws)
    asked = ask(view, agent, Words().say(f"{unfit}:{lines}\n\n{again}"), returns=returns, after=heard.child)
    if fits(asked.cost, view.left):
        return asked
    return Failure("invalid", f"{failure.message}; {lacking(asked.cost, view.left)}")

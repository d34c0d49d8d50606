"""Strategies: how an agent works. Each is a pure function of what its group has come to, and of the agent it is for.

`strategy(view, agent) -> Move | Finish | None`. It says which steps come next, or that the work is done; the engine
carries them out, remembers them, and asks again when one of them is over.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.adapted import AdaptedOptions, adapted
from perdure.agents.strategies.draft import Drafting, draft
from perdure.agents.strategies.follow import Following, follow
from perdure.agents.strategies.meta import Selecting, meta
from perdure.agents.strategies.plan import Planning, plan
from perdure.agents.strategies.react import Reacting, react
from perdure.agents.strategies.reflexion import ReflexionOptions, reflexion
from perdure.agents.strategies.sample import SampleOptions, sample
from perdure.agents.strategies.single import SingleOptions, single
from perdure.agents.strategies.tree import TreeOptions, tree
from perdure.core.growth import Finish, Move, View
from perdure.plan.model.parts import Part
from perdure.tools import AnyTool

AgentStrategy = Callable[[View, Agent], Move | Finish | None]
OPTIONS: Final[Mapping[str, type[Part]]] = {
    "adapted": AdaptedOptions,
    "draft": Drafting,
    "follow": Following,
    "meta": Selecting,
    "plan": Planning,
    "react": Reacting,
    "reflexion": ReflexionOptions,
    "sample": SampleOptions,
    "single": SingleOptions,
    "tree": TreeOptions,
}
"""What they may be told, by name."""


def strategies(tools: Mapping[str, AnyTool]) -> dict[str, AgentStrategy]:
    """Those that come with it, by name; some have to know which tools there are."""
    return {
        "adapted": adapted,
        "draft": partial(draft, tools=tools),
        "follow": partial(follow, tools=tools),
        "meta": partial(meta, tools=tools),
        "plan": plan,
        "react": partial(react, tools=tools),
        "reflexion": partial(reflexion, tools=tools),
        "sample": sample,
        "single": single,
        "tree": tree,
    }

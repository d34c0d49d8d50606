"""Strategies: how an agent works. Each is a pure function of what its group has come to, and of the agent it is for.

`strategy(view, agent) -> Move | Finish | None`. It says which steps come next, or that the work is done; the engine
carries them out, remembers them, and asks again when one of them is over.
"""

from collections.abc import Callable, Mapping
from typing import Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.react import react
from perdure.core.growth import Finish, Move, View

AgentStrategy = Callable[[View, Agent], Move | Finish | None]
STRATEGIES: Final[Mapping[str, AgentStrategy]] = {"react": react}
"""Those that come with it, by name."""

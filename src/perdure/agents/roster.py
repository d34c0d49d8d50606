"""The roster: who can be given work, and how each of them works."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, ClassVar, Final

from perdure.agents.agent import Agent
from perdure.agents.strategies import OPTIONS, strategies
from perdure.agents.strategies.accepting import accepted, heard, is_judged
from perdure.agents.strategies.adapted import ADAPTED, changed, own_way
from perdure.agents.strategies.delegate import delegate, is_delegated
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.reflexion import ReflexionOptions
from perdure.core.calls import Failure
from perdure.core.events import REPLANNER
from perdure.core.growth import Finish, Move, Strategy, View
from perdure.errors import PerdureError
from perdure.plan.model.parts import ANYBODY
from perdure.plan.problems import did_you_mean
from perdure.tools import AnyTool

REFLEXION: Final = "reflexion"
SEATED: Final = "seated."
"""Stands before the strategy of an agent that was chosen already."""
WAYS: Final = frozenset(OPTIONS)
"""The ways of working that come with it."""


class BadAgent(PerdureError):
    """An agent cannot be what it says."""

    code: ClassVar[str] = "PRD4101"
    exit_code: int = 6


@dataclass(frozen=True, slots=True)
class AdaptedWay:
    """How an agent of another framework works. It can be asked beforehand whether it can still go on."""

    work: Strategy
    agents: Mapping[str, Agent]
    name: str = ""
    """Whose way it is; empty: theirs who have noted that they are at it."""

    def __call__(self, view: View) -> Move | Finish | None:
        """What comes next."""
        return self.work(view)

    def why_not(self, noted: Mapping[str, Any]) -> str:
        """Why it cannot go on with work that it has begun; empty: it can."""
        name = self.name or noted.get("agent", "")
        agent = self.agents.get(name)
        if "who" not in noted or not name:
            return ""  # it is not at work any more
        if agent is None or agent.loop is None:
            return f'there is no agent "{name}" of another framework any more'
        return changed(noted, agent)


class Roster:
    """Agents by name, and the strategies they work by."""

    def __init__(
        self,
        agents: Iterable[Agent],
        tools: Mapping[str, AnyTool] | None = None,
        *,
        planning: bool = False,
        own: Collection[str] = (),
    ) -> None:
        """`tools` are all that there are; None: nobody knows, and what agents name counts as it stands.

        `planning`: plans may change by themselves, so every agent may ask for that, unless it says otherwise.
        `own`: ways of working that there are besides.
        """
        known = None if tools is None else sorted(tools)
        named = _by_name(agents)
        self._agents: Final = {name: _with_tools(each, known, planning=planning) for name, each in named.items()}
        self._strategies: Final = strategies(tools or {})
        self._own_ways: Final = own
        self._check_all()

    @property
    def names(self) -> tuple[str, ...]:
        """Whom plans may name."""
        return tuple(sorted(self._agents))

    @property
    def agents(self) -> Sequence[Agent]:
        """All of them, by name."""
        return [self._agents[name] for name in self.names]

    def find(self, name: str) -> Agent | None:
        """An agent by its name."""
        return self._agents.get(name)

    def _check_all(self) -> None:
        """Tell all that cannot be at once: whoever mends one of them wants to know of the others."""
        wrong: list[PerdureError] = []
        for each in self._agents.values():
            try:
                self._check(each)
            except PerdureError as error:
                wrong.append(error)
        if len(wrong) > 1:
            raise BadAgent("; ".join(each.message for each in wrong), wrong[0].help)
        if wrong:
            raise wrong[0]

    def _check(self, agent: Agent) -> None:
        if agent.name == ANYBODY:
            raise BadAgent(f'"{ANYBODY}" stands for whoever has the skills of a step', "give the agent another name")
        if agent.strategy not in self._strategies:
            known = sorted(self._strategies.keys() - {ADAPTED})
            hint = did_you_mean(agent.strategy, known) or f"one of {', '.join(known)}"
            raise BadAgent(f'"{agent.name}" works by "{agent.strategy}", which there is not', hint)
        if (agent.strategy == ADAPTED) != (agent.loop is not None):
            raise BadAgent(f'"{agent.name}" cannot work by "{agent.strategy}"', own_way(agent))
        options_of(agent, agent.strategy, OPTIONS[agent.strategy])
        self._check_attempts(agent)
        for name in agent.fallbacks:
            if name not in self._agents:
                hint = did_you_mean(name, self._agents) or "name an agent that there is"
                raise BadAgent(f'"{agent.name}" falls back on "{name}", whom there is not', hint)

    def _check_attempts(self, agent: Agent) -> None:
        """Whoever makes attempts makes them in a way that there is, and that makes none itself."""
        name = options_of(agent, REFLEXION, ReflexionOptions).strategy
        known = sorted({*self._strategies, *self._own_ways} - {ADAPTED, REFLEXION})
        if name not in known:
            why = "which is what makes the attempts" if name == REFLEXION else "which there is not"
            hint = did_you_mean(name, known) or f"`strategy` in its options is one of {', '.join(known)}"
            raise BadAgent(f'"{agent.name}" makes attempts by "{name}", {why}', hint)

    def strategies(self) -> dict[str, Strategy]:
        """What the core asks: a strategy by its name for whoever works so, and each agent's own by `agent:NAME`."""
        named: dict[str, Strategy] = {name: partial(self._work, name) for name in self._strategies}
        seated: dict[str, Strategy] = {SEATED + name: partial(self._do, name) for name in self._strategies}
        own = {f"agent:{each.name}": self._own(each) for each in self._agents.values()}
        ways = named | seated | own | {f"agent:{ANYBODY}": partial(self._work, "")}
        return ways | {name: AdaptedWay(ways[name], self._agents) for name in (ADAPTED, SEATED + ADAPTED)}

    def _own(self, agent: Agent) -> Strategy:
        work = partial(self._work, agent.strategy)
        return work if agent.loop is None else AdaptedWay(work, self._agents, agent.name)

    def _work(self, strategy: str, view: View) -> Move | Finish | None:
        """Have it done by whoever is chosen, if there is a choice; else do it."""
        agent = self._agents.get(view.agent)
        has_choice = view.agent == ANYBODY or (agent is not None and bool(agent.limit or agent.fallbacks))
        if is_judged(view):
            return heard(view)
        if has_choice if view.first else is_delegated(view):  # what has begun goes on as it began
            among = () if agent is None else (agent.name, *agent.fallbacks)
            return accepted(view, delegate(view, among, self._way))
        return self._do(strategy, view)

    def _do(self, strategy: str, view: View) -> Move | Finish | None:
        agent = self._agents.get(view.agent)
        if agent is None:
            return Finish("failure", failure=self._gone(view.agent))
        if is_judged(view):
            return heard(view)
        if (strategy == ADAPTED) != (agent.loop is not None):
            told = f'"{agent.name}" cannot work by "{strategy}"; {own_way(agent)}'
            return Finish("failure", failure=Failure("invalid", told))
        return accepted(view, self._strategies[strategy](view, agent))

    def _gone(self, name: str) -> Failure:
        told = "; ".join(filter(None, (f'there is no agent "{name}"', did_you_mean(name, self._agents))))
        return Failure("unavailable", told)

    def _way(self, name: str, wanted: str) -> str:
        """How an agent works that was chosen: as the step says, or in its own way."""
        agent = self._agents.get(name)
        strategy = wanted or (agent.strategy if agent else "react")
        return SEATED + strategy if strategy in self._strategies else strategy


def _with_tools(agent: Agent, known: Sequence[str] | None, *, planning: bool) -> Agent:
    """The agent with the tools that it means, by name: what is not there is not asked for, also not after a crash."""
    if known is None:
        more = (REPLANNER,) if planning and agent.replans else ()
        return agent.model_copy(update={"tools": (*agent.tools, *more)})
    meant = tuple(name for name in known if _is_meant(name, agent, planning=planning))
    return agent.model_copy(update={"tools": meant})


def _is_meant(name: str, agent: Agent, *, planning: bool) -> bool:
    """Whether an agent may call a tool; what changes the plan, only where that can be, or if it names just that."""
    if name == REPLANNER:
        return (planning and agent.replans) or name in agent.tools
    return any(fnmatchcase(name, pattern) for pattern in agent.tools)


def _by_name(agents: Iterable[Agent]) -> dict[str, Agent]:
    found: dict[str, Agent] = {}
    for each in agents:
        if found.setdefault(each.name, each) is not each:
            raise BadAgent(f'two agents are called "{each.name}"', "give one of them another name")
    return found

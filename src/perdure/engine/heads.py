"""What an engine thinks with: the models it may ask, the agents it may give work to, and the tools they are told of."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from perdure.core.calls import Call, Outcome
from perdure.core.growth import Finish, Move, Strategy, View
from perdure.core.policy import Layer, judge
from perdure.ports import Attempt, Model, Offer
from perdure.tools import AnyTool

if TYPE_CHECKING:
    from perdure.agents.agent import Agent, Loop
    from perdure.agents.performing import AgentPerformer
    from perdure.agents.roster import Roster
    from perdure.models import ModelPerformer, Models


class Heads:
    """Models and agents. What most engines never need is loaded when it is first needed."""

    def __init__(  # noqa: PLR0913  each is a part of the world
        self,
        models: "Models | Mapping[str, Model | str] | Callable[[], Models] | None",
        agents: "Iterable[Agent] | Callable[[], Iterable[Agent]]",
        tools: Mapping[str, AnyTool],
        layers: tuple[Layer, ...],
        *,
        is_all: bool,
        planning: bool = False,
    ) -> None:
        self._models: Final = models
        self._agents: Final = agents if callable(agents) else tuple(agents)
        self._tools: Final = tools
        self._layers: Final = layers
        self._is_all: Final = is_all
        """Whether nobody performs a tool that is not among these."""
        self._loops: Final = loops_of(self._agents)
        for each in self._loops.values():
            each.meet(tools, lambda: self._known)
        self.own: Mapping[str, Any] = {}
        """The user's own strategies."""
        self._planning: Final = planning
        """Whether plans may change by themselves."""

    def knows(self, call: Call) -> bool:
        """Whether a call is for somebody here."""
        if call.kind == "model":
            return self._models is not None or call.name in self._loops
        return call.kind == "agent" and bool(self._agents) and self.roster.find(call.name) is not None

    def find(self, name: str) -> object:
        """A model by its tier or name. `NoModel` if it cannot be asked."""
        from perdure.models.errors import NoModel  # noqa: PLC0415  few look ahead

        if self._models is None:
            raise NoModel("this engine has no models", 'open it with models={"default": …}')
        return self._known.find(name)

    @property
    def named(self) -> Mapping[str, str]:
        """Models by tier, as far as they have names."""
        return {} if self._models is None else self._known.named

    def perform(self, attempt: Attempt) -> Coroutine[Any, Any, Outcome]:
        """Ask a model, or an agent as a whole."""
        if attempt.call.kind == "model" and attempt.call.name in self._loops:
            return self._loops[attempt.call.name].ask(attempt)
        return (self._asking if attempt.call.kind == "model" else self._working).perform(attempt)

    def expected(self, call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
        """What a call of a model may take, or of an agent that is asked as a whole, with what the plan says of that."""
        if call.kind == "agent":
            return self._working.expected(call, said) if self.knows(call) and self._models is not None else said
        if call.name in self._loops:
            return self._loops[call.name].expected(call, said)
        return said if self._models is None else self._asking.expected(call, said)

    def leave(self, run: str) -> None:
        """Let go of what is kept for a run, which is over or does not go on here."""
        for each in self._loops.values():
            each.leave(run)

    async def close(self) -> None:
        """Let go of connections to providers, if there are any."""
        for each in self._loops.values():
            await each.close()
        if "_known" in vars(self):
            await self._known.close()

    def strategies(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """What agents are grown by: the user's own strategies, and those of the agents."""
        self.own = own
        judged = {name: _judged(each) for name, each in own.items()}
        return _Ways(self, judged) if self._agents else judged

    @cached_property
    def _known(self) -> "Models":
        from perdure.models import Models  # noqa: PLC0415  most engines ask no model

        given = self._models() if callable(self._models) else self._models
        return given if isinstance(given, Models) else Models(given or {})

    @cached_property
    def _asking(self) -> "ModelPerformer":
        from perdure.models import ModelPerformer  # noqa: PLC0415  as above

        return ModelPerformer(self._known, self._offers)

    @cached_property
    def _working(self) -> "AgentPerformer":
        from perdure.agents.performing import AgentPerformer  # noqa: PLC0415  most engines have no agents

        return AgentPerformer(self.roster, self._asking)

    @cached_property
    def roster(self) -> "Roster":
        """Whom plans may give work to."""
        from perdure.agents.roster import Roster  # noqa: PLC0415  as above

        listed = self._agents() if callable(self._agents) else self._agents
        known = self._tools if self._is_all else None
        return Roster(listed, tools=known, planning=self._planning, own=self.own)

    def lent(self, name: str) -> Sequence[str] | None:
        """What an agent may call, by its name; None: there is no such agent."""
        agent = self.roster.find(name) if self._agents else None
        return agent.tools if agent else None

    def _offers(self, names: Sequence[str], inner: tuple[Layer, ...]) -> Sequence[Offer]:
        """The tools that are meant by some names, by name; but for those that no rule lets be called."""
        layers = (*self._layers, *inner)
        meant = [self._tools[each] for each in sorted(self._tools) if any(fnmatchcase(each, name) for name in names)]
        return [_offer(each) for each in meant if judge(layers, each.called).verdict != "deny"]


def loops_of(agents: "Iterable[Agent] | Callable[[], Iterable[Agent]]") -> "dict[str, Loop]":
    """What agents of other frameworks work by, by the name of their models. Those of files have none."""
    listed = () if callable(agents) else agents
    return {each.model: each.loop for each in listed if each.loop is not None}


class _Ways(Mapping[str, Any]):
    """Strategies by name, made when the first is looked for: most runs have no agents."""

    def __init__(self, heads: Heads, own: Mapping[str, Any]) -> None:
        self._heads, self._own = heads, own

    @cached_property
    def _made(self) -> Mapping[str, Any]:
        return {**self._heads.roster.strategies(), **self._own}

    def __getitem__(self, name: str) -> Any:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def _judged(strategy: Strategy) -> Strategy:
    """A strategy of the user's own, whose end is shown to whoever has to accept it."""

    def work(view: View) -> Move | Finish | None:
        if not view.judges:
            return strategy(view)
        from perdure.agents.strategies.accepting import accepted, heard, is_judged  # noqa: PLC0415  few are judged

        return heard(view) if is_judged(view) else accepted(view, strategy(view))

    return work


def _offer(tool: AnyTool) -> Offer:
    return Offer(tool.name, tool.summary, tool.signature.inputs)

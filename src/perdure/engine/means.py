"""What an engine has to carry out plans with, and whether that is enough for one: better not begun than failed."""

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any, Final

from perdure.core.outline import Outline
from perdure.core.state import Rules, State
from perdure.engine.planning import may_grow
from perdure.engine.reaching import Elsewhere, check_place
from perdure.engine.upgrading import Gone, Here
from perdure.errors import PerdureError
from perdure.plan.checks import check
from perdure.plan.model.steps import AgentStep
from perdure.plan.problems import PlanError
from perdure.tools import AnyTool, toolbox_of
from perdure.tools.hands import Hands

if TYPE_CHECKING:
    from perdure.agents.feasibility import Means as Told
    from perdure.engine.heads import Heads

NAMING: Final = b'"agent":'
"""It is in every plan that names an agent."""


class Means:
    """The tools of an engine, and what they may reach."""

    def __init__(self, tools: Mapping[str, AnyTool], rules: Rules, hands: Hands | None, *, is_all: bool) -> None:
        self.tools = tools
        self.hands = hands
        """What tools may reach."""
        self.here = Here(tools, rules, is_all=is_all)
        self._rules = rules
        self.is_all = is_all
        """Whether nobody else performs what is not among the tools."""
        self._checked: set[str] = set()
        """Plans that can be carried out here, by digest."""
        self._sound: set[str] = set()
        """Plans that can be carried out where what they call is there, by digest."""
        self._staffed: set[str] = set()
        """Plans whose agents are all here, by digest."""

    # ------------------------------------------------------------ plans

    def check(self, outline: Outline, *, names: bool = True) -> None:
        """`PlanError` if a plan cannot be carried out. `names`: also if it calls tools that are not known here.

        `BadAgent` if it has work for agents, and one of them cannot be what it says.
        """
        known = self._checked if names else self._sound
        if outline.digest in known:
            return
        if _has_agents(outline):
            len(self._rules.strategies)  # which are made now, and found wanting now
        toolbox = toolbox_of(self.tools.values()) if names and self.is_all else None
        found = check(outline.plan, toolbox, outline.index, begun=not names)
        problems = [each for each in found if each.severity == "error"]
        if problems:
            raise PlanError(problems)
        self._sound.add(outline.digest)
        known.add(outline.digest)

    def check_agents(self, outline: Outline, heads: "Heads | None") -> None:
        """`PlanError` if a plan gives work to agents that are not here, or wants it done in a way that is none."""
        if not self.is_all or heads is None or outline.digest in self._staffed or NAMING not in outline.data:
            return
        from perdure.agents.feasibility import unknown  # noqa: PLC0415  most plans have no agents

        if problems := unknown(outline.index, self.told({}, (), heads)):
            raise PlanError(problems)
        self._staffed.add(outline.digest)

    def told(self, inputs: Mapping[str, Any], secrets: Container[str], heads: "Heads | None") -> "Told":
        """What there is, as those see it who look ahead. Who else performs something may know more than we do."""
        from perdure.agents.feasibility import Means as Told  # noqa: PLC0415  few look ahead

        if not self.is_all or heads is None:
            return Told(self.tools, inputs=inputs, secrets=secrets)
        return Told(
            self.tools,
            inputs=inputs,
            secrets=secrets,
            agents=lambda: {each.name: each for each in heads.roster.agents},
            strategies=lambda: self._rules.strategies,
            own=heads.own,
            models=heads.find,
        )

    def place_for(self, outline: Outline, wanted: str) -> str:
        """The directory that a run of a plan works on; empty if nothing in it does."""
        named = (self.tools.get(outline.traits(node).tool) for node in outline.index.nodes)
        may_call_any = _has_agents(outline) or may_grow(self._rules, outline)
        if self.hands is None or not (may_call_any or any(each is not None and each.works_on_files for each in named)):
            return ""
        check_place(wanted, self.hands)
        return str(self.hands.workspace)

    # ------------------------------------------------------------ runs

    def why_not(self, state: State) -> PerdureError | None:
        """Why a run cannot be carried on here; None if it can."""
        try:
            self.check_run(state)
        except (PlanError, Elsewhere, Gone) as error:
            return error
        return None

    def check_run(self, state: State) -> None:
        """`Elsewhere`, `PlanError` or `Gone` if a run cannot be carried on here."""
        self.check_place_of(state)
        self.check(state.cells[""].scope.outline, names=False)
        self.here.check(state)

    def check_place_of(self, state: State) -> None:
        """`Elsewhere` if a run works on another directory."""
        check_place(state.started.workspace if state.started else "", self.hands)


def _has_agents(outline: Outline) -> bool:
    return any(isinstance(node.step, AgentStep) for node in outline.index.nodes)

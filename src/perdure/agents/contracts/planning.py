"""The planner from contracts: from what is wanted to a plan, or to the reason why there is none.

It is pure: the same contracts give the same plan, on every machine. All that it does is counted, and it ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.agents.contracts.best import best
from perdure.agents.contracts.declared import Joined, joined
from perdure.agents.contracts.document import Contracts
from perdure.agents.contracts.drafting import draft, goal_of, ids_of
from perdure.agents.contracts.errors import NoPlan
from perdure.agents.contracts.explaining import Missing, Reach
from perdure.agents.contracts.greedy import greedy, weighted
from perdure.agents.contracts.grounding import Schema, Way, ground
from perdure.agents.contracts.improving import smoothed, without_idle
from perdure.agents.contracts.ordering import Order, arranged, ordered
from perdure.agents.contracts.search import Effort, Found
from perdure.agents.contracts.task import SHORTER, Literal, Move, Task, task_of
from perdure.plan.facts import fact_of, told
from perdure.plan.model.document import Plan
from perdure.tools.box import toolbox_of
from perdure.tools.tool import AnyTool

MOST_STATES: Final = 20_000
"""States that are looked at before it is given up, if nobody says otherwise."""
MOST_MOVES: Final = 12_000_000
"""Moves that are looked at in all of them together: where much can be done, fewer states are looked at."""
PATIENCE: Final = 3
"""How many times as many, before there is any plan at all."""
FACTORS: Final = (5, 3, 2)
"""How much more the way ahead counts than the way behind, in search for better plans: less and less."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step on the way, in an order in which the steps can be done one after another."""

    step: str
    """Its id in the plan."""
    action: str
    """What is done, as in `drive(truck, depot, shop)`."""
    facts: tuple[str, ...]
    """What holds afterwards."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What the planner has come to: a plan, or why there is none."""

    plan: Plan | None
    why: str = ""
    """Why there is no plan, for people and for models."""
    proven: bool = False
    """Without a plan: whether it is sure that there is none. With one: whether there is no cheaper one."""
    missing: tuple[Missing, ...] = ()
    """Wanted facts that nothing leads to."""
    lacking: tuple[str, ...] = ()
    """Without a plan: tools that are not there, and with which there might be one."""
    stages: tuple[Stage, ...] = ()
    """The steps, with what holds after each."""
    cost: float = 0
    """What all actions of the plan cost."""
    at_least: float = 0
    """What every plan costs."""
    states: int = 0
    """How many states were looked at."""

    def usable(self) -> Plan:
        """The plan, or `NoPlan` with the reason."""
        if self.plan is None:
            hint = f"install or declare: {', '.join(self.lacking)}" if self.lacking else "add an action, or want less"
            raise NoPlan(self.why, hint)
        return self.plan


def plan_from_contracts(
    contracts: Contracts, tools: Iterable[AnyTool] | None = None, *, most: int = MOST_STATES
) -> Planned:
    """Find a plan that makes the wanted facts true, the cheapest and shortest as far as it can be found.

    `tools`: those that are there. They take part with what they declare, and an action whose tool is not among them
    cannot be done; None: nobody knows. `most`: the states that are looked at before it is given up.

    `ContractsError` if the contracts make no sense, `TooManyWays` if there is no end to what could be done, and
    `PlanError` if a `step` or a call that is found cannot be part of a plan.
    """
    known = None if tools is None else list(tools)
    return _Planning(contracts, joined(contracts, known), known, most).run()


class _Planning:
    def __init__(self, contracts: Contracts, all_: Joined, tools: list[AnyTool] | None, most: int) -> None:
        self._contracts, self._joined, self._tools, self._most = contracts, all_, tools, most
        self._given: Final = {fact_of(text).atom({}): None for text in contracts.given}
        self._wanted: Final[list[Literal]] = list(dict.fromkeys(_literal(text) for text in contracts.wanted))
        objects = [each for listed in contracts.objects.values() for each in listed]
        self._objects: Final = {name: n for n, name in reversed([*enumerate(objects)])}
        self._actions: Final = {name: n for n, name in enumerate(all_.actions)}

    def run(self) -> Planned:
        schemas = [Schema.of(name, each) for name, each in self._joined.actions.items()]
        able = [each for each in schemas if each.name not in self._joined.lacking]
        found = ground(self._contracts, able)
        reach = Reach(self._contracts, able, found, self._given.keys())
        if missing := reach.missing(self._wanted):
            return self._out_of_reach(missing, schemas)
        task = task_of(found, self._given, self._wanted)
        effort = Effort(self._most, MOST_MOVES)
        result = _searched(task, effort)
        if result.moves is None:
            return self._not_found(task, result, effort)
        return self._found(task, result, effort)

    # ---------------------------------------------------------------- there is one

    def _found(self, task: Task, result: Found, effort: Effort) -> Planned:
        moves = result.moves or []
        found = [move.way for move in moves]
        ways, order = arranged(found, ordered(found, self._given.keys(), self._wanted), self._rank)
        plan = self._drafted(ways, order)
        least = result.at_least // SHORTER * SHORTER / task.unit
        return Planned(
            plan,
            proven=result.weight <= result.at_least,
            stages=self._stages(ways),
            cost=task.cost_of(moves),
            at_least=int(least) if least.is_integer() else least,
            states=effort.seen,
        )

    def _rank(self, way: Way) -> tuple[int, ...]:
        """Where an action and its objects stand in the document."""
        return self._actions[way.name], *(self._objects[each] for each in way.objects)

    def _drafted(self, ways: Sequence[Way], order: Order) -> Plan:
        if not ways:
            step = {"id": "nothing_to_do", "done": True, "title": "All that is wanted holds already"}
            return Plan.model_validate({"goal": goal_of(self._contracts), "steps": [step]})
        toolbox = None if self._tools is None else toolbox_of(self._tools)
        return draft(self._contracts, ways, order, toolbox)

    def _stages(self, ways: Sequence[Way]) -> tuple[Stage, ...]:
        holding, stages = dict(self._given), list[Stage]()
        for way, id_ in zip(ways, ids_of(ways), strict=True):
            holding = {atom: None for atom in holding if atom not in way.ends} | dict.fromkeys(sorted(way.makes))
            stages.append(Stage(id_, str(way), tuple(map(told, holding))))
        return tuple(stages)

    # ---------------------------------------------------------------- there is none

    def _out_of_reach(self, missing: Sequence[Missing], schemas: Sequence[Schema]) -> Planned:
        lacking = self._would_help([each.fact for each in missing], schemas)
        reasons = [str(each) for each in missing]
        if lacking:
            reasons.append(f"with the tools that are not there it would be in reach: {', '.join(lacking)}")
        why = f"{_listed([each.fact for each in missing])} cannot be reached: " + ". ".join(reasons)
        return Planned(None, why, proven=True, missing=tuple(missing), lacking=lacking)

    def _would_help(self, facts: Sequence[str], schemas: Sequence[Schema]) -> tuple[str, ...]:
        """The tools that are not there, if one of these facts were in reach with all of them."""
        if not self._joined.lacking:
            return ()
        whole = Reach(self._contracts, schemas, ground(self._contracts, schemas), self._given.keys())
        helps = any(whole.has(_literal(each)) for each in facts)
        return tuple(sorted(set(self._joined.lacking.values()))) if helps else ()

    def _not_found(self, task: Task, result: Found, effort: Effort) -> Planned:
        lacking = tuple(sorted(set(self._joined.lacking.values())))
        why = f"gave up after {effort.seen:,} states: none of them is what is wanted, and more may be beyond them"
        why = _conflict(task, result, effort) if result.exhausted else why
        why += f"; these tools are not there: {', '.join(lacking)}" if lacking else ""
        return Planned(None, why, proven=result.exhausted, lacking=lacking, states=effort.seen)


def _literal(text: str) -> Literal:
    fact = fact_of(text)
    return fact.atom({}), fact.holds


def _conflict(task: Task, result: Found, effort: Effort) -> str:
    """What stands in the way, as far as it was seen when all was looked at."""
    looked = f"all {effort.seen:,} states that can come to be were looked at"
    never = [told(atom, holds=holds) for atom, holds in task.literals(task.goal & ~result.ever)]
    if never:
        return f"no order of these actions makes {_listed(never)} true: {looked}"
    open_ = [told(atom, holds=holds) for atom, holds in task.literals(task.goal & ~result.together)]
    return f"each wanted fact can be made true, but never all at once: {looked}; at best {_listed(open_)} is left over"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(f"`{each}`" for each in texts)


# ------------------------------------------------------------------------------- search, in stages


def _searched(task: Task, effort: Effort) -> Found:
    """First the best plan, if it is near enough to be proved so; else any plan, and then better ones."""
    share = effort.share(0.4)
    first = best(task, task.start, task.goal, share)
    effort.pay(share)
    if first.moves is not None or first.exhausted:
        return first
    share = Effort(effort.states - effort.seen, PATIENCE * effort.moves)
    found = greedy(task, share)
    effort.pay(share)
    found.at_least = first.at_least
    if found.moves is not None:
        found.moves = _improved(task, found.moves, effort, found.at_least)
    return found


def _improved(task: Task, moves: Sequence[Move], effort: Effort, least: int) -> list[Move]:
    plan = without_idle(task, moves)
    for factor in FACTORS if _weight(plan) > least else ():
        share = effort.share(0.3)
        found = weighted(task, share, factor, _weight(plan))
        effort.pay(share)
        if found.moves is not None:
            plan = min(plan, without_idle(task, found.moves), key=_weight)
    return smoothed(task, plan, effort)


def _weight(moves: Iterable[Move]) -> int:
    return sum(move.weight for move in moves)

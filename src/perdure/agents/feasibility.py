"""Feasibility (A1): what a plan lacks, found before its first step, all at once, each with a place and what to do.

Tools and arguments are what `check` says of them. Beyond that: agents, strategies and skills that nobody has, models
that cannot be asked, inputs that nobody gives, secrets that nobody has put anywhere, and budgets that do not suffice
even on the cheapest way. What may never be needed, because it only stands in for something else, is a warning; and so
is a budget that ends with a question, or with what there is by then.
"""

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from pydantic import ValidationError

from perdure.agents.agent import Agent
from perdure.agents.cheapest import WORDS, cheapest
from perdure.errors import PerdureError
from perdure.plan.checks import check
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import ANYBODY, TOOLS, AgentCall, Budget, Criterion, ModelCall, ToolCall
from perdure.plan.model.steps import DecideStep, Working
from perdure.plan.problems import Path, Problem, did_you_mean
from perdure.plan.raw import Raw
from perdure.plan.sayings import sentence
from perdure.plan.tokens import FRAME
from perdure.plan.uses import calls_in, secrets_in
from perdure.tools.box import toolbox_of
from perdure.tools.tool import AnyTool

SKILL: Final = "PRD4211"
INPUT: Final = "PRD4212"
SECRET: Final = "PRD4213"  # noqa: S105  a code
BUDGET: Final = "PRD4214"
MODEL: Final = "PRD4215"
STRATEGY: Final = "PRD4216"
AGENT: Final = "PRD1402"
TOOL: Final = "PRD1401"
SPARE: Final = frozenset({"alternates", "simpler", "relaxed", "undo"})
"""Where calls stand that are made only when something else has failed."""


@dataclass(frozen=True)
class Means:
    """What there is to carry a plan out with. What is None is not known, and not looked at."""

    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    skills: Collection[str] = ()
    """Skills of others than these tools and agents."""
    inputs: Mapping[str, Raw] | None = field(default_factory=dict[str, Raw])
    secrets: Container[str] | None = None
    """Names of secrets."""
    agents: Callable[[], Mapping[str, Agent]] | None = None
    """Agents by name; asked only if somebody wants one."""
    strategies: Callable[[], Container[str]] | None = None
    """Ways of working by name; asked only if a step names one."""
    own: Container[str] = ()
    """Ways of working that need no agent, and whom they are for, as in `agent:NAME`."""
    models: Callable[[str], object] | None = None
    """Finds a model by its tier or name; raises what is in the way."""

    @cached_property
    def known_agents(self) -> Mapping[str, Agent]:
        """Whom a plan may name; nobody, if that is not known."""
        return {} if self.why_nobody or not self.agents else self.agents()

    @cached_property
    def why_nobody(self) -> PerdureError | None:
        """What is wrong with the agents that there are: nobody works while one of them cannot be what it says."""
        try:
            len(self.agents() if self.agents else ())
        except PerdureError as wrong:
            return wrong
        return None

    @cached_property
    def all_skills(self) -> set[str]:
        """What somebody is able to do."""
        of_agents = (skill for agent in self.known_agents.values() for skill in agent.skills)
        of_tools = (skill for tool in self.tools.values() for skill in tool.declared.skills)
        return {*self.skills, *of_agents, *of_tools}


def infeasible(plan: Plan, means: Means) -> list[Problem]:
    """All that stands in the way of a plan."""
    found = [problem for problem in check(plan, toolbox_of(means.tools.values())) if problem.severity == "error"]
    return [*found, *lacking(plan, means)]


def lacking(plan: Plan, means: Means) -> list[Problem]:
    """The same of a plan that was checked: what there is too little of here."""
    index = Index(plan)
    found = (_inputs(plan, means), _planners(plan, means), _heads(index, means), _skills(index, means))
    found = (*found, _secrets(index, means), _budgets(index, means), _promises(index))
    return [each for some in found for each in some]


def unknown(index: Index, means: Means) -> list[Problem]:
    """The agents and ways of working that a plan calls for by name and that are not there."""
    named = replace(means, models=None)
    return [each for each in _heads(index, named) if each.code in {AGENT, STRATEGY} and each.severity == "error"]


def _inputs(plan: Plan, means: Means) -> Iterator[Problem]:
    for name, schema in plan.inputs.items() if means.inputs is not None else ():
        if "default" not in schema and name not in (means.inputs or ()):
            hint = f"give it with -i {name}=…, or write a default in the plan"
            yield Problem(INPUT, f'nobody gives the input "{name}"', ("inputs", name), hint)


# ------------------------------------------------------------------------------- who works and thinks


def _heads(index: Index, means: Means) -> Iterator[Problem]:
    """Agents and models that are wanted and not there. Who only stands in for somebody may never be asked."""
    for node in index.nodes:
        for call, place in calls_in(node.step) if node.step else ():
            spare = bool(place) and place[0] in SPARE
            for problem in _head(call, (*node.path, *place), node, means):
                yield replace(problem, severity="warning") if spare else problem


def _planners(plan: Plan, means: Means) -> Iterator[Problem]:
    """Who is to find another way, and is not there. What they think with may never be needed."""
    for word in ("planner", "otherwise") if plan.adjust and means.agents is not None else ():
        name: str | None = getattr(plan.adjust, word)
        is_agent = name is not None and (word, name) != ("planner", TOOLS) and f"agent:{name}" not in means.own
        for problem in _agent(name, None, ("adjust", word), means) if name is not None and is_agent else ():
            yield problem if problem.code == AGENT else replace(problem, severity="warning")


def _head(call: object, path: Path, node: Node, means: Means) -> Iterator[Problem]:
    if isinstance(call, ModelCall):
        yield from _model(call.model, (*path, "model"), means)
    elif isinstance(call, (AgentCall, Criterion)) and call.agent is not None and means.why_nobody is not None:
        wrong = means.why_nobody
        yield Problem(wrong.code, wrong.message, (*path, "agent"), wrong.help)
    elif isinstance(call, AgentCall) and call.agent == ANYBODY:
        yield from _anybody(node, path, means)
    elif isinstance(call, (AgentCall, Criterion)) and call.agent is not None and means.agents is not None:
        way = call.strategy if isinstance(call, AgentCall) else None
        if (way or "") not in means.own and f"agent:{call.agent}" not in means.own:
            yield from _agent(call.agent, way, (*path, "agent"), means)
            yield from _way(way, (*path, "strategy"), means)


def _way(name: str | None, path: Path, means: Means) -> Iterator[Problem]:
    if name is not None and means.strategies is not None and name not in means.strategies():
        yield Problem(STRATEGY, f'nobody works by "{name}"', path, "leave it out, and the agent works in its own way")


def _agent(name: str, way: str | None, path: Path, means: Means) -> Iterator[Problem]:
    agent = means.known_agents.get(name)
    if agent is None:
        yield _nobody(name, path, means)
    else:
        yield from _model(agent.model, path, means, _of(name))
        yield from _beside(agent, way or agent.strategy, path, means)


def _nobody(name: str, path: Path, means: Means, whose: str = "") -> Problem:
    hint = did_you_mean(name, means.known_agents) or "`perdure agents ls` tells who is here"
    return Problem(AGENT, f'{whose}there is no agent "{name}"', path, hint)


def _beside(agent: Agent, way: str, path: Path, means: Means) -> Iterator[Problem]:
    """Whoever judges what an agent does, and whoever its options have do it, has to be there as well."""
    from perdure.agents.strategies import OPTIONS  # noqa: PLC0415  few plans have agents
    from perdure.agents.strategies.adapted import ADAPTED, own_way  # noqa: PLC0415  as above
    from perdure.agents.strategies.options import OptionsError, options_of  # noqa: PLC0415  as above

    if (way == ADAPTED) != (agent.loop is not None):
        yield Problem(STRATEGY, f'"{agent.name}" cannot work by "{way}"', path, own_way(agent))
        return
    try:
        options = options_of(agent, way, OPTIONS[way]) if way in OPTIONS else None
    except OptionsError as wrong:
        yield Problem(wrong.code, wrong.message, path, wrong.help)
        return
    yield from _judge(agent, getattr(options, "judge", None), path, means)
    for word in ("attempt", "act"):
        if (step := getattr(options, word, None)) is not None:
            whose = f'`{word}` in the options of the agent "{agent.name}": '
            yield from _optional(step, path, means, whose)


def _optional(step: Mapping[str, Raw], path: Path, means: Means, whose: str) -> Iterator[Problem]:
    """A step in options is looked at by itself; what whoever it names needs in turn is seen when they begin."""
    try:
        index = Index(Plan.model_validate({"steps": [{"id": "step", **step}]}))
    except ValidationError as error:
        told = f"{whose}{sentence(error.errors(include_url=False)[0])}"
        yield Problem("PRD4110", told, path, "write a step as in a plan, without its id")
        return
    for call in (call for node in index.nodes if node.step for call, _ in calls_in(node.step)):
        yield from _named_in(call, path, means, whose)


def _named_in(call: object, path: Path, means: Means, whose: str) -> Iterator[Problem]:
    agent = call.agent if isinstance(call, (AgentCall, Criterion)) else None
    tool = call.tool if isinstance(call, (ToolCall, Criterion)) else None
    if isinstance(call, ModelCall):
        yield from _model(call.model, path, means, whose)
    if agent not in {None, ANYBODY, *means.known_agents} and f"agent:{agent}" not in means.own:
        yield _nobody(str(agent), path, means, whose)
    if tool is not None and tool not in means.tools:
        hint = did_you_mean(tool, means.tools) or "`perdure tools ls` tells what is here"
        yield Problem(TOOL, f'{whose}there is no tool "{tool}"', path, hint)


def _judge(agent: Agent, judge: object, path: Path, means: Means) -> Iterator[Problem]:
    from perdure.agents.strategies.judging import Judge  # noqa: PLC0415  as above

    whose = f'who judges the agent "{agent.name}": '
    if isinstance(judge, Judge) and judge.agent is not None and judge.agent not in means.known_agents:
        yield _nobody(judge.agent, path, means, whose)
    if isinstance(judge, Judge) and judge.model is not None:
        yield from _model(judge.model, path, means, whose)


def _anybody(node: Node, path: Path, means: Means) -> Iterator[Problem]:
    """Somebody has to have all the skills, and something to think with."""
    skills = node.step.skills if isinstance(node.step, Working) else ()
    able = [each for each in means.known_agents.values() if {*skills} <= {*each.skills}]
    if means.agents is not None and not able:
        told = f"no agent has all that it takes: {', '.join(skills)}"
        yield Problem(SKILL, told, (*path, "agent"), "`perdure agents ls` tells who is here, and who can do what")
    found = [list(_model(each.model, (*path, "agent"), means, _of(each.name))) for each in able]
    yield from found[0] if found and all(found) else ()


def _of(agent: str) -> str:
    return f'what the agent "{agent}" thinks with: '


def _model(name: str, path: Path, means: Means, whose: str = "") -> Iterator[Problem]:
    try:
        if means.models is not None:
            means.models(name)
    except PerdureError as missing:
        yield Problem(MODEL, f"{whose}{missing.message}", path, missing.help)


def _skills(index: Index, means: Means) -> Iterator[Problem]:
    for node in index.nodes:
        skills = node.step.skills if isinstance(node.step, Working) and means.why_nobody is None else ()
        for place, skill in enumerate(skills):
            if skill not in means.all_skills:
                yield _unskilled(node, skill, means.all_skills, (*node.path, "skills", place))


def _unskilled(node: Node, skill: str, known: set[str], path: Path) -> Problem:
    """A step that has a tool can be done; it only has nobody to stand in."""
    hint = did_you_mean(skill, known) or "declare it with a tool: @tool(skills=[…])"
    if isinstance(node.step, ToolCall):
        told = f'nothing can stand in for {node.step.tool}: nobody has the skill "{skill}"'
        return Problem(SKILL, told, path, hint, "warning")
    return Problem(SKILL, f'nobody has the skill "{skill}"', path, hint)


# ------------------------------------------------------------------------------- secrets and budgets


def _secrets(index: Index, means: Means) -> Iterator[Problem]:
    for name, path in secrets_in(index).items() if means.secrets is not None else ():
        if name not in (means.secrets or ()):
            hint = f"put it into PERDURE_SECRET_{name}, or into secrets.toml"
            yield Problem(SECRET, f'nobody has given the secret "{name}"', path, hint)


def _budgets(index: Index, means: Means) -> Iterator[Problem]:
    written = [each for node in (index.root, *index.nodes) for each in _budgets_of(node)]
    for word in WORDS if written else ():
        costs = cheapest(index, means.tools, word)
        for node, budget, path in written:
            most: float | None = getattr(budget, word)
            if most is not None and costs[node] > most:
                told = f"a budget of {most:g} {word} does not suffice: the cheapest way takes {costs[node]:g}"
                hint = f"raise it to {costs[node]:g} or more, or leave steps out"
                yield Problem(BUDGET, told, (*path, word), hint, "error" if budget.then == "fail" else "warning")


def _promises(index: Index) -> Iterator[Problem]:
    """Calls of models that would not begin, because they are promised more than a budget around them has at all."""
    for node in index.nodes:
        step = node.step.decide if isinstance(node.step, DecideStep) else node.step
        most = min(_tokens_around(node), default=None) if isinstance(step, ModelCall) else None
        if isinstance(step, ModelCall) and most is not None and (least := _promised(node, step)) > most:
            told = f"the call is promised {least:g} tokens, and the budget around it has {most:g}: it would not begin"
            hint = "write `tokens`: the most that the answer needs; or raise the budget"
            yield Problem(BUDGET, told, node.path, hint, "warning")


def _promised(node: Node, call: ModelCall) -> float:
    """What a call of a model is promised at least: what the step says, or the longest answer."""
    from perdure.models.performing import USUAL_TOKENS  # noqa: PLC0415  few plans limit what models say

    said = node.step.estimate if isinstance(node.step, Working) else None
    return said.tokens if said and said.tokens is not None else FRAME + (call.tokens or USUAL_TOKENS)


def _tokens_around(node: Node) -> Iterator[float]:
    around: Node | None = node
    while around is not None:
        yield from (budget.tokens for _, budget, _ in _budgets_of(around) if budget.tokens is not None)
        around = around.parent


def _budgets_of(node: Node) -> Iterator[tuple[Node, Budget, Path]]:
    """A step's own budget, then that of the plan inside it."""
    if isinstance(node.step, Working) and node.step.budget:
        yield node, node.step.budget, (*node.path, "budget")
    if isinstance(node.holder, Plan) and node.holder.budget:
        yield node, node.holder.budget, (*node.path, *(("plan",) if node.step else ()), "budget")

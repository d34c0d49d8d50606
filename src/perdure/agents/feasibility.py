"""Feasibility (A1): what a plan lacks, found before its first step, all at once, each with a place and what to do.

Tools and arguments are what `check` says of them. Beyond that: skills that nobody has, inputs that nobody gives,
secrets that nobody has put anywhere, and budgets that do not suffice even on the cheapest way.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from perdure.agents.cheapest import WORDS, cheapest
from perdure.plan.checks import check
from perdure.plan.expr import ExpressionError
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Budget, ToolCall
from perdure.plan.model.steps import Working
from perdure.plan.problems import Path, Problem, did_you_mean
from perdure.plan.raw import Raw
from perdure.plan.uses import uses_of
from perdure.tools.box import toolbox_of
from perdure.tools.tool import AnyTool

SKILL: Final = "PRD4211"
INPUT: Final = "PRD4212"
SECRET: Final = "PRD4213"  # noqa: S105  a code
BUDGET: Final = "PRD4214"


@dataclass(frozen=True)
class Means:
    """What there is to carry a plan out with. What is None is not known, and not looked at."""

    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    skills: Collection[str] = ()
    """Skills of agents; those of tools are known."""
    inputs: Mapping[str, Raw] = field(default_factory=dict[str, Raw])
    secrets: Collection[str] | None = None
    """Names of secrets."""

    @property
    def all_skills(self) -> set[str]:
        """What somebody is able to do."""
        return {*self.skills, *(skill for tool in self.tools.values() for skill in tool.declared.skills)}


def infeasible(plan: Plan, means: Means) -> list[Problem]:
    """All that stands in the way of a plan."""
    index = Index(plan)
    found = [problem for problem in check(plan, toolbox_of(means.tools.values()), index) if problem.severity == "error"]
    return [*found, *_inputs(plan, means), *_skills(index, means), *_secrets(index, means), *_budgets(index, means)]


def _inputs(plan: Plan, means: Means) -> Iterator[Problem]:
    for name, schema in plan.inputs.items():
        if "default" not in schema and name not in means.inputs:
            hint = f"give it with -i {name}=…, or write a default in the plan"
            yield Problem(INPUT, f'nobody gives the input "{name}"', ("inputs", name), hint)


def _skills(index: Index, means: Means) -> Iterator[Problem]:
    known = means.all_skills
    for node in index.nodes:
        skills = node.step.skills if isinstance(node.step, Working) else ()
        for place, skill in enumerate(skills):
            if skill not in known:
                yield _unskilled(node, skill, known, (*node.path, "skills", place))


def _unskilled(node: Node, skill: str, known: set[str], path: Path) -> Problem:
    """A step that has a tool can be done; it only has nobody to stand in."""
    hint = did_you_mean(skill, known) or "declare it with a tool: @tool(skills=[…])"
    if isinstance(node.step, ToolCall):
        told = f'nothing can stand in for {node.step.tool}: nobody has the skill "{skill}"'
        return Problem(SKILL, told, path, hint, "warning")
    return Problem(SKILL, f'nobody has the skill "{skill}"', path, hint)


def _secrets(index: Index, means: Means) -> Iterator[Problem]:
    if means.secrets is None:
        return
    seen: set[str] = set()
    for node in index.nodes:
        for use in uses_of(node.step) if node.step else ():
            references = () if isinstance(use.expression, ExpressionError) else use.expression.references
            for name in [str(each.parts[0]) for each in references if each.root == "secrets" and each.parts]:
                if name not in means.secrets and name not in seen:
                    seen.add(name)
                    hint = f"put it into PERDURE_SECRET_{name}, or into secrets.toml"
                    yield Problem(SECRET, f'nobody has given the secret "{name}"', (*node.path, *use.path), hint)


def _budgets(index: Index, means: Means) -> Iterator[Problem]:
    written = [each for node in (index.root, *index.nodes) for each in _budgets_of(node)]
    for word in WORDS if written else ():
        costs = cheapest(index, means.tools, word)
        for node, budget, path in written:
            most: float | None = getattr(budget, word)
            if most is not None and costs[node] > most:
                told = f"a budget of {most:g} {word} does not suffice: the cheapest way takes {costs[node]:g}"
                yield Problem(BUDGET, told, (*path, word), f"raise it to {costs[node]:g} or more, or leave steps out")


def _budgets_of(node: Node) -> Iterator[tuple[Node, Budget, Path]]:
    """A step's own budget, then that of the plan inside it."""
    if isinstance(node.step, Working) and node.step.budget:
        yield node, node.step.budget, (*node.path, "budget")
    if isinstance(node.holder, Plan) and node.holder.budget:
        yield node, node.holder.budget, (*node.path, *(("plan",) if node.step else ()), "budget")

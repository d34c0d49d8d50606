"""Checks: everything that is wrong with a plan, at once, before anything runs.

Each problem has a stable code, a place, a sentence, and what to write instead: a model must be able
to repair its plan from that text.
"""

from collections.abc import Iterator
from typing import Final

from perdure.collector import Undisturbed
from perdure.plan.checks.adjusting import check_growth, check_rules
from perdure.plan.checks.context import check_context
from perdure.plan.checks.contracts import check_contracts
from perdure.plan.checks.delegating import check_delegation
from perdure.plan.checks.names import check_names
from perdure.plan.checks.order import check_order
from perdure.plan.checks.policy import check_policies
from perdure.plan.checks.references import check_references
from perdure.plan.checks.ways import check_ways
from perdure.plan.flow import SerialFlow
from perdure.plan.index import Index, Section
from perdure.plan.model.document import Plan
from perdure.plan.problems import Path, Problem, errors_in, first_of
from perdure.plan.toolbox import Toolbox

__all__ = ["check", "check_section"]

LOST_TARGETS: Final = frozenset({"PRD1301", "PRD1302", "PRD1307", "PRD1311", "PRD1313"})
"""Where a jump goes nowhere, a step that nothing leads to is most likely the one that was meant."""


def check(
    plan: Plan, toolbox: Toolbox | None = None, index: Index | None = None, *, begun: bool = False
) -> list[Problem]:
    """Every problem of a plan, in the order of the document. Tools and agents are checked if a toolbox is given.

    `index` is that of the plan, if there is one already. Of a plan that was `begun`, rules may have been taken already,
    which cannot be taken once more.
    """
    with Undisturbed():
        whole = index or Index(plan)
        problems = first_of(_all_problems(whole, toolbox, SerialFlow(whole)))
        if plan.adjust is not None and not begun and not errors_in(problems):
            problems += first_of(check_rules(whole, toolbox))
    lost = [problem.path for problem in problems if problem.code in LOST_TARGETS]
    problems = [each for each in problems if each.code != "PRD1308" or not _may_be_meant(each.path, lost)]
    return sorted(problems, key=lambda problem: [segment for segment in problem.path if isinstance(segment, int)])


def check_section(section: Section, index: Index, toolbox: Toolbox | None = None) -> list[Problem]:
    """The errors of some steps of a plan, whose whole tree is `index`; the others were looked at before."""
    with Undisturbed():
        found = first_of(_all_problems(section, toolbox, SerialFlow(index)))
    return [each for each in found if each.severity == "error"]


def _all_problems(index: Index, toolbox: Toolbox | None, flow: SerialFlow) -> Iterator[Problem]:
    yield from check_names(index)
    yield from check_order(index, flow)
    yield from check_references(index, flow, toolbox)
    yield from check_contracts(index, toolbox)
    yield from check_ways(index)
    yield from check_context(index)
    yield from check_delegation(index)
    yield from check_policies(index)
    yield from check_growth(index)


def _may_be_meant(path: Path, lost: list[Path]) -> bool:
    """Whether a jump from this step's group, or from inside it, has lost its way."""
    group = path[:-1]
    return any(each[: len(group)] == group for each in lost)

"""Other ways and looser criteria: each must be one that can be gone. What would never be used is refused."""

from collections.abc import Iterator

from perdure.plan.index import Index, Node
from perdure.plan.model.steps import AskStep, DecideStep, GroupStep, MapStep, RollbackStep, SubplanStep, Working
from perdure.plan.problems import Problem

CODE = "PRD1415"


def check_ways(index: Index) -> Iterator[Problem]:
    """What steps offer for the case that they fail, or are not good enough."""
    for node in index.nodes:
        if isinstance(node.step, Working):
            yield from _check_offers(node, node.step)
            yield from _check_criteria(node, node.step)


def _check_offers(node: Node, step: Working) -> Iterator[Problem]:
    what = _without_ways(step)
    for word in ("simpler", "alternates", "relaxed") if what else ():
        if getattr(step, word):
            hint = (
                "say with `on: {failure: …}` which step follows instead, or put it into a group that has the other way"
            )
            yield Problem(CODE, f"{what} has no other way to be done", (*node.path, word), hint)


def _without_ways(step: Working) -> str:
    """A step that nobody tries, in words; empty: it is tried, or holds steps that are."""
    match step:
        case AskStep():
            return "a question to a person"
        case RollbackStep():
            return "a rollback"
        case DecideStep(decide=str()):
            return "a decision by an expression"
        case _:
            return ""


def _check_criteria(node: Node, step: Working) -> Iterator[Problem]:
    if step.relaxed and not step.accept:
        hint = "add `accept` with what is wanted at first, or rename `relaxed`"
        yield Problem(CODE, "there is no `accept` that `relaxed` could stand for", (*node.path, "relaxed"), hint)
    for n, criterion in enumerate(step.relaxed):
        if criterion.tool is not None or criterion.agent is not None:
            hint = "write an expression or a schema"
            yield Problem(CODE, "nobody is asked to judge by `relaxed`", (*node.path, "relaxed", n), hint)
    for n, criterion in enumerate(step.accept if isinstance(step, (GroupStep, MapStep, SubplanStep)) else ()):
        judge = criterion.tool or criterion.agent
        if judge is not None:
            what = "a tool" if criterion.tool is not None else "an agent"
            hint = f"let {judge} judge the step inside that gives it"
            yield Problem(CODE, f"{what} judges what one call gives, not a group", (*node.path, "accept", n), hint)

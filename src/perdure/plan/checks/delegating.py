"""Work for anybody: somebody is chosen by the skills of a step, so there have to be some, and it has to be a step."""

from collections.abc import Iterator

from perdure.plan.index import Index, Node
from perdure.plan.model.parts import ANYBODY, AgentCall
from perdure.plan.model.steps import DecideStep, Working
from perdure.plan.problems import Path, Problem

CODE = "PRD1418"


def check_delegation(index: Index) -> Iterator[Problem]:
    """Every `agent: any`, and whoever is to find another way."""
    for word in ("planner", "otherwise") if index.plan.adjust else ():
        if getattr(index.plan.adjust, word) == ANYBODY:
            yield Problem(CODE, "nobody is chosen for this", ("adjust", word), "name an agent")
    for node in index.nodes:
        if isinstance(node.step, Working):
            yield from _without_skills(node, node.step)
            yield from _beside(node, node.step)


def _without_skills(node: Node, step: Working) -> Iterator[Problem]:
    ways = [(step, ("agent",)), (step.simpler, ("simpler", "agent"))]
    ways += [(each, ("alternates", n, "agent")) for n, each in enumerate(step.alternates)]
    for call, path in ways if not step.skills else ():
        if isinstance(call, AgentCall) and call.agent == ANYBODY:
            hint = "write what it takes, as in `skills: [python]`, or name an agent"
            yield Problem(CODE, "anybody may do it, and nothing says what it takes", (*node.path, *path), hint)


def _beside(node: Node, step: Working) -> Iterator[Problem]:
    """Whoever is asked beside the plan's order is not chosen."""
    asked: list[tuple[object, Path]] = [(step.undo, ("undo", "agent"))]
    asked += [(each, ("accept", n, "agent")) for n, each in enumerate(step.accept)]
    asked += [(step.decide, ("decide", "agent"))] if isinstance(step, DecideStep) else []
    for call, path in asked:
        if getattr(call, "agent", None) == ANYBODY:
            yield Problem(CODE, "nobody is chosen for this", (*node.path, *path), "name an agent")

"""Context: it is for models and agents. What nobody would be shown is refused."""

from collections.abc import Iterator
from typing import Final

from perdure.plan.index import Index, Node
from perdure.plan.model.parts import AgentCall, Criterion, ModelCall
from perdure.plan.model.steps import Working
from perdure.plan.problems import Problem
from perdure.plan.uses import calls_in

CODE: Final = "PRD1417"
_DONE_BY: Final = ("simpler", "alternates", "decide")
"""Where a step says by whom it is done, besides itself."""


def check_context(index: Index) -> Iterator[Problem]:
    """What steps say about the results they are shown."""
    for node in index.nodes:
        if isinstance(node.step, Working) and node.step.context is not None:
            yield from _check(node, node.step)


def _check(node: Node, step: Working) -> Iterator[Problem]:
    path, told = (*node.path, "context"), _told(step)
    if not told:
        hint = "name what it needs in its own values: ${steps.ID.output}; or give `context` to the model or agent"
        yield Problem(CODE, "nobody is shown this context: it is for models and agents", path, hint)
    for call in told:
        if isinstance(call, AgentCall) and "context" in call.with_:
            hint = "give it another name in `with`"
            yield Problem(CODE, "`with` has a `context` too, and an agent sees only one", path, hint)


def _told(step: Working) -> list[ModelCall | AgentCall]:
    """Whoever does the step, in any way, and can be told something."""
    found = (call for call, place in calls_in(step) if not place or place[0] in _DONE_BY)
    return [call for call in found if not isinstance(call, Criterion) and isinstance(call, (ModelCall, AgentCall))]

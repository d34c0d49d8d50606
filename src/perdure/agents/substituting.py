"""Another tool in the place of a step's own, in a plan under way: by the skills that tools declare, never by guessing.

It does nothing to the world that the other one does not do, can be given the same values, and gives what others take.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from perdure.agents.replanning import gives, may_keep
from perdure.agents.requests.wanting import wants_of
from perdure.plan.expr import ExpressionError, Reference
from perdure.plan.index import Index, Node
from perdure.plan.model.document import written_out
from perdure.plan.model.steps import ToolStep
from perdure.plan.raw import Raw
from perdure.plan.uses import Use, uses_of, uses_of_plan
from perdure.tools.skills import able_instead
from perdure.tools.tool import AnyTool


def substitute(index: Index, node: Node, known: Mapping[str, AnyTool]) -> dict[str, Any] | str:
    """The step with another tool, as it is written; or why there is none."""
    step = node.step
    own = known.get(step.tool) if isinstance(step, ToolStep) else None
    if not isinstance(step, ToolStep) or own is None or not own.declared.skills:
        return f"{node.id} calls nothing that says which skills it has"
    tried, wanted = _tried(index, node.id), _taken_of(index, node.id)
    for name in able_instead(known, own, own.declared.skills):
        given = None if name in tried else _arguments(step, known[name])
        if given is not None and gives(known[name], wanted):
            return {**written_out(step), "tool": name, "with": given}
    return f"no other tool can {' and '.join(own.declared.skills)} in the place of {node.id}"


def _arguments(step: ToolStep, tool: AnyTool) -> dict[str, Raw] | None:
    wants = wants_of(tool.facts().inputs)
    found = {want.name: step.with_[want.name] for want in wants if may_keep(want, step.with_)}
    return found if all(want.name in found for want in wants if want.required) else None


def _tried(index: Index, name: str) -> set[str]:
    """The tools of a step, of those that stood in for it, and of the one that it stands in for."""
    stem = _stem_of(name, index)
    steps = (node.step for id_, node in index.by_id.items() if _stem_of(id_, index) == stem)
    return {each.tool for each in steps if isinstance(each, ToolStep)}


def _stem_of(name: str, index: Index) -> str:
    """The step of the plan that one stands in for, perhaps by way of others; else itself, numbers and all."""
    stem, _, number = name.rpartition("_")
    return _stem_of(stem, index) if number.isdecimal() and stem in index.by_id else name


def _taken_of(index: Index, name: str) -> set[str]:
    """The fields of a step's output that others take; an empty text for the whole."""
    others = (references(node) for node in index.nodes if node.id != name)
    found = chain(chain.from_iterable(others), _references_in(uses_of_plan(index.plan)))
    taken = [each.parts for each in found if each.root == "steps" and each.parts[:2] == (name, "output")]
    return {str(parts[2]) if len(parts) > 2 else "" for parts in taken}  # noqa: PLR2004  after them


def references(node: Node) -> Iterator[Reference]:
    """What the expressions of a step name."""
    return _references_in(uses_of(node.step) if node.step else ())


def _references_in(uses: Iterable[Use]) -> Iterator[Reference]:
    for use in uses:
        yield from () if isinstance(use.expression, ExpressionError) else use.expression.references

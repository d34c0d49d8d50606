"""Which secrets the steps that an agent grows may name: those that the plan has given the agent, and no others.

A model's words become steps, and a model may have read anything. Whoever has written a step, the plan says which
secrets are used, and they stand nowhere but in `with` of a tool or an agent.
"""

from collections.abc import Iterable, Iterator

from perdure.plan.expr import ExpressionError, Reference
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.uses import Use, uses_of, uses_of_plan


class NotGiven(ValueError):
    """A grown step names a secret that its agent was not given."""


def refuse_secrets(id_: str, index: Index, given: frozenset[str]) -> None:
    """`NotGiven` if a step, or one inside it, names a secret that is not among those given."""
    for use in (use for node in index.nodes for use in _uses(node)):
        expression = use.expression
        wanted = names_in(() if isinstance(expression, ExpressionError) else expression.references)
        if wanted and not use.secrets:
            raise NotGiven(f"{id_}: secrets go into `with` of a tool or an agent, and nowhere else")
        if unknown := wanted - given:
            raise NotGiven(f"{id_} names the secret {min(unknown) or '?'}, which `with` of its agent does not")


def names_in(references: Iterable[Reference]) -> frozenset[str]:
    """The names of secrets; an empty one for all of them, or for one that is known only when it is looked up."""
    return frozenset(str(each.parts[0]) if each.parts else "" for each in references if each.root == "secrets")


def _uses(node: Node) -> Iterator[Use]:
    """The expressions of a step, and of a plan that stands in it."""
    yield from uses_of(node.step) if node.step is not None else ()
    yield from uses_of_plan(node.holder) if isinstance(node.holder, Plan) else ()

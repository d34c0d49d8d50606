"""From the policies that people write to the layers that judge: one layer for each author, from the outside in."""

from collections.abc import Iterable, Iterator

from perdure.core.policy import Layer, Terms
from perdure.plan.index import Node
from perdure.plan.model import parts
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import Working


def layer_of(policy: parts.Policy, name: str) -> Layer:
    """What a policy says, as a layer. Whatever is left out is not mentioned."""
    files = policy.files or parts.Files()
    return Layer(
        name,
        files_read=Terms(files.read, (), files.deny),
        files_write=Terms(files.write, files.ask, files.deny),
        network=_terms(policy.network),
        commands=_commands(policy.commands),
        tools=_terms(policy.tools),
        resources=_terms(policy.resources),
        effects=Terms(None, policy.ask, policy.deny),
        contained=policy.contained,
    )


def _terms(said: parts.Terms | tuple[str, ...] | None) -> Terms:
    if isinstance(said, parts.Terms):
        return Terms(said.allow, said.ask, said.deny)
    return Terms(said)


def _commands(said: parts.Commands | None) -> Terms:
    return Terms(said.allow, said.ask or (), said.deny or ()) if said else Terms()


def layers_at(node: Node, around: Iterable[Layer] = ()) -> tuple[Layer, ...]:
    """All layers that hold for a step of a plan, the outermost first: those around the plan, its own, its groups'."""
    inwards = [node, *node.around][::-1]
    return (*around, *(layer for each in inwards for layer in _layers(each)))


def _layers(node: Node) -> Iterator[Layer]:
    """A step's own policy, and that of the plan inside it."""
    if isinstance(node.step, Working) and node.step.policy:
        yield layer_of(node.step.policy, f"step {node.id}")
    if isinstance(node.holder, Plan) and node.holder.policy:
        yield layer_of(node.holder.policy, f"the plan in {node.id}" if node.step else "the plan")

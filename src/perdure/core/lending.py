"""What steps may call that the author of the plan has not written: what is lent to whoever puts them in.

A result may come from anybody, and an agent may have read anything. So such steps name what they call, one by one, and
cannot become more than they are.
"""

from collections.abc import Iterable, Iterator

from perdure.core.calls import CALL_KINDS
from perdure.core.patterns import like
from perdure.plan.index import Node
from perdure.plan.model.steps import Growing, MapStep, SubplanStep, Working
from perdure.plan.uses import calls_in

Called = tuple[str, str]
"""What is called, and its name."""


def called_by(node: Node) -> Iterator[Called]:
    """All that a step itself may call: its call, its other ways, what takes it back, and who judges it."""
    if isinstance(node.step, SubplanStep) and isinstance(node.step.plan, str):
        yield "plan", node.step.plan
    for call, _ in calls_in(node.step) if node.step else ():
        yield from ((kind, name) for kind in (*CALL_KINDS, "strategy") if (name := getattr(call, kind, None)))


def is_lent(called: Called, tools: Iterable[str]) -> bool:
    """Whether a tool is among those that are lent, as in `web.*`."""
    return called[0] == "tool" and any(like(each, called[1]) for each in tools)


def refuse_unbounded(node: Node) -> None:
    """`ValueError` for what is more than one step, or might call more than it says."""
    if isinstance(node.step, Growing) and node.step.grows is not None:
        raise ValueError(f"{node.id} would add steps itself")
    if isinstance(node.step, MapStep):
        told = f"{node.id} is a map, of which nobody knows how many steps it is; list the steps"
        raise ValueError(told)  # noqa: TRY004  it is what it is, and not to be had
    if isinstance(node.step, Working) and node.step.skills:
        raise ValueError(f"{node.id} names skills, by which any tool might be found; name the tool")

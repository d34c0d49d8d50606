"""What an engine knows of the world: its tools, its named plans, and whoever performs the rest."""

from collections.abc import Coroutine, Iterable, Mapping
from typing import Any

from perdure.core.calls import Call, Outcome, Repeat
from perdure.core.policy import Layer
from perdure.plan import Plan
from perdure.ports import Attempt, Performer
from perdure.runtime.host import Knowledge
from perdure.tools import AnyTool, ToolPerformer
from perdure.tools.box import by_name, outside_of
from perdure.tools.declaring import parameters_of
from perdure.tools.hands import Hands


class Everyone:
    """Performs what a step asks for: tools by itself, the rest by whoever was handed in."""

    def __init__(self, tools: Mapping[str, AnyTool], other: Performer | None, hands: Hands | None = None) -> None:
        self._tools = tools
        self._performer = ToolPerformer(tools.values(), hands=hands)
        self._other = other

    def perform(self, attempt: Attempt) -> Coroutine[Any, Any, Outcome]:
        """Hand it to the one who knows."""
        call = attempt.call
        if call.kind == "tool" and (call.name in self._tools or self._other is None):
            return self._performer.perform(attempt)
        return self._other.perform(attempt) if self._other is not None else _by_nobody(attempt)


async def _by_nobody(attempt: Attempt) -> Outcome:
    call = attempt.call
    return Outcome.failed("unavailable", f"nobody performs {call.kind} calls here, such as {call.name!r}")


def knowledge_of(
    tools: Iterable[AnyTool],
    plans: Mapping[str, Plan],
    strategies: Mapping[str, Any],
    secrets: Mapping[str, str],
    layers: tuple[Layer, ...] = (),
) -> Knowledge:
    """What the core may ask about the world."""
    known = by_name(tools)

    def repeat(call: Call) -> Repeat:
        if call.kind != "tool":
            return "safe"  # a model or an agent that was asked twice did no harm; it cost
        return known[call.name].repeat_of(call.arguments) if call.name in known else "never"

    def seconds(call: Call) -> float | None:
        return known[call.name].timeout if call.kind == "tool" and call.name in known else None

    def estimate(call: Call) -> Mapping[str, float]:
        found = known.get(call.name) if call.kind == "tool" else None
        return (found.declared.estimate if found else None) or {}

    def probes(name: str) -> bool:
        return name in known and known[name].declared.probe is not None

    def undo(name: str) -> tuple[str, ...] | None:
        function = known[name].declared.undo if name in known else None
        return None if function is None else parameters_of(function)

    def lasts(name: str) -> bool:
        return name not in known or not known[name].is_reversible

    digests = {name: plan.hash.rpartition(":")[2] for name, plan in plans.items()}
    return Knowledge(
        repeat, seconds, strategies, digests, secrets, probes, undo, lasts, layers, estimate, outside_of(known)
    )

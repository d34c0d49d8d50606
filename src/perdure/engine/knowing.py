"""What an engine knows of the world: its tools, its named plans, and whoever performs the rest."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from perdure.core.calls import Call, Outcome, Repeat
from perdure.core.outline import Outline
from perdure.core.policy import Layer
from perdure.core.state import Rules
from perdure.engine.replanning import let_replan
from perdure.plan import Plan
from perdure.plan.model.recalling import recalled
from perdure.ports import Attempt, Desk, Journal, Memories, Performer
from perdure.runtime.host import Knowledge
from perdure.runtime.shelf import Shelf
from perdure.tools import AnyTool, ToolPerformer
from perdure.tools.box import by_name, outside_of
from perdure.tools.declaring import parameters_of
from perdure.tools.hands import Hands

if TYPE_CHECKING:
    from perdure.engine.heads import Heads
    from perdure.tools.rules import Rule


Expected = Callable[[Call, Mapping[str, float]], Mapping[str, float]]


class Everyone:
    """Performs what a step asks for: tools by itself, the rest by whoever was handed in, or by models and agents."""

    def __init__(  # noqa: PLR0913, PLR0917  each is a part of the world
        self,
        tools: Mapping[str, AnyTool],
        other: Performer | None,
        hands: Hands | None = None,
        failures: "Sequence[Rule]" = (),
        heads: "Heads | None" = None,
        memory: Memories | None = None,
        desk: Desk | None = None,
    ) -> None:
        self._tools = tools
        self._failures = _checked(failures) if failures else ()
        self._performer = ToolPerformer(tools.values(), hands=hands, failures=self._failures, memory=memory, desk=desk)
        self._other = other
        self._heads = heads

    def perform(self, attempt: Attempt) -> Coroutine[Any, Any, Outcome]:
        """Hand it to the one who knows."""
        call = attempt.call
        if call.kind == "tool" and (call.name in self._tools or self._other is None):
            return self._performer.perform(attempt)
        if self._heads is not None and self._heads.knows(call):
            return self._heads.perform(attempt)
        return _by_nobody(attempt) if self._other is None else self._by_other(self._other, attempt)

    async def _by_other(self, other: Performer, attempt: Attempt) -> Outcome:
        try:
            return await other.perform(attempt)
        except Exception as error:  # noqa: BLE001  whatever it raises is a failure, and rules say of what kind
            from perdure.tools.classifying import classified_error  # noqa: PLC0415  few calls fail

            call = attempt.call
            repeat: Repeat = "never" if call.kind == "tool" else "safe"
            return Outcome(exit="failure", failure=classified_error(error, call.name, repeat, self._failures))


def _checked(failures: "Sequence[Rule]") -> "Sequence[Rule]":
    """Rules, also where somebody has read them from a file of their own. `BadRule` for one that cannot be meant."""
    from perdure.tools.rules import rule_of  # noqa: PLC0415  few have any

    return [rule_of(each) for each in failures]


async def _by_nobody(attempt: Attempt) -> Outcome:
    call = attempt.call
    return Outcome.failed("unavailable", f"nobody performs {call.kind} calls here, such as {call.name!r}")


def rules_of(
    journal: Journal,
    tools: Iterable[AnyTool],
    layers: tuple[Layer, ...] = (),
    *,
    planning: bool = False,
    heads: "Heads | None" = None,
) -> Rules:
    """What the core needs to decide about the runs of a journal that others may be writing."""
    grown: Mapping[str, Any] = heads.strategies({}) if heads else {}
    known = knowledge_of(tools, {}, grown, {}, layers, expected=heads.expected if heads else None)

    @lru_cache(maxsize=64)
    def outline(digest: str) -> Outline:
        data = journal.fetch(digest)
        return Outline(recalled(data), data)

    rules = Rules(
        Shelf(journal.fetch).read, outline, known.repeat, known.seconds, known.strategies, known.plans,
        known.probes, known.undo, known.lasts, known.estimate, skilled=known.skilled, planning=planning,
    )  # fmt: skip
    let_replan(rules, by_name(tools), heads.lent if heads else lambda _: None)
    return rules


def knowledge_of(  # noqa: PLR0913  each is a part of the world
    tools: Iterable[AnyTool],
    plans: Mapping[str, Plan],
    strategies: Mapping[str, Any],
    secrets: Mapping[str, str],
    layers: tuple[Layer, ...] = (),
    *,
    is_all: bool = False,
    expected: Expected | None = None,
) -> Knowledge:
    """What the core may ask about the world. `is_all`: nobody performs a tool that is not among these.

    `expected` says what a call of a model may take, or of an agent that is asked as a whole.
    """
    known = by_name(tools)
    of = _Known(known, layers, is_all, expected)
    digests = {name: plan.hash.rpartition(":")[2] for name, plan in plans.items()}
    return Knowledge(
        of.repeat, of.seconds, strategies, digests, secrets, of.probes, of.undo, of.lasts, layers, of.estimate,
        outside_of(known), of.skilled, of.knows,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Known:
    """Answers to what the core asks about calls."""

    tools: Mapping[str, AnyTool]
    layers: tuple[Layer, ...]
    is_all: bool
    expected: Expected | None

    def repeat(self, call: Call) -> Repeat:
        if call.kind != "tool":
            return "safe"  # a model or an agent that was asked twice did no harm; it cost
        return self.tools[call.name].repeat_of(call.arguments) if call.name in self.tools else "never"

    def seconds(self, call: Call) -> float | None:
        return self.tools[call.name].timeout if call.kind == "tool" and call.name in self.tools else None

    def estimate(self, call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
        if call.kind in {"model", "agent"} and self.expected is not None:
            return self.expected(call, said)
        found = self.tools.get(call.name) if call.kind == "tool" else None
        return {**((found.declared.estimate if found else None) or {}), **said}

    def probes(self, name: str) -> bool:
        return name in self.tools and self.tools[name].declared.probe is not None

    def undo(self, name: str) -> tuple[str, ...] | None:
        function = self.tools[name].declared.undo if name in self.tools else None
        return None if function is None else parameters_of(function)

    def lasts(self, name: str) -> bool:
        return name not in self.tools or not self.tools[name].is_reversible

    def skilled(self, call: Call, skills: Sequence[str], inner: tuple[Layer, ...]) -> Sequence[str]:
        from perdure.tools.skills import standing_in  # noqa: PLC0415  few steps say which skills they take

        return standing_in(self.tools, call, skills, (*self.layers, *inner))

    def knows(self, call: Call) -> bool:
        return not self.is_all or call.kind != "tool" or call.name in self.tools

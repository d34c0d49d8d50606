"""What a step says of itself in a picture: a short label, and badges for what is worth knowing."""

from collections.abc import Iterator
from typing import Final, Literal

from perdure.plan.index import Holder
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Budget, Join, ModelCall, Quorum, Tolerate, ToolCall, Wait
from perdure.plan.model.steps import (
    AgentStep,
    AnyStep,
    AskStep,
    DecideStep,
    FailStep,
    Leading,
    MapStep,
    ModelStep,
    RollbackStep,
    SubplanStep,
    ToolStep,
    WaitStep,
    Working,
)
from perdure.plan.raw import Raw, is_list
from perdure.plan.visible import lapse, money, number_of

Family = Literal["act", "pause", "group", "done", "fail"]
Mode = Literal["serial", "graph", "parallel"]

FAMILIES: Final[dict[str, Family]] = {
    "tool": "act",
    "model": "act",
    "agent": "act",
    "decide": "act",
    "ask": "pause",
    "wait": "pause",
    "checkpoint": "pause",
    "rollback": "pause",
    "group": "group",
    "map": "group",
    "plan": "group",
    "done": "done",
    "fail": "fail",
}

# ------------------------------------------------------------------------------- labels


def label(step: AnyStep, mode: Mode | None) -> str:
    """What a step does, in a few words."""
    if mode is not None or FAMILIES[kind(step)] == "group":
        return _holding(step, mode)
    return _pausing(step) if FAMILIES[kind(step)] == "pause" else _acting(step)


def kind(step: AnyStep) -> str:
    """The kind of a step, which only the kinds themselves declare."""
    return getattr(step, "kind", "")


def _acting(step: AnyStep) -> str:
    match step:
        case ToolStep() | ModelStep() | AgentStep():
            return _call(step)
        case DecideStep():
            return f"decide: {step.decide}" if isinstance(step.decide, str) else f"decide by {_call(step.decide)}"
        case FailStep():
            return f"fail: {step.fail}" if isinstance(step.fail, str) else "fail"
        case _:
            return kind(step)


def _call(call: ToolCall | ModelCall | AgentCall) -> str:
    if isinstance(call, ToolCall):
        return call.tool
    return f"model {call.model}" if isinstance(call, ModelCall) else f"agent {call.agent}"


def _pausing(step: AnyStep) -> str:
    match step:
        case AskStep():
            return f"ask: {step.ask}"
        case WaitStep():
            return f"wait {_waited_for(step.wait)}"
        case RollbackStep():
            return f"roll back to {step.rollback}"
        case _:
            return kind(step)


def _waited_for(wait: Wait) -> str:
    time = lapse(wait.for_) if isinstance(wait.for_, (int, float)) else wait.for_
    clock = f"until {wait.until}" if wait.until is not None else time
    signal = f"for signal {wait.signal}" if wait.signal else None
    return " or ".join(each for each in (clock, signal) if each is not None)


def _holding(step: AnyStep, mode: Mode | None) -> str:
    match step:
        case MapStep():
            return f"for each of {_items(step.map)}"
        case SubplanStep():
            inner = step.plan
            return f"plan {inner}" if isinstance(inner, str) else f"plan {inner.name or inner.goal}".rstrip()
        case _:
            return mode or kind(step)


def _items(items: Raw) -> str:
    return number_of(len(items), "item") if is_list(items) else str(items)


# ------------------------------------------------------------------------------- badges


def badges(step: AnyStep | None, holder: Holder | None) -> list[str]:
    """What changes how a step runs, in the order in which it matters to a reader."""
    found = [f"if {step.when}"] if step is not None and step.when is not None else []
    found += _held(holder) if holder is not None else []
    found += _counted(step) if isinstance(step, Leading) else []
    return found


def _held(holder: Holder) -> Iterator[str]:
    if isinstance(holder, MapStep) and holder.mode == "graph":
        yield "graph"
    if join := joined(holder.join):
        yield join
    if holder.limit is not None:
        yield f"{holder.limit:,} at once"
    if isinstance(holder, Plan) and holder.budget is not None:
        yield spending(holder.budget)


def joined(join: Join) -> str:
    """A join other than the usual one."""
    match join:
        case Quorum():
            return f"quorum {join.quorum:,}"
        case Tolerate():
            return f"tolerate {join.tolerate:,}"
        case word:
            return "" if word == "all" else word


def _counted(step: Leading) -> Iterator[str]:
    if step.max_visits is not None:
        yield f"≤ {number_of(step.max_visits, 'visit')}"
    if isinstance(step, Working):
        if step.retry is not None:
            yield f"retry {step.retry.attempts:,}"
        if step.undo is not None:
            yield "undo"
        if step.budget is not None:
            yield spending(step.budget)


def spending(budget: Budget) -> str:
    """The most that may be spent, as one badge."""
    parts = [
        lapse(budget.seconds) if budget.seconds is not None else "",
        money(budget.usd) if budget.usd is not None else "",
        *(number_of(count, word) if count is not None else "" for count, word in _counts(budget)),
    ]
    words = ", ".join(part for part in parts if part)
    return f"≤ {words}" if words else "budget"


def _counts(budget: Budget) -> Iterator[tuple[int | None, str]]:
    yield budget.tokens, "token"
    yield budget.steps, "step"
    yield budget.calls, "call"

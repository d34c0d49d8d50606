"""Where steps lead: the exits a step can have, and the target each of them is mapped to."""

from collections.abc import Iterator
from typing import Final

from perdure.plan.index import Index, Node
from perdure.plan.model.steps import AnyStep, AskStep, DecideStep, DoneStep, FailStep, Leading, WaitStep, Working

GOES_ON: Final = frozenset({"success", "approved", "elapsed", "skipped"})
"""Exits that lead to `next` when nothing is written."""


def leads(node: Node, index: Index) -> Iterator[tuple[str, str]]:
    """Every exit of a step with its target: what is written, or else the default."""
    if node.step is None:
        return
    written = node.step.on if isinstance(node.step, Leading) else {}
    for exit_ in dict.fromkeys((*_exits(node.step), *written)):
        yield exit_, written.get(exit_) or _default(node, exit_, index)


def aimed_at(node: Node, target: str, index: Index) -> Node | None:
    """The step a jump goes to: a child of a serial group around this node, in the same scope."""
    found = index.by_id.get(target)
    if found is None or found.parent is None or not found.parent.serial:
        return None
    for group in node.around:
        if group is found.parent:
            return found
        if group.is_scope:
            return None
    return None


def _default(node: Node, exit_: str, index: Index) -> str:
    step = node.step
    if isinstance(step, (DecideStep, AskStep)) and exit_ in step.choices:
        return exit_ if aimed_at(node, exit_, index) else "next"
    return "next" if exit_ in GOES_ON else "recover"


def _exits(step: AnyStep) -> tuple[str, ...]:
    match step:
        case DoneStep() | FailStep():
            own: tuple[str, ...] = ()
        case DecideStep():
            own = step.choices
        case AskStep():
            own = _answers(step)
        case WaitStep():
            own = _ends_of_waiting(step)
        case Working():
            own = ("success", *step.verdicts)
        case _:
            own = ("success",)
    return own if step.when is None else (*own, "skipped")


def _answers(step: AskStep) -> tuple[str, ...]:
    match step.answer:
        case "approval":
            return ("approved",)
        case "choice":
            return step.choices
        case _:
            return ("success",)


def _ends_of_waiting(step: WaitStep) -> tuple[str, ...]:
    timed = step.wait.for_ is not None or step.wait.until is not None
    return (*(("success",) if step.wait.signal else ()), *(("elapsed",) if timed else ()))

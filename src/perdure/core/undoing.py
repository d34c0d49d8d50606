"""Taking effects back, one after another, the latest first. What cannot be taken back is said and stays."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.calls import CALL_KINDS, DOUBTFUL, Approval, Call, CallKind, Failure, is_yes
from perdure.core.cells import Cell, Effect, Grown
from perdure.core.chance import drawn, pause_before
from perdure.core.deciding import Deciding
from perdure.core.patience import terms
from perdure.core.seeing import refusal
from perdure.core.state import State
from perdure.core.values import digest_of
from perdure.plan.model.parts import Retry
from perdure.plan.model.steps import RollbackStep, Working

MOST_LOSSES: Final = 10
"""How often an effect is tried to be taken back again when each process that tries it dies."""

MOST_KEPT: Final = 5
"""So many of those that could not be taken back are told in the failure of a step or a group."""


def region_of(state: State, cell: Cell, *, over: bool = False) -> Iterator[Effect]:
    """The effects that a stopping step or a rollback has to take back, or is over with, the latest first."""
    if isinstance(cell.step, RollbackStep):
        since, keys = _since(state, cell, cell.step)
    else:
        since, keys = cell.age if cell.parent else _mark(state), set(cell.undo)
    for effect in reversed(state.effects.values() if keys else ()):
        if effect.number <= since:
            return
        if effect.over == over and effect.is_in(keys):
            yield effect


def effects_in(state: State, cell: Cell) -> Iterator[Effect]:
    """All that was done in this visit of a group and could be taken back, the latest first; also what was."""
    for effect in reversed(state.effects.values()):
        if effect.number <= cell.age:
            return
        if effect.is_in({cell.key}):
            yield effect


def dropped_in(cell: Cell) -> Iterator[Effect]:
    """What a group takes back while it goes on."""
    if isinstance(cell.body, Grown):
        yield from tuple(cell.body.dropping.values())  # one that is over is taken out


def _mark(state: State) -> int:
    """Since when a whole run is taken back."""
    return state.marks.get(state.stopping.to, 0) if state.stopping else 0


def _since(state: State, cell: Cell, step: RollbackStep) -> tuple[int, set[str]]:
    """Since when, and where: after the checkpoint, in the group it stands in. One that was not passed says nothing."""
    mark = cell.scope.find(step.rollback)
    if mark is None or mark.parent is None or mark.result is None or mark.result.passed:
        return 0, set()
    return state.marks[mark.key], {mark.parent.key}


def undo_next(turn: Deciding, region: Iterator[Effect]) -> bool:
    """Take back the latest effect that is left; whether nothing is left."""
    for effect in region:
        if effect.of:
            _leave(turn, effect)
        elif effect.flying or (effect.due is not None and effect.due > turn.now) or _try(turn, effect):
            return False
    return True


def _try(turn: Deciding, effect: Effect) -> bool:
    """Begin, or plan, a try at taking back; whether there is one."""
    if "error" in effect.call:
        _give_up(turn, effect, Failure("invalid", str(effect.call["error"])))
        return False
    if _has_no_way(turn.state, effect):
        _give_up(turn, effect, Failure("invalid", f"nothing takes {effect.call['own']} back"))
        return False
    if effect.approval is not None:
        return _settle_approval(turn, effect, effect.approval)
    if effect.failure is not None and effect.due is None:
        return _plan_retry(turn, effect, effect.failure)
    _begin(turn, effect, effect.approved)
    return True


def _has_no_way(state: State, effect: Effect) -> bool:
    """Whether its tool does not take itself back; somebody who did not know the tool could not know that."""
    tool = effect.call.get("own")
    return tool is not None and state.rules.knows(undo_call(effect)) and state.rules.undo(tool) is None


def _settle_approval(turn: Deciding, effect: Effect, approval: Approval) -> bool:
    """Ask once; go on if somebody agrees, and let it stay if nobody does. Whether it may still be taken back."""
    answer = turn.state.answers.get(effect.question)
    if not effect.question:
        _ask(turn, effect, approval)
    elif effect.question in turn.state.questions:
        return True
    elif answer is not None and is_yes(answer.load(turn.read)):
        _begin(turn, effect, (*effect.approved, approval.digest))
    else:
        _give_up(turn, effect, refusal(turn.state, effect.question))
        return False
    return True


def _ask(turn: Deciding, effect: Effect, approval: Approval) -> None:
    key, visit = effect.cell.key, effect.visit
    about: dict[str, Any] = {"step": key, "visit": visit, "question": f"q_{key}_{visit}_undo{effect.attempts}"}
    text = f"To take it back: {approval.text}"
    about |= terms(turn, effect.cell)
    turn.record(
        e.QuestionAsked(**about, answer="approval", about="policy", text=text, approves=approval.digest, deed="undo")
    )


def _leave(turn: Deciding, effect: Effect) -> None:
    """Another run did it, and may still need it."""
    if effect.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=effect.question))
    _give_up(turn, effect, Failure("denied", f"done by {effect.of}; roll it back there"))


def _begin(turn: Deciding, effect: Effect, approved: tuple[str, ...]) -> None:
    """Taking back waits for no slot: it frees more than it uses."""
    if turn.held or turn.state.paused_at is not None:
        return
    digest = digest_of(dict(effect.call))
    seconds = turn.state.rules.seconds(undo_call(effect))
    due = None if seconds is None else turn.now + round(seconds * 1000)
    about: dict[str, Any] = {"step": effect.cell.key, "visit": effect.visit, "attempt": effect.attempts + 1}
    turn.record(e.AttemptStarted(**about, deed="undo", call=digest, due=due, approved=approved))


def _plan_retry(turn: Deciding, effect: Effect, failure: Failure) -> bool:
    if failure.kind in DOUBTFUL and not turn.state.rules.knows(undo_call(effect)):
        return True  # whoever knows the tool will say
    step = effect.cell.step
    policy = (step.retry if isinstance(step, Working) else None) or Retry()
    tries = effect.attempts - effect.losses - effect.uncounted
    spent = tries >= policy.attempts or effect.losses > MOST_LOSSES
    if spent or failure.kind == "denied" or _is_doubtful(turn, effect, failure):
        _give_up(turn, effect, failure)
        return False
    draw = drawn(turn.state, f"{effect.cell.key}!", effect.visit, effect.attempts)
    due = turn.now + (pause_before(draw, tries, policy, failure) if tries else 0)
    about: dict[str, Any] = {"step": effect.cell.key, "visit": effect.visit, "attempt": effect.attempts}
    turn.record(e.RetryPlanned(**about, deed="undo", due=due))
    return True


def _is_doubtful(turn: Deciding, effect: Effect, failure: Failure) -> bool:
    """Whether it may have been taken back, and must not be twice. A tool's own way can be gone again."""
    if failure.kind not in DOUBTFUL or "own" in effect.call:
        return False
    return turn.state.rules.repeat(undo_call(effect)) == "never"


def _give_up(turn: Deciding, effect: Effect, failure: Failure) -> None:
    turn.record(e.EffectKept(step=effect.cell.key, visit=effect.visit, failure=failure))


def kept_in(state: State, cell: Cell) -> Iterator[tuple[str, Failure]]:
    """What was to be taken back there and stays, and why."""
    for effect in region_of(state, cell, over=True):
        if effect.failure is not None and not _is_harmless(state, effect):
            yield effect.cell.key, effect.failure


def with_what_stays(state: State, cell: Cell, failure: Failure | None) -> Failure | None:
    """The failure of what was to be taken back before it was over; where something stays, it says so."""
    kept = [f"{each} ({why.message})" for each, why in kept_in(state, cell)]
    if failure is None or not kept:
        return failure
    first = "nobody knows whether it had its effect" if failure.kind == "in_doubt" else failure.message
    told = ", ".join(kept[:MOST_KEPT]) + (", …" if len(kept) > MOST_KEPT else "")
    return msgspec.structs.replace(failure, message=f"{first}; could not be taken back: {told}")


def remains(state: State) -> list[dict[str, Any]]:
    """What a run that was rolled back has left behind: what could not be taken back, and what nothing takes back."""
    since = _mark(state)
    kept = [
        {"step": each.cell.key, "kind": each.failure.kind, "message": each.failure.message}
        for each in state.effects.values()
        if each.number > since and each.failure is not None and not _is_harmless(state, each)
    ]
    return kept + [
        {"step": cell.key, "kind": "irreversible", "message": f"nothing takes {cell.traits.tool} back"}
        for cell in state.cells.values()
        if cell.age > since and _is_lasting(state, cell)
    ]


def _is_harmless(state: State, effect: Effect) -> bool:
    """Whether nothing takes it back because there is nothing to take back."""
    return _has_no_way(state, effect) and not state.rules.lasts(effect.call["own"])


def _is_lasting(state: State, cell: Cell) -> bool:
    done = cell.kind == "work" and cell.result is not None and not cell.result.passed
    is_known = (cell.key, cell.visit) in state.effects
    return done and not is_known and bool(cell.traits.tool) and state.rules.lasts(cell.traits.tool)


def undo_call(effect: Effect) -> Call:
    """The call that takes an effect back."""
    if "own" in effect.call:
        return Call("tool", effect.call["own"], effect.call["with"])
    kind: CallKind = next(kind for kind in CALL_KINDS if kind in effect.call)
    return Call(kind, effect.call[kind], effect.call["with"])

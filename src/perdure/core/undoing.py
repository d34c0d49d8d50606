"""Taking effects back, one after another, the latest first. What cannot be taken back is said and stays."""

from collections.abc import Iterator

from perdure.core import events as e
from perdure.core.calls import CALL_KINDS, Call, CallKind, Failure
from perdure.core.cells import Cell, Effect
from perdure.core.chance import drawn, pause_before
from perdure.core.deciding import Deciding
from perdure.core.state import State
from perdure.core.values import digest_of
from perdure.plan.model.parts import Retry
from perdure.plan.model.steps import RollbackStep, Working


def region_of(state: State, cell: Cell, *, over: bool = False) -> Iterator[Effect]:
    """The effects that a stopping group or a rollback has to take back, or is over with, the latest first."""
    since, keys = 0, cell.undo
    if isinstance(cell.step, RollbackStep):
        mark = cell.scope.find(cell.step.rollback)
        since = state.marks.get(mark.key, 0) if mark else 0
        keys = (mark.parent.key,) if mark and mark.parent else ()
    for effect in reversed(state.effects[since:] if keys else []):
        if effect.over == over and _is_in(effect, keys):
            yield effect


def _is_in(effect: Effect, keys: tuple[str, ...]) -> bool:
    return effect.cell.key in keys or any(cell.key in keys for cell in effect.cell.around)


def undo_next(turn: Deciding, region: Iterator[Effect]) -> bool:
    """Take back the latest effect that is left; whether nothing is left."""
    for effect in region:
        if effect.flying or (effect.due is not None and effect.due > turn.now):
            return False
        if not _try(turn, effect):
            continue
        return False
    return True


def _try(turn: Deciding, effect: Effect) -> bool:
    """Begin, or plan, a try at taking back; whether there is one."""
    if "error" in effect.call:
        _give_up(turn, effect, Failure("invalid", str(effect.call["error"])))
        return False
    if effect.attempts and effect.failure is not None and effect.due is None:
        return _plan_retry(turn, effect, effect.failure)
    if turn.state.paused_at is None:
        key, attempt = effect.cell.key, effect.attempts + 1
        digest = digest_of(dict(effect.call))
        turn.record(e.AttemptStarted(step=key, visit=effect.visit, attempt=attempt, deed="undo", call=digest))
    return True


def _plan_retry(turn: Deciding, effect: Effect, failure: Failure) -> bool:
    step = effect.cell.step
    policy = (step.retry if isinstance(step, Working) else None) or Retry()
    doubtful = failure.kind == "in_doubt" and turn.state.rules.repeat(undo_call(effect)) == "never"
    if effect.attempts >= policy.attempts or doubtful:
        _give_up(turn, effect, failure)
        return False
    draw = drawn(turn.state, f"{effect.cell.key}!", effect.visit, effect.attempts)
    pause = pause_before(draw, effect.attempts, policy, failure)
    turn.record(
        e.RetryPlanned(
            step=effect.cell.key, visit=effect.visit, attempt=effect.attempts, deed="undo", due=turn.now + pause
        )
    )
    return True


def _give_up(turn: Deciding, effect: Effect, failure: Failure) -> None:
    turn.record(e.EffectKept(step=effect.cell.key, visit=effect.visit, failure=failure))


def undo_call(effect: Effect) -> Call:
    """The call that takes an effect back."""
    kind: CallKind = next(kind for kind in CALL_KINDS if kind in effect.call)
    return Call(kind, effect.call[kind], effect.call["with"])

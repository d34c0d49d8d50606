"""From a command to an attempt: which call it is, the key that the world knows it by, and what holds for it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from perdure.core.allowing import branches_around, layers_around
from perdure.core.calls import Call
from perdure.core.cells import Cell
from perdure.core.conversing import before
from perdure.core.earlier import siblings
from perdure.core.judging import judging_call
from perdure.core.policy import Layer
from perdure.core.seeing import SECRETS, call_of, with_secrets
from perdure.core.state import State
from perdure.core.turn import StartAttempt
from perdure.core.undoing import undo_call
from perdure.core.values import digest_of
from perdure.ports import Attempt, nothing_before, nothing_earlier
from perdure.runtime.keys import key_of

Report = Callable[[float, str], None]
NOTHING_APPROVED: Final = frozenset[str]()


class Around(NamedTuple):
    """What attempts get from around their run."""

    secrets: Mapping[str, str]
    layers: tuple[Layer, ...]
    """What the user's policy says of every call."""
    note: Callable[[Attempt, str, Any], None]


def attempt_for(state: State, command: StartAttempt, around: Around, now: Callable[[], int], report: Report) -> Attempt:
    """What is handed to whoever does it."""
    if command.deed == "undo":  # of a visit that may be long over: in a later one the step was perhaps not entered
        return _undoing(state, command, around)
    if command.deed == "judge":
        return _judging(state, command, around)
    return _doing(state, command, around, now, report)


def _doing(state: State, command: StartAttempt, around: Around, now: Callable[[], int], report: Report) -> Attempt:
    """A try, or a look at one."""
    cell, work = state.cells[command.step], state.cells[command.step].work
    key = key_of(work.of or state.run, command.step, command.visit, work.digest)
    call = work.call or call_of(state, cell)
    if cell.traits.literal is None and cell.traits.wants_secrets:
        call = call_of(state, cell, around.secrets)
    until, layers = work.until, _layers(state, cell, call, around)
    seconds = None if until is None else max(0.0, (until - state.clock(now())) / 1000)
    return Attempt(
        state.run, command.step, command.visit, command.attempt, key, state.names.called(call), seconds,
        report, by="probe" if command.deed == "probe" else "call",
        digest=work.digest, layers=layers, approved=frozenset(work.approved) if work.approved else NOTHING_APPROVED,
        contained=branches_around(cell, layers), note=around.note, read=state.read,
        before=nothing_before if call.kind == "tool" else partial(before, cell, partial(call_of, state)),
        earlier=partial(siblings, state, cell) if cell.scope.kind == "grown" else nothing_earlier,
    )  # fmt: skip


def _judging(state: State, command: StartAttempt, around: Around) -> Attempt:
    """What a judge is asked. It is judged itself by all that holds for the step."""
    cell = state.cells[command.step]
    digest = digest_of(judging_call(state, cell).data)
    call = judging_call(state, cell, around.secrets)
    layers = _layers(state, cell, call, around)
    return Attempt(
        state.run, command.step, command.visit, command.attempt,
        key_of(state.run, f"{command.step}~", command.visit, digest),
        state.names.called(call), deed="judge",
        digest=digest, layers=layers, note=around.note, contained=branches_around(cell, layers),
        approved=frozenset(cell.work.looking.approved if cell.work.looking else ()),
    )  # fmt: skip


def _undoing(state: State, command: StartAttempt, around: Around) -> Attempt:
    """What takes an effect back. A tool's own way was allowed with the deed; another call is judged by itself."""
    effect = state.undoing[command.step, command.visit]
    call, is_own = undo_call(effect), "own" in effect.call
    digest = digest_of(call.data)
    key = key_of(state.run, f"{command.step}!", command.visit, digest)
    if is_own:  # it finds by the key what the deed has left
        key = key_of(state.run, command.step, command.visit, effect.digest)
    if SECRETS in effect.call:
        call = with_secrets(call, around.secrets)
    layers = _layers(state, effect.cell, call, around)
    return Attempt(
        state.run, command.step, command.visit, command.attempt, key, state.names.called(call), deed="undo",
        by="undo" if is_own else "call",
        output=effect.output.load(state.read) if is_own and effect.output else None,
        digest=digest, layers=() if is_own else layers, contained=branches_around(effect.cell, layers),
        approved=frozenset(effect.approved), note=around.note,
    )  # fmt: skip


def _layers(state: State, cell: Cell, call: Call, around: Around) -> tuple[Layer, ...]:
    """All that holds for a call of a step."""
    names = state.names
    if call.kind != "tool" or call.name not in names.tools:
        return layers_around(cell, around.layers)
    return names.layers(call.name, around.layers, layers_around(cell, ()))

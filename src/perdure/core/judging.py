"""Criteria that a tool judges: it is asked about what a step gave, one after the other, in the order of the plan.

A judge says `true` or `false`, or `{"met": …, "why": …}`. It is a look, not a try: it takes no place and leaves the
attempt it is about as it was. A judge that cannot be reached is asked a few times more.
"""

from collections.abc import Mapping
from typing import Any

from perdure.core import events as e
from perdure.core.calls import Call, Failure
from perdure.core.cells import Cell, Look
from perdure.core.chance import drawn, pause_before
from perdure.core.deciding import Deciding
from perdure.core.seeing import filled
from perdure.core.state import State
from perdure.core.trying import LOOK_SECONDS, LOOKING
from perdure.core.values import digest_of
from perdure.plan.expr import ExpressionError
from perdure.plan.model.parts import Criterion
from perdure.plan.raw import is_mapping

PASSING = frozenset({"transient", "rate_limited", "timeout", "unavailable"})
"""Failures of a judge after which it is asked again."""


def is_judged(turn: Deciding, cell: Cell, exit_: str) -> tuple[bool, Failure | None]:
    """Whether the judges have had their say, and what they object to. Who is missing is asked."""
    judges, work = cell.traits.judges, cell.work
    if exit_ != "success" or work.met == len(judges):
        return True, None
    verdict, judge = work.verdict, judges[work.met]
    if verdict is None or verdict.found is True:
        return _ask(turn, cell, judge)
    if verdict.told is None or _may_pass(verdict, verdict.told.failure):
        return _ask_again(turn, cell, judge, verdict)
    return True, _objection(turn, judge, verdict.told)


def _may_pass(verdict: Look, failure: Failure | None) -> bool:
    """Whether it is worth asking again: it took too long, or failed in a way that may be over soon."""
    return failure is not None and (verdict.stopping or failure.kind in PASSING)


def _objection(turn: Deciding, judge: Criterion, told: e.AttemptEnded) -> Failure:
    title = judge.title or judge.tool
    if told.failure is not None:
        return Failure(told.failure.kind, f"{judge.tool}, which judges it, failed: {told.failure.message}")
    if told.approval is not None:
        return Failure("denied", f"{judge.tool}, which judges it, may not act before a person agrees")
    said = told.output.load(turn.read)
    met = said.get("met") if is_mapping(said) else said
    if met is not False:
        return Failure("invalid", f"{title}: {judge.tool} says {said!r:.80}; a judge says true, false or {{met, why}}")
    why = said.get("why") if is_mapping(said) else None
    return Failure("unmet", f"not met: {title}" + (f": {why}" if why else ""))


def _ask(turn: Deciding, cell: Cell, judge: Criterion) -> tuple[bool, Failure | None]:
    try:
        call = judging_call(turn.state, cell)
    except ExpressionError as error:
        return True, Failure("invalid", f"{judge.title or judge.tool}: {error.message}")
    seconds = turn.state.rules.seconds(call) or LOOK_SECONDS
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": cell.work.looks + 1, "deed": "judge"}
    due = turn.now + round(seconds * 1000)
    turn.record_start(cell, e.AttemptStarted(**about, call=digest_of(call.data), due=due))
    return False, None


def _ask_again(turn: Deciding, cell: Cell, judge: Criterion, verdict: Look) -> tuple[bool, Failure | None]:
    failure = verdict.told.failure if verdict.told else None
    if verdict.tries >= LOOKING.attempts:
        why = failure.message if failure else "its process died"
        return True, Failure("unavailable", f"{judge.tool}, which judges it, failed: {why}")
    if verdict.due is not None:
        return _ask(turn, cell, judge) if verdict.due <= turn.now else (False, None)
    draw = drawn(turn.state, f"{cell.key}~", cell.visit, verdict.number)
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": verdict.number, "deed": "judge"}
    turn.record(e.RetryPlanned(**about, due=turn.now + pause_before(draw, verdict.tries, LOOKING, failure)))
    return False, None


def judging_call(state: State, cell: Cell, secrets: Mapping[str, Any] | None = None) -> Call:
    """What the next judge is asked. Without secrets, each is a note of its name."""
    judge = cell.traits.judges[cell.work.met]
    seen: dict[str, Any] = {"output": _given(state, cell), "exit": "success"}
    if secrets is not None:
        seen["secrets"] = secrets
    return Call("tool", str(judge.tool), filled(state, cell.scope, judge.with_, **seen))


def _given(state: State, cell: Cell) -> Any:
    """What the step gave: as its attempt told, or as a probe or a person found out."""
    work = cell.work
    if work.outcome is not None and work.outcome.failure is None:
        return work.outcome.output.load(state.read)
    if work.probe is not None and work.probe.told is not None and work.probe.found is True:
        return work.probe.told.output.load(state.read).get("output")
    answer = state.answers[cell.question].load(state.read)
    return answer.get("output") if is_mapping(answer) else None

"""The fold: what each fact changes. It decides nothing, and it is all that loading a run takes."""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import FREE, Failure, Usage
from perdure.core.cells import Body, Cell, Effect, Graph, Grown, Look, Result, Scope, Serial, Work
from perdure.core.forking import run_forked
from perdure.core.learning import steps_grown, tell_parent
from perdure.core.lines import locks_at_entry, make_hungry, release_locks, take_locks, wake_within
from perdure.core.opening import body_of, open_again, open_agent
from perdure.core.renaming import names_mapped
from perdure.core.reopening import run_reopened
from perdure.core.spending import (
    count,
    hold_ledger,
    hold_plan_ledger,
    note_answer,
    note_question,
    reserve,
    settle,
    settle_beside,
)
from perdure.core.state import State
from perdure.core.values import Value
from perdure.core.ways import return_to_usual, rung_taken
from perdure.plan.model.steps import CheckpointStep, SubplanStep, WaitStep
from perdure.plan.raw import is_mapping


def evolve(state: State, event: e.Event, at: int) -> None:
    """Change the state by one fact. Time does not run backwards, whatever a clock says."""
    state.at = max(state.at, at)
    _CHANGES[event.type](state, event)


# ------------------------------------------------------------------------------- the run


def _run_started(state: State, event: e.RunStarted) -> None:
    outline = state.rules.outline(event.plan)
    state.started = event
    scope = Scope("run", outline, outline.index.root)
    root = Cell("", outline.index.root, None, 0, scope)
    scope.holder = state.root = state.cells[""] = state.holders[""] = root
    root.status, root.visit, root.at = "active", 1, state.at
    root.body = body_of(state, root)
    if root.traits.budgets:
        hold_ledger(state, root, root.traits.budgets)
    if event.due is not None:
        root.alarm = state.set_timer(event.due, "", 1, "run")


def _run_paused(state: State, event: e.RunPaused) -> None:  # noqa: ARG001  the reason is for people
    state.paused_at = state.at


def _run_resumed(state: State, event: e.RunResumed) -> None:  # noqa: ARG001  who is for people
    assert state.paused_at is not None  # noqa: S101  a run that goes on was paused
    state.paused += state.at - state.paused_at
    state.paused_at = None


def _run_stopping(state: State, event: e.RunStopping) -> None:
    """A run that is to end is not paused any more, nor over: whatever is left to be done for that is done."""
    root = state.cells[""]
    if state.paused_at is not None:
        state.paused += state.at - state.paused_at
        state.paused_at = None
    state.stopping, state.ended, root.result = event, None, None
    root.status = "stopping"
    root.leaving = e.StepStopping(step="", exit=event.exit, failure=event.failure)
    if event.exit == "rolled_back":
        root.undo = ("",)
        state.undoers[""] = root
        for effect in state.effects.values():
            if effect.failure is not None and effect.over:
                _try_anew(effect)


def _try_anew(effect: Effect) -> None:
    """What could not be taken back before may be now: somebody has looked at it."""
    effect.over, effect.failure, effect.losses, effect.uncounted = False, None, 0, effect.attempts


def _run_revised(state: State, event: e.RunRevised) -> None:
    from perdure.core.refitting import run_revised  # noqa: PLC0415  few runs are revised, and it loads the edits

    run_revised(state, event)
    state.revised.append(event)
    if event.after:
        state.adjusted[event.by] += 1


def _revision_refused(state: State, event: e.RevisionRefused) -> None:
    state.adjusted[event.by] += 1


def _run_ended(state: State, event: e.RunEnded) -> None:
    root = state.cells[""]
    state.ended = event
    state.paused_at = state.at if state.paused_at is None else state.paused_at  # its clock stands still
    state.undoers.pop("", None)
    root.status = "over"
    root.result = Result(event.status, "next", root.body, event.output, event.failure, event.cause)


# ------------------------------------------------------------------------------- steps


def _step_entered(state: State, event: e.StepEntered) -> None:
    cell = state.located(event.step)
    _begin_visit(state, cell, event.visit)
    cell.due, cell.strategy = event.due, event.strategy
    if event.due is not None:
        cell.alarm = state.set_timer(event.due, cell.key, cell.visit, "step", fixed=event.fixed)
    _open(state, cell, event)


def _begin_visit(state: State, cell: Cell, visit: int) -> None:
    state.visits[cell.key] = cell.visit = visit
    cell.status, cell.at, cell.due, cell.strategy = "active", state.at, None, ""
    cell.age = state.next_number()
    cell.laps += 1
    cell.leaving, cell.question, cell.undo, cell.refused = None, "", (), ()
    if cell.ways:
        return_to_usual(cell)
    if cell.traits.budgets:
        hold_ledger(state, cell, cell.traits.budgets)
    _into_parent(cell)


def _into_parent(cell: Cell) -> None:
    body = cell.parent.body if cell.parent else None
    assert isinstance(body, Body)  # noqa: S101  every step stands in a group
    body.live[cell.position] = cell
    if type(body) is Serial:
        body.cursor = cell.position


def _open(state: State, cell: Cell, event: e.StepEntered) -> None:
    """Give the visit a body of its own."""
    if cell.traits.is_plain:
        cell.body = cell.work = Work()
        make_hungry(state, cell)
    else:
        _open_other(state, cell, event)


def _open_other(state: State, cell: Cell, event: e.StepEntered) -> None:
    if event.strategy:
        open_agent(state, cell)
        return
    if cell.kind == "agent":
        cell.kind = "work"
    if isinstance(cell.step, SubplanStep):
        _open_plan(state, cell, event)
    step = cell.step
    cell.open = cell.kind == "work" or not locks_at_entry(cell)
    cell.body = body_of(state, cell)
    if cell.kind == "work" or not cell.open:
        make_hungry(state, cell)
    if cell.kind == "rollback":
        state.undoers[cell.key] = cell
    if isinstance(step, WaitStep) and step.wait.signal:
        state.waiting.setdefault(step.wait.signal, {})[cell.key] = cell


def _open_plan(state: State, cell: Cell, event: e.StepEntered) -> None:
    outline = state.rules.outline(event.plan) if event.plan else cell.scope.outline
    cell.tree = outline.index.root if event.plan else cell.node
    cell.within = Scope("plan", outline, cell.tree, cell.scope)
    cell.within.holder = cell
    if event.plan:
        cell.kind = "serial" if cell.tree.serial else "graph"
        cell.inner = f"{cell.key}/{cell.visit}."
        state.holders[cell.inner] = cell
        hold_plan_ledger(state, cell, outline)


def _locks_taken(state: State, event: e.LocksTaken) -> None:
    cell = state.cells[event.step]
    cell.open = True
    state.eager.discard(cell.key)
    take_locks(state, cell)
    wake_within(state, cell)


def _step_passed(state: State, event: e.StepPassed) -> None:
    cell = state.located(event.step)
    cell.status = "over"
    if event.exit == "failure":  # a loop around a step that cannot be entered has to end too
        cell.laps += 1
    _end(state, cell, Result(event.exit, event.to, failure=event.failure, passed=True))


def _end(state: State, cell: Cell, result: Result) -> None:
    cell.result, result.number = result, state.next_number()
    if isinstance(result.body, Graph):
        result.body.told = None
    assert cell.parent is not None  # noqa: S101  the end of the run is another fact
    tell_parent(cell.parent, cell, result)


def _step_stopping(state: State, event: e.StepStopping) -> None:
    cell = state.cells[event.step]
    cell.status = "stopping"
    state.decide(cell.key)
    state.eager.discard(cell.key)
    cell.leaving, cell.undo = event, event.undo
    if event.undo:
        state.undoers[cell.key] = cell


def _step_ended(state: State, event: e.StepEnded) -> None:
    cell = state.cells[event.step]
    output = event.output
    if output is None and isinstance(cell.body, Work) and cell.body.outcome is not None:
        output = cell.body.outcome.output
    if event.undo is not None:
        _note_effect(state, cell, event.undo, output)
    end_visit(state, cell, Result(event.exit, event.to, cell.body, output, event.failure, event.cause, event.partial))


def _effect_found(state: State, event: e.EffectFound) -> None:
    _note_effect(state, state.cells[event.step], event.undo, None)


def _note_effect(state: State, cell: Cell, undo: dict[str, Any], output: Value | None) -> None:
    digest, of = (cell.body.digest, cell.body.of) if isinstance(cell.body, Work) else ("", "")
    effect = Effect(cell, cell.visit, undo, state.next_number(), state.read, output=output, digest=digest, of=of)
    state.effects[cell.key, cell.visit] = effect


def end_visit(state: State, cell: Cell, result: Result) -> None:
    """A visit is over, and so is all that it held."""
    cell.status = "over"
    state.steps_over += 1
    _let_go(state, cell)
    _end(state, cell, result)


def _let_go(state: State, cell: Cell) -> None:
    state.eager.discard(cell.key)
    state.decide(cell.key)
    release_locks(state, cell)
    if state.agents:
        state.agents.pop(cell.key, None)
    if cell.undo or cell.kind == "rollback":
        state.undoers.pop(cell.key, None)
    if cell.traits.shows is not None:
        _forget_context(cell)
    if cell.traits.is_plain:
        return
    step = cell.step
    if isinstance(step, CheckpointStep):
        state.marks[cell.key] = state.numbers
    if isinstance(step, WaitStep) and step.wait.signal:
        state.waiting[step.wait.signal].pop(cell.key, None)
        state.taken.pop(cell.key, None)


def _forget_context(cell: Cell) -> None:
    """What it was shown is not held any longer: it follows from what the others gave."""
    if isinstance(cell.body, Work):
        cell.body.call = None
    else:  # an agent that has grown
        cell.within.cached.clear()


# ------------------------------------------------------------------------------- attempts


def _attempt_started(state: State, event: e.AttemptStarted) -> None:
    state.attempts += 1
    if event.deed == "undo":
        _undo_started(state, event)
        return
    state.decide(event.step)
    if event.deed == "do":
        _try_started(state, event)
    else:
        _look_started(state, event)


def _undo_started(state: State, event: e.AttemptStarted) -> None:
    effect = state.undoing[event.step, event.visit] = state.effects[event.step, event.visit]
    effect.attempts, effect.flying, effect.stopping = event.attempt, True, False
    effect.due, effect.until, effect.alarm = None, event.due, 0
    effect.approval, effect.question, effect.approved = None, "", event.approved
    if event.due is not None:
        effect.alarm = state.set_timer(event.due, event.step, event.visit, "undo")


def _try_started(state: State, event: e.AttemptStarted) -> None:
    cell = state.located(event.step)
    if cell.visit != event.visit:
        _begin_visit(state, cell, event.visit)
        cell.kind, cell.open = "work", True
        cell.body = cell.work = Work()
    work = cell.work
    if not work.since:
        work.since = state.clock(state.at)
    cell.question = ""
    state.eager.discard(cell.key)
    work.attempt, work.flying, work.stopping, work.lost = event.attempt, True, False, False
    work.counted += 1
    work.outcome, work.due, work.until, work.alarm = None, None, event.due, 0
    work.digest, work.approved, work.probe = event.call, event.approved, None
    work.verdict, work.met = None, 0
    work.fraction, work.message = 0.0, ""
    state.flying[cell.key] = cell
    take_locks(state, cell)
    if cell.ledgers:
        reserve(state, cell, event)
    _watch(state, cell, event.due)


def _watch(state: State, cell: Cell, due: int | None) -> None:
    if due is not None:
        cell.work.alarm = state.set_timer(due, cell.key, cell.visit, "attempt")


def _look_started(state: State, event: e.AttemptStarted) -> None:
    """A look leaves the try it is about as it was."""
    cell = state.cells[event.step]
    work = cell.work
    look = work.looking = Look(event.attempt, event.deed, approved=event.approved)
    if event.deed == "probe":
        work.probe = look
    else:
        look.tries = _tries_of(work.verdict) + 1
        work.verdict, work.looks = look, event.attempt
        if cell.ledgers:
            reserve(state, cell, event)
    work.flying, work.until = True, event.due
    state.flying[cell.key] = cell
    _watch(state, cell, event.due)


def _tries_of(verdict: Look | None) -> int:
    """How often a judge was asked the same in vain; one that stopped to ask a person was not."""
    if verdict is None or verdict.found is True or (verdict.told is not None and verdict.told.approval is not None):
        return 0
    return verdict.tries


def _look_over(state: State, cell: Cell, told: e.AttemptEnded | None) -> None:
    work = cell.work
    look, work.looking, work.flying = work.looking, None, False
    assert look is not None  # noqa: S101  a look that is over was begun
    look.flying, look.told = False, told
    if told is not None and told.failure is None:
        found = told.output.load(state.read)
        word = "happened" if look.deed == "probe" else "met"
        look.found = found.get(word) if is_mapping(found) else found if look.deed == "judge" else None
    if look.deed == "judge" and look.found is True:
        work.met += 1
    del state.flying[cell.key]
    if look.found is True:
        _await_judges(state, cell)


def _settle_look(state: State, cell: Cell, told: e.AttemptEnded) -> None:
    if told.deed != "judge":
        settle_beside(cell, told.usage)
    elif cell.ledgers:
        settle(state, cell, _used(told))


def _used(told: e.AttemptEnded) -> Usage | None:
    """What something took; nothing if it has stopped before its deed, to ask somebody."""
    return told.usage or (None if told.approval is None else FREE)


def _await_judges(state: State, cell: Cell) -> None:
    """Somebody is to judge what there is. Where that cannot be afforded yet, the step is looked at again."""
    if cell.ledgers and cell.work.met < len(cell.traits.judges):
        state.unjudged[cell.key] = cell


def _attempt_progressed(state: State, event: e.AttemptProgressed) -> None:
    if event.deed == "do":
        work = state.cells[event.step].work
        work.fraction, work.message = event.fraction, event.message


def _attempt_stopping(state: State, event: e.AttemptStopping) -> None:
    if event.deed == "undo":
        state.undoing[event.step, event.visit].stopping = True
    elif (look := state.cells[event.step].work.looking) is not None:
        look.stopping = True
    else:
        state.cells[event.step].work.stopping = True


def _attempt_ended(state: State, event: e.AttemptEnded) -> None:
    if event.usage is not None:
        count(state, event.usage)
    if event.deed == "undo":
        effect = state.undoing[event.step, event.visit]
        settle_beside(effect.cell, event.usage)
        effect.flying, effect.failure, effect.approval = False, event.failure, event.approval
        effect.uncounted += event.approval is not None
        if event.failure is None and event.approval is None:
            _settle_effect(state, effect, undone=True)
        return
    cell = state.cells[event.step]
    if event.deed != "do":
        _settle_look(state, cell, event)
        _look_over(state, cell, event)
        return
    work = cell.work
    work.flying, work.outcome = False, event
    if event.approval is not None or (event.failure is not None and event.failure.kind == "in_doubt"):
        work.counted -= 1
    if cell.ledgers:
        settle(state, cell, _used(event))
    del state.flying[event.step]
    if event.failure is None and event.approval is None:
        _await_judges(state, cell)
    if event.to:
        end_visit(state, cell, Result(event.exit, event.to, work, event.output))


def _attempt_lost(state: State, event: e.AttemptLost) -> None:
    if event.deed == "undo":
        effect = state.undoing[event.step, event.visit]
        effect.flying, effect.failure = False, Failure("in_doubt", "its process is gone")
        effect.losses += 1
        return
    cell = state.unsettled[event.step] = state.cells[event.step]
    if event.deed != "do":
        if event.deed == "judge" and cell.ledgers:
            settle(state, cell, None, lost=True)
        _look_over(state, cell, None)
        return
    work = cell.work
    work.flying, work.lost = False, True
    work.losses += state.paused_at is None  # while it is paused, processes are ended by people
    if cell.ledgers:
        settle(state, cell, None, lost=True)
    if not work.stopping:  # one that was too late had its try
        work.counted -= 1
    del state.flying[event.step]


def _settle_effect(state: State, effect: Effect, *, undone: bool) -> None:
    effect.over = True
    del state.undoing[effect.cell.key, effect.visit]
    if effect.dropped is not None:
        _settle_dropped(state, (effect.cell.key, effect.visit), effect.dropped)
    if undone and effect.cell.visit == effect.visit and effect.cell.result is not None:
        effect.cell.result.undone = True


def _settle_dropped(state: State, which: tuple[str, int], cell: Cell) -> None:
    """A group has one less to take back, unless it is over and somebody else has tried it anew."""
    if (
        isinstance(cell.body, Grown)
        and cell.body.dropping.pop(which, None)
        and not cell.body.dropping
        and not cell.undo
    ):
        del state.undoers[cell.key]


def _effect_kept(state: State, event: e.EffectKept) -> None:
    effect = state.undoing[event.step, event.visit] = state.effects[event.step, event.visit]
    effect.failure = event.failure
    _settle_effect(state, effect, undone=False)


def _retry_planned(state: State, event: e.RetryPlanned) -> None:
    if event.deed == "undo":
        effect = state.undoing[event.step, event.visit]
        effect.due, effect.alarm = event.due, state.set_timer(event.due, event.step, event.visit, "undo")
        return
    cell = state.cells[event.step]
    state.decide(cell.key)
    if isinstance(cell.body, Body):
        open_again(state, cell, cell.body, event.due)
        return
    look = cell.work.probe if event.deed == "probe" else cell.work.verdict
    if event.deed != "do" and look is not None:
        look.due, cell.work.alarm = event.due, state.set_timer(event.due, cell.key, cell.visit, "probe")
        return
    cell.work.due, cell.age = event.due, state.next_number()
    if cell.is_asking:
        cell.question = ""  # the answer was heard
    if event.due <= state.clock(state.at):
        make_hungry(state, cell)  # whoever only reads the facts knows by this that no clock is waited for
    else:
        cell.work.alarm = state.set_timer(event.due, cell.key, cell.visit, "retry")


# ------------------------------------------------------------------------------- people and the outside


def _question_asked(state: State, event: e.QuestionAsked) -> None:
    cell = state.cells[event.step]
    state.questions[event.question] = event
    state.asked[event.question] = cell
    if event.due is not None:
        state.set_timer(event.due, event.question, event.visit, "question")
    if event.about == "budget":
        note_question(cell, event)
        return
    if event.deed == "undo":
        state.undoing[event.step, event.visit].question = event.question
        return
    state.decide(cell.key)
    if event.deed == "judge" and cell.work.verdict is not None:
        cell.work.verdict.question = event.question
    else:
        cell.question = event.question
        _wait_for_answer(state, cell)
    if not (isinstance(cell.body, Body) and cell.status == "active"):  # a group that may go on keeps what it has
        release_locks(state, cell)


def _wait_for_answer(state: State, cell: Cell) -> None:
    """A try that was planned, and could not be told of when its time came, is not awaited any more."""
    state.eager.discard(cell.key)
    if isinstance(cell.body, Work):
        cell.body.due = None


def _question_answered(state: State, event: e.QuestionAnswered) -> None:
    asked = state.questions.pop(event.question)
    cell = state.asked[event.question]
    if asked.about == "doubt":
        state.unsettled[cell.key] = cell
    elif asked.deed == "judge":
        _await_judges(state, cell)
    state.answers[event.question] = event.value
    state.answerers[event.question] = event.by
    if event.reason:
        state.reasons[event.question] = event.reason
    if isinstance(cell.body, Serial) and cell.body.rounds:
        cell.body.rounds = [[]]  # that somebody said something is new
    if asked.about == "recovery" and isinstance(cell.body, Work):
        _forget_verdict(state, cell, event.value.load(state.read))
    note_answer(state, cell, event)


def _forget_verdict(state: State, cell: Cell, answer: Any) -> None:
    """What a person says they have done is another result than the one that was judged."""
    if (answer.get("choice") if is_mapping(answer) else answer) == "done":
        cell.work.verdict, cell.work.met = None, 0
        _await_judges(state, cell)


def _question_closed(state: State, event: e.QuestionClosed) -> None:
    del state.questions[event.question]


def _signal_received(state: State, event: e.SignalReceived) -> None:
    state.signals.setdefault(event.name, deque()).append(event.value)


def _signal_taken(state: State, event: e.SignalTaken) -> None:
    cell = state.cells[event.step]
    state.taken[cell.key] = state.signals[event.name].popleft()
    state.waiting[event.name].pop(cell.key, None)


_CHANGES: Final[dict[str, Callable[[State, Any], None]]] = {
    each.type: change
    for each, change in (
        (e.RunStarted, _run_started),
        (e.RunPaused, _run_paused),
        (e.RunResumed, _run_resumed),
        (e.RunStopping, _run_stopping),
        (e.RunReopened, run_reopened),
        (e.RunRevised, _run_revised),
        (e.RevisionRefused, _revision_refused),
        (e.NamesMapped, names_mapped),
        (e.RunForked, run_forked),
        (e.RunEnded, _run_ended),
        (e.StepEntered, _step_entered),
        (e.StepPassed, _step_passed),
        (e.LocksTaken, _locks_taken),
        (e.StepStopping, _step_stopping),
        (e.StepEnded, _step_ended),
        (e.StepsGrown, steps_grown),
        (e.AttemptStarted, _attempt_started),
        (e.AttemptProgressed, _attempt_progressed),
        (e.AttemptStopping, _attempt_stopping),
        (e.AttemptEnded, _attempt_ended),
        (e.AttemptLost, _attempt_lost),
        (e.RetryPlanned, _retry_planned),
        (e.RungTaken, rung_taken),
        (e.EffectFound, _effect_found),
        (e.EffectKept, _effect_kept),
        (e.QuestionAsked, _question_asked),
        (e.QuestionAnswered, _question_answered),
        (e.QuestionClosed, _question_closed),
        (e.SignalReceived, _signal_received),
        (e.SignalTaken, _signal_taken),
    )
}

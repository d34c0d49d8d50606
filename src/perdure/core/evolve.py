"""The fold: what each fact changes. It decides nothing, and it is all that loading a run takes."""

from collections import deque
from collections.abc import Callable
from heapq import heappush
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Effect, Graph, Grown, Result, Scope, Serial, Work, kind_of
from perdure.core.outline import Outline, priority_of
from perdure.core.state import State
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import CheckpointStep, SubplanStep, WaitStep, Working


def evolve(state: State, event: e.Event, at: int) -> None:
    """Change the state by one fact."""
    state.at = at
    _CHANGES[event.type](state, event)


# ------------------------------------------------------------------------------- the run


def _run_started(state: State, event: e.RunStarted) -> None:
    outline = state.rules.outline(event.plan)
    state.started = event
    scope = Scope("run", outline, outline.index.root)
    root = Cell("", outline.index.root, None, 0, scope)
    scope.holder = state.root = state.cells[""] = state.holders[""] = root
    root.kind = kind_of(root.node)
    root.status, root.visit, root.at = "active", 1, state.at
    root.body = _body_of(root)
    if event.due is not None:
        state.set_timer(event.due, "", 1, "run")


def _run_paused(state: State, event: e.RunPaused) -> None:  # noqa: ARG001  the reason is for people
    state.paused_at = state.at


def _run_resumed(state: State, event: e.RunResumed) -> None:  # noqa: ARG001  who is for people
    if state.paused_at is not None:
        state.paused += state.at - state.paused_at
    state.paused_at = None


def _run_stopping(state: State, event: e.RunStopping) -> None:
    state.stopping = event
    assert state.root is not None  # noqa: S101  a run that stops has started
    state.root.status = "stopping"
    state.root.leaving = e.StepStopping(step="", exit=event.exit, failure=event.failure)


def _run_ended(state: State, event: e.RunEnded) -> None:
    root = state.root
    assert root is not None  # noqa: S101  a run that ends has started
    state.ended = event
    root.status = "over"
    root.result = Result(event.status, "next", root.body, event.output, event.failure, event.cause)


# ------------------------------------------------------------------------------- steps


def _step_entered(state: State, event: e.StepEntered) -> None:
    cell = state.located(event.step)
    state.visits[cell.key] = cell.visit = event.visit
    cell.status, cell.at, cell.due, cell.strategy = "active", state.at, event.due, event.strategy
    cell.laps += 1
    cell.leaving, cell.question, cell.undo = None, "", ()
    if event.due is not None:
        state.set_timer(event.due, cell.key, cell.visit, "step", fixed=event.fixed)
    _into_parent(cell)
    _open(state, cell, event)


def _into_parent(cell: Cell) -> None:
    body = cell.parent.body if cell.parent else None
    if isinstance(body, Body):
        body.live[cell.position] = cell
    if isinstance(body, Serial):
        body.cursor = cell.position


def _open(state: State, cell: Cell, event: e.StepEntered) -> None:
    """Give the visit a body of its own."""
    if event.strategy:
        cell.kind = "agent"
        cell.inner = f"{cell.key}/{cell.visit}."
        state.holders[cell.inner] = cell
        cell.within = Scope("grown", cell.scope.outline, cell.node, cell.scope)
        cell.within.holder = cell
    elif cell.kind == "agent":
        cell.kind = "work"
    if isinstance(cell.step, SubplanStep):
        _open_plan(state, cell, event)
    step = cell.step
    is_item = cell.parent is not None and cell.parent.kind == "map"
    cell.open = not (isinstance(step, Working) and step.locks) or cell.kind == "work" or is_item
    cell.body = _body_of(cell)
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


def _body_of(cell: Cell) -> Body | Work | None:
    match cell.kind:
        case "work":
            return Work()
        case "serial":
            return Serial()
        case "graph":
            return _graph(cell)
        case "map":
            return Graph(0)
        case "agent":
            return Grown()
        case _:
            return None


def _graph(cell: Cell) -> Graph:
    wiring = cell.within.outline.wiring(cell.tree)
    body = Graph(len(cell.tree.children))
    body.left = wiring.needs.copy()
    body.ready = wiring.free.copy()
    return body


def make_hungry(state: State, cell: Cell) -> None:
    """Put a step among those that could begin: an acting step, or a group that wants its locks."""
    state.eager.add(cell.key)
    entry = (-priority_of(cell.node), state.next_number(), cell.key, cell.visit)
    heappush(state.hungry.setdefault(called_by(cell), []), entry)


def called_by(cell: Cell) -> str:
    """What a step waits in line for: its tool, or its turn alone."""
    return str(getattr(cell.step, "tool", ""))


def _locks_taken(state: State, event: e.LocksTaken) -> None:
    cell = state.cells[event.step]
    cell.open = True
    state.eager.discard(cell.key)
    _take_locks(state, cell)


def _take_locks(state: State, cell: Cell) -> None:
    for name in cell.step.locks if isinstance(cell.step, Working) else ():
        state.locks.setdefault(name, cell)


def _step_passed(state: State, event: e.StepPassed) -> None:
    cell = state.located(event.step)
    cell.status = "over"
    cell.result = Result(event.exit, event.to, failure=event.failure, passed=True)
    parent = cell.parent
    if parent is not None and isinstance(parent.body, Serial):
        parent.body.cursor = cell.position
    _tell_parent(cell)


def _step_stopping(state: State, event: e.StepStopping) -> None:
    cell = state.cells[event.step]
    cell.status = "stopping"
    state.eager.discard(cell.key)
    cell.leaving, cell.undo = event, event.undo
    if event.undo:
        state.undoers[cell.key] = cell


def _step_ended(state: State, event: e.StepEnded) -> None:
    cell = state.cells[event.step]
    output = event.output
    if output is None and isinstance(cell.body, Work) and cell.body.outcome is not None:
        output = cell.body.outcome.output
    cell.status = "over"
    cell.result = Result(event.exit, event.to, cell.body, output, event.failure, event.cause, event.partial)
    state.steps_over += 1
    _let_go(state, cell)
    if event.undo is not None:
        state.effects.append(Effect(cell, cell.visit, event.undo, state.next_number()))
    _tell_parent(cell)


def _let_go(state: State, cell: Cell) -> None:
    state.flying.pop(cell.key, None)
    state.eager.discard(cell.key)
    state.undoers.pop(cell.key, None)
    step = cell.step
    if isinstance(step, CheckpointStep):
        state.marks[cell.key] = len(state.effects)
    if isinstance(step, Working) and step.locks:
        for name in step.locks:
            if state.locks.get(name) is cell:
                del state.locks[name]
    if isinstance(step, WaitStep) and step.wait.signal:
        state.waiting.get(step.wait.signal, {}).pop(cell.key, None)


# ------------------------------------------------------------------------------- what a parent learns


def _tell_parent(cell: Cell) -> None:
    parent = cell.parent
    body = parent.body if parent else None
    if not isinstance(body, Body) or parent is None:
        return
    body.live.pop(cell.position, None)
    if isinstance(body, Serial):
        if cell.result is not None and not cell.result.passed:
            body.last = cell
    elif isinstance(body, Graph):
        _count(body, cell)
        if body.left:
            _free_dependents(parent, body, cell)


def verdict_of(result: Result) -> str:
    """What an ended child is to a join: `good`, `bad` or `skipped`."""
    if result.exit == "skipped" and result.to == "next":
        return "skipped"
    return "good" if result.to in {"next", "done"} and result.exit != "cancelled" else "bad"


def _count(body: Graph, cell: Cell) -> None:
    assert cell.result is not None  # noqa: S101  it has just ended
    body.over += 1
    body.fresh.append(cell)
    verdict = verdict_of(cell.result)
    if verdict == "good":
        body.good += 1
    elif verdict == "bad":
        body.bad += 1
        body.failed.append(cell)
    if isinstance(body, Grown):
        body.news.append(cell)


def _free_dependents(parent: Cell, body: Graph, cell: Cell) -> None:
    assert cell.result is not None  # noqa: S101  it has just ended
    verdict = verdict_of(cell.result)
    counts = {"bad": body.unmet, "skipped": body.skipped}.get(verdict)
    children = parent.tree.children
    for position in _dependents(parent, body, cell.position):
        if counts is not None:
            counts[position] = counts.get(position, 0) + 1
        body.left[position] -= 1
        if not body.left[position]:
            node = body.added[position][0] if isinstance(body, Grown) else children[position]
            heappush(body.ready, (-priority_of(node), position))


def _dependents(parent: Cell, body: Graph, position: int) -> list[int]:
    if isinstance(body, Grown):
        return body.dependents.get(position, [])
    return parent.within.outline.wiring(parent.tree).dependents[position]


# ------------------------------------------------------------------------------- growth


def _steps_grown(state: State, event: e.StepsGrown) -> None:
    cell = state.cells[event.step]
    body = cell.body
    if isinstance(body, Grown):
        _grow(body, event)
    elif isinstance(body, Graph):
        body.grown, body.total = True, event.items or 0
        body.ready = [(0, position) for position in range(body.total)]


def _grow(body: Grown, event: e.StepsGrown) -> None:
    body.moves += 1
    body.news = []
    body.memo = event.memo
    body.tags.update(event.tags)
    for raw in event.add:
        _plant(body, raw)


def _plant(body: Grown, raw: dict[str, Any]) -> None:
    outline = Outline(Plan.model_validate({"steps": [raw]}))
    node = outline.index.root.children[0]
    position = len(body.added)
    body.added.append((node, outline))
    body.total += 1
    needs = [int(need[1:]) - 1 for need in (node.step.needs if node.step else ())]
    waiting = [need for need in needs if not _is_over(body, need)]
    body.left.append(len(waiting))
    for need in waiting:
        body.dependents.setdefault(need, []).append(position)
    if not waiting:
        heappush(body.ready, (-priority_of(node), position))


def _is_over(body: Grown, position: int) -> bool:
    cell = body.children.get(position)
    return cell is not None and cell.status == "over"


# ------------------------------------------------------------------------------- attempts


def _attempt_started(state: State, event: e.AttemptStarted) -> None:
    cell = state.cells[event.step]
    state.attempts += 1
    if event.deed == "undo":
        effect = state.undoing[event.step, event.visit] = _effect_of(state, cell, event.visit)
        effect.attempts, effect.flying, effect.due = event.attempt, True, None
        return
    work = cell.work
    if not work.attempt:
        work.since = state.clock(state.at)
    cell.question = ""
    state.eager.discard(cell.key)
    work.attempt, work.flying, work.stopping, work.lost = event.attempt, True, False, False
    work.counted += 1
    work.outcome, work.due, work.until, work.digest = None, None, event.due, event.call
    work.fraction, work.message = 0.0, ""
    state.flying[cell.key] = cell
    _take_locks(state, cell)
    if event.due is not None:
        state.set_timer(event.due, cell.key, cell.visit, "attempt")


def _effect_of(state: State, cell: Cell, visit: int) -> Effect:
    return next(each for each in reversed(state.effects) if each.cell is cell and each.visit == visit)


def _attempt_progressed(state: State, event: e.AttemptProgressed) -> None:
    work = state.cells[event.step].work
    work.fraction, work.message = event.fraction, event.message


def _attempt_stopping(state: State, event: e.AttemptStopping) -> None:
    state.cells[event.step].work.stopping = True


def _attempt_ended(state: State, event: e.AttemptEnded) -> None:
    if event.deed == "undo":
        effect = state.undoing[event.step, event.visit]
        effect.flying, effect.failure = False, event.failure
        if event.failure is None:
            _settle_effect(state, effect, undone=True)
        return
    work = state.cells[event.step].work
    work.flying, work.outcome = False, event
    del state.flying[event.step]


def _attempt_lost(state: State, event: e.AttemptLost) -> None:
    if event.deed == "undo":
        effect = state.undoing[event.step, event.visit]
        effect.flying, effect.failure = False, Failure("in_doubt", "its process is gone")
        return
    work = state.cells[event.step].work
    work.flying, work.lost = False, True
    work.counted -= 1
    del state.flying[event.step]


def _settle_effect(state: State, effect: Effect, *, undone: bool) -> None:
    effect.over = True
    del state.undoing[effect.cell.key, effect.visit]
    if undone and effect.cell.visit == effect.visit and effect.cell.result is not None:
        effect.cell.result.undone = True


def _effect_kept(state: State, event: e.EffectKept) -> None:
    effect = state.undoing.get((event.step, event.visit)) or _effect_of(state, state.cells[event.step], event.visit)
    state.undoing[event.step, event.visit] = effect
    effect.failure = event.failure
    _settle_effect(state, effect, undone=False)


def _retry_planned(state: State, event: e.RetryPlanned) -> None:
    if event.deed == "undo":
        state.undoing[event.step, event.visit].due = event.due
        state.set_timer(event.due, event.step, event.visit, "undo")
        return
    cell = state.cells[event.step]
    cell.work.due, cell.work.lost = event.due, False
    state.set_timer(event.due, cell.key, cell.visit, "retry")


# ------------------------------------------------------------------------------- people and the outside


def _question_asked(state: State, event: e.QuestionAsked) -> None:
    cell = state.cells[event.step]
    cell.question = event.question
    state.questions[event.question] = event
    state.asked[event.question] = cell


def _question_answered(state: State, event: e.QuestionAnswered) -> None:
    del state.questions[event.question]
    state.answers[event.question] = event.value


def _question_closed(state: State, event: e.QuestionClosed) -> None:
    state.questions.pop(event.question, None)


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
        (e.RunEnded, _run_ended),
        (e.StepEntered, _step_entered),
        (e.StepPassed, _step_passed),
        (e.LocksTaken, _locks_taken),
        (e.StepStopping, _step_stopping),
        (e.StepEnded, _step_ended),
        (e.StepsGrown, _steps_grown),
        (e.AttemptStarted, _attempt_started),
        (e.AttemptProgressed, _attempt_progressed),
        (e.AttemptStopping, _attempt_stopping),
        (e.AttemptEnded, _attempt_ended),
        (e.AttemptLost, _attempt_lost),
        (e.RetryPlanned, _retry_planned),
        (e.EffectKept, _effect_kept),
        (e.QuestionAsked, _question_asked),
        (e.QuestionAnswered, _question_answered),
        (e.QuestionClosed, _question_closed),
        (e.SignalReceived, _signal_received),
        (e.SignalTaken, _signal_taken),
    )
}

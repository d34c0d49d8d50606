"""The laws at the head of `perdure.core.turn`, as questions to a state and to a journal."""

from perdure.core import events as e
from perdure.core.cells import Body, Graph, Grown, Serial, Work
from perdure.core.learning import node_at
from perdure.core.turn import pending, status_of
from perdure.core.wiring import priority_of
from perdure.plan.model.steps import Grouping, Working

# ------------------------------------------------------------------------------- the same state


def snapshot(state, now):
    """Everything that matters about a state, in a form that two states can be compared by."""
    clock = state.clock(now)
    ringing = {t[2] for t in state.timers if t[4] == "retry" and t[0] <= clock and state.is_due(t)}
    eager = state.eager | ringing
    line = sorted((-priority_of(state.cells[key].node), state.cells[key].age, key) for key in eager)
    timers = sorted(t for t in [*state.timers, *state.moments] if state.is_due(t) and not _has_rung(state, t, clock))
    return {
        "tree": {cell.key: _cell(cell) for cell in cells_in(state)},
        "run": (state.started, state.ended, state.stopping, state.paused_at, state.paused, state.at),
        "counts": (state.numbers, state.steps_over, state.attempts, state.visits),
        "line": line,
        "timers": timers if state.ended is None else [],
        "flying": list(state.flying),
        "locks": {name: cell.key for name, cell in state.locks.items()},
        "people": (state.questions, sorted(state.asked), state.answers, state.answerers),
        "signals": (
            {n: list(q) for n, q in state.signals.items()},
            {n: list(w) for n, w in state.waiting.items()},
            state.taken,
        ),
        "effects": [
            (k, f.number, f.attempts, f.flying, f.stopping, f.due, f.until, f.over, f.failure, f.call)
            for k, f in state.effects.items()
        ],
        "undoing": (sorted(state.undoing), sorted(state.undoers), state.marks),
        "books": (
            {key: _ledger(ledger) for key, ledger in state.books.ledgers.items()},
            state.books.used,
        ),
        "view": (pending(state), "" if eager else status_of(state)),
        "plan": _plan(state) if state.revision else None,
        "adjusted": dict(state.adjusted),
    }


def _plan(state):
    """The plan as it is now, and that every cell stands in its place there."""
    outline = state.cells[""].scope.outline
    for cell in cells_in(state):
        if cell.scope.outline is outline and not (cell.parent and cell.parent.kind == "map"):
            node = outline.index.by_id.get(cell.node.id, outline.index.root)
            assert cell.node is node, f"{cell.key} stands for a step that is gone"
            assert cell.step is node.step
            assert cell.parent is None or cell.position == node.position
    return state.revision, [(node.path, node.step) for node in outline.index.nodes]


def _ledger(ledger):
    return [getattr(ledger, name) for name in ledger.__struct_fields__]


def _has_rung(state, timer, clock):
    """Whether its time has come and nothing follows yet: to ring is no fact, and to ring again changes nothing."""
    due, _, key, visit, what = timer
    is_shut = what == "step" and not all(group.open for group in state.cells[key].around)
    is_idle = what == "undo" and not state.undoing[key, visit].flying
    return due <= clock and (what in ("retry", "probe", "again") or is_idle or is_shut)


def cells_in(state):
    """Every cell that stands in the tree as it is now."""
    stack = [state.root] if state.root else []
    while stack:
        cell = stack.pop()
        yield cell
        if isinstance(cell.body, Body):
            stack.extend(cell.body.children.values())


def _cell(cell):
    due = cell.due if cell.is_live else None
    return (
        cell.status, cell.visit, cell.laps, cell.kind, cell.open, cell.at, cell.age, due, cell.question, cell.strategy,
        cell.undo, cell.leaving, cell.ways, cell.traits.tool, _result(cell.result), _body(cell),
    )  # fmt: skip


def _result(result):
    if result is None:
        return None
    return (
        result.exit,
        result.to,
        result.output,
        result.failure,
        result.cause,
        result.partial,
        result.passed,
        result.undone,
    )


def _body(cell):
    body = cell.body
    match body:
        case Work():
            plain = [getattr(body, name) for name in Work.__slots__ if name not in ("call", *LOOKS)]
            return plain + [_look(getattr(body, name)) for name in LOOKS]
        case Serial():
            last = body.last.key if body.last else None
            return (*_tries(body), list(body.children), list(body.live), body.cursor, last, _rounds(body))
        case Graph():
            return _graph(cell, body)
        case _:
            return body


def _tries(body):
    return body.tries, body.begins, body.first


LOOKS = ("probe", "verdict", "looking")


def _look(look):
    return [] if look is None else [getattr(look, name) for name in look.__struct_fields__]


def _rounds(body):
    return [[(cell.key, visit, _result(result)) for cell, visit, result in ended] for ended in body.rounds]


def _graph(cell, body):
    common = [
        _tries(body),
        list(body.live),
        body.total,
        body.left,
        body.unmet,
        body.skipped,
        body.grown,
        body.over,
        body.good,
        body.bad,
        body.part,
    ]
    common += [sorted(body.children), [each.key for each in body.failed]]
    if cell.is_live:
        common.append(
            sorted(
                each for each in body.ready if each[1] not in body.children or body.children[each[1]].status == "idle"
            )
        )
    if isinstance(body, Grown):
        common += [body.moves, body.memo, body.tags, len(body.added), list(body.dropping)]
        common.append([each.key for each in body.news] if cell.is_live else [])
    return common


# ------------------------------------------------------------------------------- what holds at any time


def check_state(state, slots=None, limits=None, *, reopened=False):
    """What is so after every turn. In a run that was opened again or revised, groups may be beyond a limit.

    What a step needed may be done again there while it goes on, if somebody has said so.
    """
    for cell in cells_in(state):
        if isinstance(cell.body, Body):
            _check_group(cell, cell.body, None if reopened else _limit_of(cell), reopened=reopened)
        if cell.parent is not None and cell.is_live:
            assert cell.parent.is_live, f"{cell.key} is live in {cell.parent.key!r}, which is not"
    for key, cell in state.flying.items():
        assert cell.is_live
        assert cell.work.flying
        assert state.cells[key] is cell
        assert all(group.open for group in cell.around), f"{key} is at work while a group around it waits for a lock"
    assert not state.unsettled, f"nobody has decided what follows from what was lost: {list(state.unsettled)}"
    assert slots is None or len(state.tools_at_work) <= slots
    for tool, most in (limits or {}).items():
        assert list(state.tools_at_work.values()).count(tool) <= most
    _check_locks(state)
    if state.ended is not None:
        _check_end(state)


def _limit_of(cell):
    return cell.step.limit if isinstance(cell.step, Grouping) and cell.parent.kind != "map" else None


def _check_group(cell, body, limit, *, reopened):
    live = [child for child in body.children.values() if child.is_live]
    assert sorted(body.live) == sorted(child.position for child in live)
    assert cell.is_live or not live, f"{cell.key!r} is over, but not all in it"
    if isinstance(body, Serial):
        assert len(live) <= 1
        return
    assert body.over == sum(child.status == "over" for child in body.children.values())
    assert limit is None or len(live) <= limit
    if body.left:
        for child in live:
            needs = [node_at(cell, body, p) for p in range(body.total)]
            by_id = {node.id: p for p, node in enumerate(needs)}
            needs = [body.children[by_id[need]] for need in child.step.needs]
            back = [need for need in needs if reopened and (need.is_live or need.result is not None)]
            assert all(need.status == "over" or need in back for need in needs)


def _check_locks(state):
    for name, holder in state.locks.items():
        assert holder.is_live, f"{holder.key} holds {name} and is over"
        assert name in holder.step.locks
    for cell in cells_in(state):
        if not isinstance(cell.step, Working) or not cell.is_live or (cell.parent and cell.parent.kind == "map"):
            continue
        at_work = cell.key in state.flying and cell.work.looking is None  # to look takes no lock
        holds = (
            at_work
            if cell.kind == "work"
            else cell.open and not (cell.kind == "ask" or (cell.question and cell.status == "stopping"))
        )
        for name in cell.step.locks if holds else ():
            assert state.locks[name] is cell or state.locks[name] in cell.around


def _check_end(state):
    left = (state.flying, state.eager, state.questions, state.locks, state.undoers, pending(state))
    assert not any(left), left
    assert not any(effect.flying for effect in state.undoing.values())
    assert not any(cell.is_live for cell in cells_in(state))
    assert not any(state.waiting.values())


def check_rest(world):
    """A run that rests is over, or waits for something that has a name."""
    state = world.state
    if state.ended is not None or state.paused_at is not None:
        return
    hanging = world.commands()
    locked = any(name in world.locked for key in state.eager for name in state.cells[key].step.locks)
    held = any(name in state.locks for key in state.eager for name in state.cells[key].step.locks)
    assert state.questions or any(state.waiting.values()) or hanging or locked or held, "it waits for nothing"


# ------------------------------------------------------------------------------- what holds of a journal


def _opens(event):
    """Whether it may follow on the end of a run."""
    return isinstance(event, e.RunReopened) or (isinstance(event, e.RunStopping) and event.exit == "rolled_back")


def check_journal(events):  # noqa: C901  one case for each kind of fact
    """What is so of the facts of a run, in their order."""
    under_way, visits, stopped, over = set(), {}, set(), False
    for event in events:
        assert not over or _opens(event), f"{event} after the end"
        over = isinstance(event, e.RunEnded)
        match event:
            case e.AttemptStarted():
                key = (event.step, event.visit, event.deed)
                assert key not in under_way, f"{key} twice at once"
                assert event.deed == "undo" or (event.step, event.visit) not in stopped, "begun after the stop"
                under_way.add(key)
                if event.deed == "do" and event.visit != visits.get(event.step, 0):
                    assert (event.visit, event.attempt) == (visits.get(event.step, 0) + 1, 1)
                    visits[event.step] = event.visit
            case e.AttemptEnded() | e.AttemptLost():
                under_way.remove((event.step, event.visit, event.deed))
            case e.StepEntered():
                assert event.visit == visits.get(event.step, 0) + 1
                visits[event.step] = event.visit
            case e.StepStopping():
                stopped.add((event.step, event.visit))
            case e.StepEnded():
                assert event.visit == visits[event.step]
                assert (event.step, event.visit, "do") not in under_way
            case e.RungTaken():
                stopped.discard((event.step, event.visit))
            case e.RunReopened():
                stopped.clear()
            case e.RunForked():
                under_way.clear()
            case _:
                pass
    assert not over or not under_way

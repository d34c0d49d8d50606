"""Whether a journal tells what it should: its facts fold, and what follows from them is what was shown."""

import hashlib
import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from perdure.core import events as e
from perdure.core.cells import Body, Cell, Work
from perdure.core.outline import Outline
from perdure.core.seeing import output_of
from perdure.core.state import Rules, State
from perdure.core.turn import replay, status_of
from perdure.plan import Plan
from perdure.ports import Entry, Journal

__all__ = ["assert_replays", "digest_of_state"]


async def folded(journal: Journal, run: str) -> State:
    """The state that a run's facts tell."""
    _, entries = await journal.load(run)
    return replay(run, rules_of(journal), ((e.decode(each.type, each.body), each.at) for each in entries))


def rules_of(journal: Journal) -> Rules:
    """All that folding needs."""
    return rules_from(journal.fetch)


def rules_from(fetch: Callable[[str], bytes]) -> Rules:
    """The same, where values are found by their digests."""
    return Rules(
        lambda digest: json.loads(fetch(digest)),
        lambda digest: Outline(Plan.model_validate_json(fetch(digest))),
    )


async def assert_replays(journal: Journal, run: str, live: State | None = None) -> State:
    """Fold a run and hold the result against what the journal shows, and against a state that is in memory."""
    found, entries = await journal.load(run)
    _assert_orderly(entries)
    state = await folded(journal, run)
    summary = found.summary
    _same("status", summary.status, status_of(state))
    _same("over", summary.over, state.ended is not None)
    _same("locks", json.loads(summary.counters).get("locks", []), sorted(state.locks))
    if summary.status == "waiting":
        _same("wake_at", summary.wake_at, state.wake_at)
    asked = await journal.questions(run, limit=100_000)
    _same("questions", sorted(each.id for each in asked), sorted(state.questions))
    if live is not None:
        _same("state", picture_of(live), picture_of(state))
    return state


def _assert_orderly(entries: list[Entry]) -> None:
    _same("numbers", [each.seq for each in entries], list(range(1, len(entries) + 1)))
    backward = [later.seq for earlier, later in pairwise(entries) if later.at < earlier.at]
    _same("times that go back", backward, [])
    changed = [each.seq for each in entries if e.encode(e.decode(each.type, each.body)) != each.body]
    _same("facts that are read otherwise than written", changed, [])


def _same(what: str, first: Any, second: Any) -> None:
    if first != second:
        raise AssertionError(f"{what}: {_difference(first, second)}")


def _difference(first: Any, second: Any) -> str:
    if isinstance(first, dict) and isinstance(second, dict):
        keys: Iterable[Any] = {**first, **second}  # pyright: ignore[reportUnknownVariableType]
        wrong = {key: (first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)}  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return f"differ in {wrong}"
    return f"{first!r} is not {second!r}"


# ------------------------------------------------------------------------------- a state as data


def digest_of_state(state: State) -> str:
    """A state in one word: two that are the same have the same."""
    return hashlib.sha256(json.dumps(picture_of(state), sort_keys=True).encode()).hexdigest()


def picture_of(state: State) -> dict[str, Any]:
    """All that matters of a state, as JSON."""
    return (
        {
            "status": status_of(state),
            "paused": [state.paused_at, state.paused],
            "flying": sorted(state.flying),
            "eager": sorted(state.eager),
            "locks": {name: cell.key for name, cell in sorted(state.locks.items())},
            "questions": sorted(state.questions),
            "signals": {name: len(queue) for name, queue in sorted(state.signals.items()) if queue},
            "undoing": sorted(f"{key}:{visit}" for key, visit in state.undoing),
            "effects": [
                [each.cell.key, each.visit, each.attempts, each.over, *each.approved] for each in state.effects.values()
            ],
            "counted": [state.steps_over, state.attempts],
            "wake_at": state.wake_at,
        }
        | {f"step {key}": _picture_of_cell(state, cell) for key, cell in state.cells.items()}
        | _picture_of_books(state)
        | _picture_of_plan(state)
    )


def _picture_of_plan(state: State) -> dict[str, Any]:
    """The plan as it is now, if it is another one than at the start."""
    if not state.revision:
        return {}
    return {"plan": [state.revision, state.cells[""].scope.outline.digest]}


def _picture_of_books(state: State) -> dict[str, Any]:
    """Nothing for a run that nothing limits and that took nothing: those of earlier releases look as ever."""
    ledgers = {
        f"ledger {key}": [each.limits, each.raised, each.spent, each.reserved, each.open, each.question]
        for key, each in state.books.ledgers.items()
    }
    return {**ledgers, **({"used": state.books.used} if state.books.used else {})}


def _picture_of_cell(state: State, cell: Cell) -> list[Any]:
    work = cell.body if isinstance(cell.body, Work) else None
    tries = [work.attempt, work.counted, work.flying, work.stopping, work.lost, work.due, work.until] if work else []
    if isinstance(cell.body, Body) and cell.body.tries > 1:  # those of earlier releases look as ever
        tries = [cell.body.tries, cell.body.begins]
    result = cell.result
    ended = [result.exit, result.to, result.partial, result.undone, output_of(state, cell)] if result else []
    failure = [result.failure.kind, result.failure.message, result.cause] if result and result.failure else []
    return [cell.status, cell.visit, cell.laps, cell.due, cell.open, cell.question, tries, ended, failure]

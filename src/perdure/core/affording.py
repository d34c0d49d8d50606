"""Whether an attempt can be afforded, and what follows when it cannot.

Attempts reserve, and so do those who judge what one gave, in every ledger around them at once. One that does not fit
waits while another one inside the same ledger is at work: that one may take less than was promised to it, and its
result is wanted in any case. When nobody is at work the ledger is used up, and its owner ends, or asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from perdure.core import events as e
from perdure.core.calls import NOTHING, Call, Failure, Usage
from perdure.core.cells import Cell, Grown, Serial
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, end
from perdure.core.ledger import Ledger, Line, amounts_of, is_whole, pieces, told
from perdure.core.lines import is_hungry, make_hungry
from perdure.core.patience import terms, unasked
from perdure.core.seeing import output_of
from perdure.core.spending import depth_in
from perdure.core.values import Value

FINISH, FAIL = "finish", "fail"

# ------------------------------------------------------------------------------- before an attempt


@dataclass(frozen=True, slots=True)
class Wish:
    """What is about to begin, and what is known of what it takes."""

    call: Call
    said: Mapping[str, float]
    """What the plan expects of it."""
    asks: int
    """How many models it asks at least."""
    steps: int
    judges: bool = False
    """Whether it is a look at what an attempt gave: that one is over, and takes no place in a line."""


def attempt_at(cell: Cell, call: Call) -> Wish:
    """An attempt at a step."""
    return Wish(call, cell.traits.estimate, cell.traits.asks, int(not cell.work.attempt))


def afford(turn: Deciding, cell: Cell, wish: Wish) -> Usage | None:
    """What an attempt is promised; None if it does not begin now."""
    for ledger in cell.ledgers:
        if turn.state.cells[ledger.key].status != "active":
            return None  # it is about to be stopped
    promised = _promised(turn, wish)
    demand = _demand(wish, promised)
    for ledger in cell.ledgers:
        if "depth" in ledger.limits and not wish.judges:
            demand["depth"] = depth_in(cell, ledger)
        if word := ledger.lacks(demand, turn.now):
            if _may_come(ledger, word) and wish.judges:
                turn.state.books.unjudged[cell.key] = ledger.key, ledger.version
            elif _may_come(ledger, word):
                _park(turn, cell, ledger, demand)
            _refuse(turn, cell, ledger, word, demand)
            return None
    return promised


def _promised(turn: Deciding, wish: Wish) -> Usage:
    """What the plan expects, else what the tool says of itself; a model that is asked is one call at least."""
    said = turn.state.rules.estimate(wish.call, wish.said)
    if not said and not wish.asks:
        return NOTHING
    usd, seconds = said.get("usd"), said.get("seconds")
    return Usage(
        None if seconds is None else float(seconds),
        round(said.get("tokens", 0)),
        None if usd is None else float(usd),
        max(round(said.get("calls", 0)), wish.asks),
    )


def _demand(wish: Wish, promised: Usage) -> dict[str, int]:
    """What must be left: all that is promised, and of what cannot be avoided at least a little."""
    demand = {"steps": wish.steps, "seconds": 1}
    if promised is not NOTHING:
        demand |= amounts_of(promised)
    if promised.seconds:
        demand["seconds"] = max(1, pieces("seconds", promised.seconds))
    if wish.asks:
        demand.setdefault("tokens", 1)
        if promised.usd is None:
            demand["usd"] = 1
    return demand


def deadline(turn: Deciding, cell: Cell, due: int | None) -> int | None:
    """When an attempt has to be over: nothing goes on when its time is used up."""
    for ledger in cell.ledgers:
        if "seconds" in ledger.limits:
            used_up = turn.now + ledger.left("seconds", turn.now)
            due = used_up if due is None else min(due, used_up)
    return due


def is_out_of_time(turn: Deciding, cell: Cell) -> bool:
    """Whether the time of a ledger around a step is used up: an attempt that was cut off then was not slow."""
    return any("seconds" in each.limits and each.left("seconds", turn.now) <= 0 for each in cell.ledgers)


# ------------------------------------------------------------------------------- waiting


def _refuse(turn: Deciding, cell: Cell, ledger: Ledger, word: str, demand: dict[str, int]) -> None:
    if not _may_come(ledger, word):
        how = Failure("budget", _used_up(turn, cell, ledger, word, demand[word]))
        conclude(turn, turn.state.cells[ledger.key], ledger.then[word], how, cell)
    elif not ledger.open and ledger.question not in turn.state.questions:
        _ask(turn, cell, ledger, word, demand[word])


def _may_come(ledger: Ledger, word: str) -> bool:
    """Whether there may be more: somebody takes less than was promised, or a person gives it."""
    return ledger.open > 0 or ledger.then[word] == "ask"


def _park(turn: Deciding, cell: Cell, ledger: Ledger, demand: dict[str, int]) -> None:
    """Wait with those that want just as much: when the first of them does not fit, none does."""
    lines = turn.state.books.broke.setdefault(ledger.key, {})
    line = lines.setdefault((cell.traits.tool, *demand.items()), Line())
    line.version = ledger.version
    heappush(line.heap, (cell.traits.rank, cell.age, cell.key, cell.visit))


def readmit(turn: Deciding) -> None:
    """Let the first of every line look again, where something became free since it looked."""
    books = turn.state.books
    for key, lines in tuple(books.broke.items()):
        for wants, line in tuple(lines.items()):
            if line.version != books.ledgers[key].version and not _is_looking(turn, line):
                _call(turn, line)
            if not line.heap:
                del lines[wants]
        if not lines:
            del books.broke[key]


def look_at_unjudged(turn: Deciding) -> None:
    """Let those look again who could not have a result judged, where something became free since they looked."""
    books = turn.state.books
    for key in (*turn.state.unjudged, *(books.unjudged.keys() - turn.state.unjudged.keys())):
        ledger, version = books.unjudged.pop(key, ("", -1))
        if ledger in books.ledgers and books.ledgers[ledger].version == version:
            books.unjudged[key] = ledger, version
        else:
            turn.look_at(turn.state.cells[key])


def _is_looking(turn: Deciding, line: Line) -> bool:
    entry = line.called
    return entry is not None and turn.state.books.called.get(entry[2]) is line and is_hungry(turn.state, entry)


def _call(turn: Deciding, line: Line) -> None:
    line.called = None
    while line.heap and line.called is None:
        entry = heappop(line.heap)
        if is_hungry(turn.state, entry):
            line.called = entry
            turn.state.books.called[entry[2]] = line
            make_hungry(turn.state, turn.state.cells[entry[2]])


# ------------------------------------------------------------------------------- used up


def conclude(turn: Deciding, owner: Cell, then: str, failure: Failure, cause: Cell | None = None) -> None:
    """End the owner of a ledger that is used up: it fails, or it is over with what there is."""
    blamed = cause.key if cause is not None and cause is not owner else ""
    if then == FINISH:
        how = Ending(output=_so_far(turn, owner), partial=True)
    else:
        how = Ending("failure", failure=failure, cause=blamed)
    if owner.kind == "work":
        end(turn, owner, how)
        return
    about: dict[str, Any] = {"step": owner.key, "visit": owner.visit, "exit": how.exit, "output": how.output}
    turn.record(e.StepStopping(**about, failure=how.failure, cause=how.cause, partial=how.partial))
    turn.look_at(owner)


def _so_far(turn: Deciding, owner: Cell) -> Value | None:
    """What there is: in a row and in an agent, the output of what ended last. Other groups know by themselves."""
    body = owner.body
    if isinstance(body, Serial):
        return turn.keep(output_of(turn.state, body.last)) if body.last else None
    if not isinstance(body, Grown):
        return None
    good = [each for each in body.children.values() if each.result and each.result.exit == "success"]
    return turn.keep(output_of(turn.state, good[-1]) if good else None)


def _used_up(turn: Deciding, cell: Cell, ledger: Ledger, word: str, needs: int) -> str:
    most, used = told(word, ledger.most(word)), told(word, ledger.used(word, turn.now))
    whose = f"of {ledger.key}" if ledger.key else "of the run"
    if word == "depth":
        return f"the budget {whose} allows agents within agents {most:g} deep, and {cell.key} stands {needs:g} deep"
    wants = "" if ledger.key == cell.key else f" by {cell.key}"
    return f"the budget {whose} is used up: {used:g} of {most:g} {word} spent, and {told(word, needs):g} needed{wants}"


# ------------------------------------------------------------------------------- asking


def _ask(turn: Deciding, cell: Cell, ledger: Ledger, word: str, needs: int) -> None:
    owner = turn.state.cells[ledger.key]
    text = (
        f"{_used_up(turn, cell, ledger, word, needs).capitalize()}. Answer with how much more there is, or {FINISH} "
        f"(be over with what there is), or {FAIL}."
    )
    question = unasked(turn, f"q_{owner.key or 'run'}_{owner.visit}_{word}")
    about: dict[str, Any] = {"step": owner.key, "visit": owner.visit, "question": question, "text": text}
    about |= terms(turn, owner)
    turn.record(e.QuestionAsked(answer="choice", about="budget", of=word, choices=(FINISH, FAIL), **about))


def hear(turn: Deciding, owner: Cell, event: e.QuestionAnswered) -> None:
    """A person has answered: a number lets those who wait look again, a word ends the owner."""
    ledger = owner.ledger
    if ledger is None or ledger.question != event.question or owner.status != "active":
        return
    answer = event.value.load(turn.read)
    if isinstance(answer, str):
        conclude(turn, owner, answer, Failure("budget", f"the budget is used up ({ledger.word}), and that is final"))


def expire(turn: Deciding, asked: e.QuestionAsked) -> None:
    """Nobody has answered in time: that is a no, and whoever asked hears it."""
    turn.record(e.QuestionClosed(question=asked.question, late=True))
    cell = turn.state.asked[asked.question]
    if asked.about == "budget" and cell.status == "active":
        conclude(
            turn, cell, FAIL, Failure("budget", f"the budget is used up ({asked.of}), and nobody gave more in time")
        )
    turn.look_at(cell)


def flaw_of_answer(value: Any, word: str) -> str:
    """What is wrong with an answer to the question how much more there is."""
    is_more = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
    if is_more and is_whole(word) and value % 1:
        return f"answer with a whole number: {word} are counted one by one"
    return "" if is_more or value in (FINISH, FAIL) else f"answer with how much more there is, or {FINISH}, or {FAIL}"

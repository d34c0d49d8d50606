"""Conversations with models: a call that goes on after an earlier one says which, and what came since.

Nothing that was said before is said again: the call before is named by its digest, so that each digest stands for the
whole conversation up to there, and a conversation of a thousand turns is as long on the disk as what was said in it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from perdure.core.calls import Call
from perdure.core.cells import Cell, Scope, Work
from perdure.core.values import NULL
from perdure.plan.expr import ExpressionError
from perdure.plan.model.parts import ModelCall, NoResult

NO_VALUE = "PRD1210"
Fill = Callable[[Any], Any]
"""Puts in what a value of the plan names."""


def asked_of_model(scope: Scope, call: ModelCall, fill: Fill) -> dict[str, Any]:
    """What a model is given: what this call says itself, and where it goes on."""
    texts = {"prompt": call.prompt, "instructions": call.instructions}
    given: dict[str, Any] = {word: fill(text) for word, text in texts.items() if text}
    given |= {word: value for word in _PLAIN if (value := getattr(call, word)) is not None}
    given |= {"choices": list(call.choices)} if call.choices else {}
    given |= {} if call.tools is None else {"tools": list(call.tools)}
    return given if call.after is None else {**given, **_since(scope, call, fill)}


_PLAIN = ("returns", "tokens", "temperature")


def _since(scope: Scope, call: ModelCall, fill: Fill) -> dict[str, Any]:
    """Where a call goes on, what was answered there, and what came of the calls that were asked for."""
    earlier = _ended(scope, str(call.after))
    work = earlier.result.body if earlier.result else None
    if not isinstance(work, Work) or not work.digest or not isinstance(earlier.traits.call, ModelCall):
        raise ExpressionError(NO_VALUE, f'"{call.after}" has asked no model', "name a step that asks one")
    results = [_result(scope, each, fill) for each in call.results]
    return {"after": work.digest, "answer": _kept(earlier), **({"results": results} if results else {})}


def _ended(scope: Scope, id_: str) -> Cell:
    found = scope.find(id_)
    if found is None or found.result is None:
        raise ExpressionError(NO_VALUE, f'there is no result of "{id_}" yet', "name a step that is over by then")
    return found


def _result(scope: Scope, said: str | NoResult, fill: Fill) -> dict[str, Any]:
    if isinstance(said, NoResult):
        return {"error": fill(said.error)}
    cell = _ended(scope, said)
    failure = cell.result.failure if cell.result else None
    if failure is not None:
        return {"error": f"{failure.kind}: {failure.message}"}
    return {"output": _kept(cell)}


def _kept(cell: Cell) -> dict[str, Any]:
    """What a step gave, as facts hold it: itself, or its digest."""
    value = (cell.result.output if cell.result and not cell.result.undone else None) or NULL
    return {"sha256": value.sha256} if value.sha256 else {"data": value.data}


def before(cell: Cell, call_of: Callable[[Cell], Call]) -> list[Call]:
    """The calls of a conversation before that of a step, the oldest first."""
    return [call_of(each) for each in reversed(list(_chain(cell)))]


def _chain(cell: Cell) -> Iterator[Cell]:
    call = cell.traits.call
    while isinstance(call, ModelCall) and call.after is not None:
        cell = _ended(cell.scope, call.after)
        yield cell
        call = cell.traits.call

"""Who has a ledger, and what each fact changes in it. Part of the fold."""

from collections.abc import Sequence

from perdure.core import events as e
from perdure.core.calls import Usage
from perdure.core.cells import Cell, Work
from perdure.core.delegating import is_delegating
from perdure.core.ledger import Amounts, Ledger, amounts_of, pieces
from perdure.core.outline import Outline
from perdure.core.state import State
from perdure.plan.model.parts import Budget


def hold_ledger(state: State, cell: Cell, budgets: Sequence[Budget]) -> None:
    """Let a step have a ledger; one that was here before goes on with what it had spent."""
    if cell.parent is not None and cell.parent.kind == "map":
        return  # one item stands for itself; the budget is that of the whole map
    ledger = state.books.ledgers.get(cell.key)
    if ledger is None:
        ledger = state.books.ledgers[cell.key] = Ledger(cell.key)
    ledger.limit(budgets)
    cell.ledger = ledger
    cell.ledgers = (ledger, *(cell.parent.ledgers if cell.parent else ()))


def hold_plan_ledger(state: State, cell: Cell, outline: Outline) -> None:
    """The same for a plan that came by name: what it says about itself counts too."""
    budget = outline.plan.budget
    if budget is not None:
        hold_ledger(state, cell, (*cell.traits.budgets, budget))


def reserve(state: State, cell: Cell, event: e.AttemptStarted) -> None:
    """An attempt begins, or a judge looks at one: promise it what it may take, in every ledger around it."""
    now, amounts = state.clock(state.at), amounts_of(event.reserved)
    cell.work.reserved = event.reserved
    for ledger in cell.ledgers:
        ledger.begin(now, event.due, amounts, first=event.attempt == 1 and event.deed == "do")
        if "depth" in ledger.limits:
            ledger.reach(depth_in(cell, ledger))


def settle(state: State, cell: Cell, usage: Usage | None, *, lost: bool = False) -> None:
    """It is over: what it took is spent. Where nobody said how much that was, it is what was promised."""
    work, now, asks = cell.work, state.clock(state.at), _asks(cell)
    reserved = charged = amounts_of(work.reserved)
    if usage is not None:
        charged = _charged(asks, reserved, usage)
    for ledger in cell.ledgers:
        ledger.end(now, work.until, reserved, charged, lost=lost)
    work.reserved = None


def _asks(cell: Cell) -> int:
    """How many models what is under way asks at least: the step, or who judges it."""
    if cell.work.looking is None:
        return cell.traits.asks
    return int(any(each.agent is not None for each in cell.traits.judges[cell.work.met : cell.work.met + 1]))


def _charged(asks: int, reserved: Amounts, usage: Usage) -> Amounts:
    """What an attempt has to pay for; where it does not know the price, that is what was promised."""
    found = amounts_of(usage)
    found["calls"] = max(usage.calls, asks)
    if usage.usd is None and "usd" in reserved:
        found["usd"] = reserved["usd"]
    return found


def settle_beside(cell: Cell, usage: Usage | None) -> None:
    """Taking back, and asking whether a deed was done, are never refused for want of money; what they took is spent."""
    for ledger in cell.ledgers if usage is not None else ():
        ledger.spend(amounts_of(usage))


def count(state: State, usage: Usage) -> None:
    """Add to all that the run took, whether something limits it or not."""
    found = amounts_of(usage) | {"seconds": pieces("seconds", usage.seconds or 0.0)}
    for word, amount in found.items():
        state.books.used[word] = state.books.used.get(word, 0) + amount
    state.books.unpriced += usage.calls if usage.usd is None else 0


def depth_in(cell: Cell, ledger: Ledger) -> int:
    """How many agents stand within each other from a ledger's owner down to a step, both included."""
    way = (cell, *cell.around)
    top = next(place for place, each in enumerate(way) if each.ledger is ledger)
    return sum(_is_agent(each) for each in way[: top + 1])


def _is_agent(cell: Cell) -> bool:
    if cell.kind == "agent":
        return not is_delegating(cell)
    return isinstance(cell.body, Work) and cell.traits.is_agent


# ------------------------------------------------------------------------------- people


def note_question(cell: Cell, event: e.QuestionAsked) -> None:
    """A person is asked for more."""
    assert cell.ledger is not None  # noqa: S101  whoever asks about a budget has one
    cell.ledger.question, cell.ledger.word = event.question, event.of


def note_answer(state: State, cell: Cell, event: e.QuestionAnswered) -> None:
    """A number is how much more there is."""
    ledger = cell.ledger
    if ledger is None or ledger.question != event.question:
        return
    value = event.value.load(state.read)
    if isinstance(value, int | float):
        ledger.raise_limit(ledger.word, pieces(ledger.word, value))

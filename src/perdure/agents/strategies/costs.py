"""What steps take, and whether that is left. A strategy begins nothing that does not fit."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perdure.core.growth import View

Cost = Mapping[str, float]
"""How much of what, in the words of a budget."""
FREE: Final[Cost] = {}
COUNTED: Final = ("tokens", "calls", "usd", "steps")
"""What can be shared out; time goes by for all at once, and depth is no sum."""


def sum_of(*costs: Cost) -> Cost:
    """All of them together."""
    return {word: sum(each.get(word, 0) for each in costs) for word in COUNTED if any(word in each for each in costs)}


def times(cost: Cost, number: int) -> Cost:
    """The same, so many times."""
    return {word: amount * number for word, amount in cost.items()}


def call_cost(view: View, model: str, reads: int, most: int) -> Cost:
    """What one call of a model may take: the tokens that it reads, and the longest answer."""
    said = view.expected(model, reads + most, most)
    return {"calls": 1, "steps": 1, "tokens": reads + most, **({"usd": said["usd"]} if "usd" in said else {})}


def fits(cost: Cost, left: Cost) -> bool:
    """Whether there is enough of everything, and any time at all."""
    return left.get("seconds", 1) > 0 and all(cost.get(word, 0) <= left[word] for word in COUNTED if word in left)


def lacking(cost: Cost, left: Cost) -> str:
    """What there is too little of, in words."""
    if left.get("seconds", 1) <= 0:
        return "no time is left"
    short = [word for word in COUNTED if word in left and cost.get(word, 0) > left[word]]
    return ", ".join(f"{cost[word]:g} {word} are needed and {left[word]:g} left" for word in short)


def share_of(left: Cost, part: int, of: int) -> Cost:
    """A part of what is left."""
    return {word: amount * part / of for word, amount in left.items()}


def rest_of(left: Cost, cost: Cost) -> Cost:
    """What is left when something is put aside."""
    return {word: max(0.0, amount - cost.get(word, 0)) for word, amount in left.items()}


def budgets(left: Cost, costs: Sequence[Cost]) -> list[dict[str, Any]]:
    """A budget for each of those who will be at work at once: what it takes, and its share of what nobody takes.

    So one that needs another try has something to pay it from, and one that needs too much fails alone, and not whoever
    owns what is left.
    """
    spare = {word: max(0.0, left[word] - sum_of(*costs).get(word, 0)) for word in COUNTED if word in left}
    return [_budget({word: each.get(word, 0) + spare[word] / len(costs) for word in spare}) for each in costs]


def _budget(most: Cost) -> dict[str, Any]:
    whole = {word: round(amount, 9) if word == "usd" else int(amount) for word, amount in most.items()}
    return {"budget": whole} if whole else {}


def affordable(costs: Sequence[Cost], left: Cost) -> int:
    """How many of them can be paid, from the first on."""
    total: Cost = {}
    for number, cost in enumerate(costs):
        total = sum_of(total, cost)
        if not fits(total, left):
            return number
    return len(costs)

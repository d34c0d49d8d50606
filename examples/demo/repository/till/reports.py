"""What was sold: for the owner in the evening, and for the accountant as CSV."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date

from till.orders import Order


def takings(orders: Iterable[Order]) -> dict[date, float]:
    """What came in, day by day."""
    found: dict[date, float] = defaultdict(float)
    for order in orders:
        found[order.day] += order.total
    return dict(sorted(found.items()))


def best_sellers(orders: Iterable[Order], most: int = 3) -> list[tuple[str, float]]:
    """The items that brought in most, before discounts."""
    found: dict[str, float] = defaultdict(float)
    for order in orders:
        for line in order.lines:
            found[line.item.title] += line.total
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:most]


def average(orders: Sequence[Order]) -> float:
    """What an order comes to in the mean."""
    return sum(order.total for order in orders) / len(orders) if orders else 0.0


def summary(orders: Sequence[Order]) -> str:
    """A few lines for the owner."""
    rows = [f"{day}  {amount:10.2f}" for day, amount in takings(orders).items()]
    sold = [f"{title}: {amount:.2f}" for title, amount in best_sellers(orders)]
    return "\n".join([*rows, f"mean order  {average(orders):8.2f}", *sold])


def csv_rows(orders: Iterable[Order]) -> list[str]:
    """One row an order: number, day, goods, postage, tax, total."""
    return [f"{o.number},{o.day},{o.goods:.2f},{o.postage:.2f},{o.tax:.2f},{o.total:.2f}" for o in orders]

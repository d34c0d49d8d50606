"""What a customer is about to buy."""

from collections.abc import Iterator
from dataclasses import dataclass

from till.items import Item


@dataclass(frozen=True)
class Line:
    """Some of one item."""

    item: Item
    count: int

    @property
    def total(self) -> float:
        """What they cost together."""
        return self.item.price * self.count


class Cart:
    """Items and how many of each, in the order in which they were put in."""

    def __init__(self) -> None:
        self._counts: dict[Item, int] = {}

    def __iter__(self) -> Iterator[Line]:
        return (Line(item, count) for item, count in self._counts.items())

    def add(self, item: Item, count: int = 1) -> None:
        """Puts some more of an item in."""
        if count < 1:
            raise ValueError(f"nobody can buy {count} of {item.sku}")
        self._counts[item] = self._counts.get(item, 0) + count

    def remove(self, item: Item, count: int = 1) -> None:
        """Takes some of an item out again."""
        left = self._counts.get(item, 0) - count
        if left < 0:
            raise ValueError(f"there are not {count} of {item.sku} in the cart")
        if left:
            self._counts[item] = left
        else:
            self._counts.pop(item, None)

    @property
    def subtotal(self) -> float:
        """What all of it costs, without discounts and postage."""
        return sum(line.total for line in self)

    @property
    def grams(self) -> int:
        """What all of it weighs."""
        return sum(line.item.grams * line.count for line in self)

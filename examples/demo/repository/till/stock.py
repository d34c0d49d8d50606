"""What lies on the shelves."""

from collections.abc import Iterable, Mapping

from till.cart import Line
from till.items import Item


class OutOfStockError(ValueError):
    """There is less than somebody wants."""


class Stock:
    """How many there are of each item."""

    def __init__(self, counts: Mapping[Item, int]) -> None:
        self._counts = dict(counts)

    def count(self, item: Item) -> int:
        """How many there are."""
        return self._counts.get(item, 0)

    def take(self, lines: Iterable[Line]) -> None:
        """Takes all of it from the shelves, or nothing."""
        wanted = list(lines)
        for line in wanted:
            if self.count(line.item) < line.count:
                raise OutOfStockError(f"of {line.item.sku} there are {self.count(line.item)}, not {line.count}")
        for line in wanted:
            self._counts[line.item] -= line.count

    def put(self, lines: Iterable[Line]) -> None:
        """Puts it back."""
        for line in lines:
            self._counts[line.item] = self.count(line.item) + line.count

    @property
    def worth(self) -> float:
        """What all of it would sell for."""
        return sum(item.price * count for item, count in self._counts.items())

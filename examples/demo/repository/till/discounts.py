"""What customers need not pay. Of several discounts they get the best one, never two at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from till.amounts import rounded
from till.cart import Cart


class Discount(Protocol):
    """Anything that knows how much comes off a cart."""

    def off(self, cart: Cart) -> float:
        """How much the customer need not pay."""
        ...


@dataclass(frozen=True)
class Percent:
    """So many percent off carts that are worth enough."""

    rate: int
    at_least: float = 0.0

    def off(self, cart: Cart) -> float:
        """The part of the subtotal."""
        if cart.subtotal < self.at_least:
            return 0.0
        return rounded(cart.subtotal * self.rate / 100)


@dataclass(frozen=True)
class Voucher:
    """A fixed amount off; nobody gets money back."""

    worth: float

    def off(self, cart: Cart) -> float:
        """All of its worth, or what there is to pay."""
        return min(self.worth, cart.subtotal)


@dataclass(frozen=True)
class Bundle:
    """Of so many of an item, one is free."""

    sku: str
    size: int

    def off(self, cart: Cart) -> float:
        """The price of the free ones."""
        return sum(line.item.price * (line.count // self.size) for line in cart if line.item.sku == self.sku)


def best(discounts: Iterable[Discount], cart: Cart) -> float:
    """How much the best of them takes off; nothing if there is none."""
    return max((discount.off(cart) for discount in discounts), default=0.0)

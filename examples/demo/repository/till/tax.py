"""The tax that is in the prices, by kind of item."""

from till.amounts import rounded
from till.cart import Cart

RATES = {"standard": 20, "reduced": 5, "exempt": 0}


def included(amount: float, kind: str) -> float:
    """How much of an amount is tax."""
    rate = RATES[kind]
    return rounded(amount * rate / (100 + rate))


def by_kind(cart: Cart, off: float) -> dict[str, float]:
    """The tax in a cart, after `off` came off each kind in proportion to what it costs."""
    worth: dict[str, float] = {}
    for line in cart:
        worth[line.item.kind] = worth.get(line.item.kind, 0.0) + line.total
    return {kind: included(amount - _share(off, amount, cart.subtotal), kind) for kind, amount in worth.items()}


def tax(cart: Cart, off: float) -> float:
    """All the tax in a cart."""
    return rounded(sum(by_kind(cart, off).values()))


def _share(off: float, amount: float, subtotal: float) -> float:
    return rounded(off * amount / subtotal)

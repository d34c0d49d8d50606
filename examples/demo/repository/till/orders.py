"""Orders: a cart that was bought, with all that is to pay."""

from dataclasses import dataclass
from datetime import date

from till.amounts import rounded
from till.cart import Cart, Line
from till.customers import Customer
from till.discounts import Discount, best
from till.shipping import postage
from till.stock import Stock
from till.tax import tax


@dataclass(frozen=True)
class Order:
    """What was bought, by whom, and what it comes to."""

    number: int
    day: date
    customer: Customer
    lines: tuple[Line, ...]
    off: float
    tax: float
    postage: float

    @property
    def goods(self) -> float:
        """What the goods cost after the discount."""
        return rounded(sum(line.total for line in self.lines) - self.off)

    @property
    def total(self) -> float:
        """What there is to pay."""
        return rounded(self.goods + self.postage)

    @property
    def prepaid(self) -> bool:
        """Whether it has to be paid before it is sent."""
        return not self.customer.may_owe(self.total)


def place(number: int, day: date, customer: Customer, cart: Cart, stock: Stock, *offers: Discount) -> Order:
    """Takes the goods from the shelves and makes an order of them; if one is missing, nothing has happened."""
    lines = tuple(cart)
    if not lines:
        raise ValueError("the cart is empty")
    off = best([*customer.discounts, *offers], cart)
    sent = postage(customer.country, cart.grams, cart.subtotal - off)
    stock.take(lines)
    return Order(number, day, customer, lines, off, tax(cart, off), sent)

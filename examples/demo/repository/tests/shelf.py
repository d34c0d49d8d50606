"""What the tests buy."""

from till.cart import Cart
from till.items import Item

TEA = Item("tea", "Mountain tea", 4.50, 120, "reduced")
MUG = Item("mug", "Blue mug", 9.90, 240)
BOOK = Item("book", "A book of birds", 24.00, 640, "reduced")
KETTLE = Item("kettle", "Kettle", 39.90, 1450)
SWEET = Item("sweet", "Sweet", 0.10, 8)
CARD = Item("card", "Gift card", 25.00, 5, "exempt")


def cart_of(*wanted: tuple[Item, int]) -> Cart:
    """A cart with some of each in it."""
    cart = Cart()
    for item, count in wanted:
        cart.add(item, count)
    return cart

"""Orders."""

import unittest
from datetime import date

from tests.shelf import KETTLE, MUG, TEA, cart_of
from till.customers import Customer
from till.discounts import Voucher
from till.orders import place
from till.stock import OutOfStockError, Stock

DAY = date(2026, 3, 2)


class Orders(unittest.TestCase):
    """Everything comes together."""

    def setUp(self) -> None:
        self.stock = Stock({TEA: 10, MUG: 10, KETTLE: 1})

    def test_an_order_knows_what_there_is_to_pay(self) -> None:
        order = place(1, DAY, Customer("Ines", "AT"), cart_of((TEA, 2), (MUG, 1)), self.stock)
        self.assertEqual((order.goods, order.tax, order.postage, order.total), (18.90, 2.08, 2.90, 21.80))

    def test_the_best_discount_counts(self) -> None:
        customer = Customer("Ines", "AT", spent=300.00)
        order = place(2, DAY, customer, cart_of((KETTLE, 1)), self.stock, Voucher(5.00))
        self.assertEqual((order.off, order.goods), (5.00, 34.90))

    def test_who_has_no_credit_pays_first(self) -> None:
        cart = cart_of((TEA, 1))
        self.assertTrue(place(3, DAY, Customer("Ines", "AT"), cart, self.stock).prepaid)
        self.assertFalse(place(4, DAY, Customer("Ines", "AT", credit=50.00), cart, self.stock).prepaid)

    def test_goods_leave_the_shelves(self) -> None:
        place(5, DAY, Customer("Ines", "AT"), cart_of((KETTLE, 1)), self.stock)
        with self.assertRaises(OutOfStockError):
            place(6, DAY, Customer("Ole", "DE"), cart_of((KETTLE, 1)), self.stock)

    def test_an_empty_cart_is_no_order(self) -> None:
        with self.assertRaisesRegex(ValueError, "the cart is empty"):
            place(7, DAY, Customer("Ines", "AT"), cart_of(), self.stock)

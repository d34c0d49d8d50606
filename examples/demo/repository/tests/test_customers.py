"""Customers."""

import unittest

from tests.shelf import BOOK, cart_of
from till.customers import Customer
from till.discounts import best


class Customers(unittest.TestCase):
    """Who has spent much pays less."""

    def test_levels_come_with_what_was_spent(self) -> None:
        levels = [Customer("Ines", "AT", spent).level for spent in (0.0, 249.99, 250.00, 1000.00)]
        self.assertEqual(levels, ["plain", "plain", "silver", "gold"])

    def test_gold_takes_ten_percent_off(self) -> None:
        self.assertAlmostEqual(best(Customer("Ines", "AT", 1200.00).discounts, cart_of((BOOK, 1))), 2.40)
        self.assertEqual(best(Customer("Ines", "AT").discounts, cart_of((BOOK, 1))), 0.0)

    def test_credit_has_a_limit(self) -> None:
        customer = Customer("Ines", "AT", credit=100.00)
        self.assertTrue(customer.may_owe(100.00))
        self.assertFalse(customer.may_owe(100.01))

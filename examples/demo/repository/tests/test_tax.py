"""The tax in the prices."""

import unittest

from tests.shelf import CARD, MUG, TEA, cart_of
from till.tax import by_kind, included, tax


class Tax(unittest.TestCase):
    """Each kind has its rate, and a discount lowers them all."""

    def test_each_kind_has_its_rate(self) -> None:
        self.assertAlmostEqual(included(12.00, "standard"), 2.00)
        self.assertAlmostEqual(included(21.00, "reduced"), 1.00)
        self.assertEqual(included(25.00, "exempt"), 0.0)

    def test_a_cart_is_taxed_by_kind(self) -> None:
        found = by_kind(cart_of((TEA, 2), (MUG, 1), (CARD, 1)), 0.0)
        self.assertEqual(found, {"reduced": 0.43, "standard": 1.65, "exempt": 0.0})

    def test_a_discount_lowers_the_tax_in_proportion(self) -> None:
        cart = cart_of((TEA, 2), (MUG, 1))
        self.assertAlmostEqual(tax(cart, 0.0), 2.08)
        self.assertAlmostEqual(tax(cart, 9.45), 1.04)

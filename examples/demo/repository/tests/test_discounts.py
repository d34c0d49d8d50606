"""Discounts."""

import unittest

from tests.shelf import BOOK, MUG, TEA, cart_of
from till.discounts import Bundle, Percent, Voucher, best


class Discounts(unittest.TestCase):
    """What comes off."""

    def test_percents_are_rounded_to_cents(self) -> None:
        self.assertAlmostEqual(Percent(15).off(cart_of((MUG, 1))), 1.49)

    def test_percents_want_a_cart_that_is_worth_enough(self) -> None:
        self.assertEqual(Percent(10, at_least=30.00).off(cart_of((BOOK, 1))), 0.0)
        self.assertAlmostEqual(Percent(10, at_least=30.00).off(cart_of((BOOK, 2))), 4.80)

    def test_a_voucher_gives_no_money_back(self) -> None:
        self.assertEqual(Voucher(10.00).off(cart_of((TEA, 1))), 4.50)
        self.assertEqual(Voucher(10.00).off(cart_of((BOOK, 1))), 10.00)

    def test_of_a_bundle_one_is_free(self) -> None:
        self.assertEqual(Bundle("tea", 3).off(cart_of((TEA, 7), (MUG, 3))), 9.00)

    def test_the_best_one_counts(self) -> None:
        cart = cart_of((TEA, 3))
        self.assertEqual(best([Percent(10), Bundle("tea", 3), Voucher(2.00)], cart), 4.50)
        self.assertEqual(best([], cart), 0.0)

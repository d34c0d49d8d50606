"""Carts."""

import unittest

from tests.shelf import BOOK, MUG, TEA, cart_of
from till.cart import Line


class Carts(unittest.TestCase):
    """What is in it, what it costs and what it weighs."""

    def test_an_empty_cart_costs_nothing(self) -> None:
        self.assertEqual(cart_of().subtotal, 0)

    def test_its_lines_are_added_up(self) -> None:
        cart = cart_of((TEA, 2), (BOOK, 1))
        self.assertAlmostEqual(cart.subtotal, 33.00)
        self.assertEqual(cart.grams, 880)

    def test_more_of_an_item_is_one_line(self) -> None:
        self.assertEqual(list(cart_of((MUG, 1), (TEA, 1), (MUG, 2))), [Line(MUG, 3), Line(TEA, 1)])

    def test_nobody_buys_less_than_one(self) -> None:
        with self.assertRaisesRegex(ValueError, "nobody can buy 0 of tea"):
            cart_of((TEA, 0))

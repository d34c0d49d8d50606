"""Postage."""

import unittest

from till.shipping import TooHeavyError, postage


class Postage(unittest.TestCase):
    """By weight and country, and nothing at home for good orders."""

    def test_it_grows_with_the_weight(self) -> None:
        self.assertEqual([postage("AT", grams, 20.00) for grams in (500, 501, 10000)], [2.90, 4.90, 7.50])

    def test_it_grows_with_the_distance(self) -> None:
        self.assertEqual([postage(country, 100, 20.00) for country in ("AT", "DE", "NZ")], [2.90, 5.40, 11.00])

    def test_good_orders_are_sent_free_at_home(self) -> None:
        self.assertEqual(postage("AT", 100, 50.00), 0.0)
        self.assertEqual(postage("AT", 100, 49.99), 2.90)
        self.assertEqual(postage("DE", 100, 50.00), 5.40)

    def test_nobody_carries_too_much(self) -> None:
        with self.assertRaisesRegex(TooHeavyError, "the limit is 2000 g"):
            postage("NZ", 2001, 20.00)

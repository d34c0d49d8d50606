"""The shelves."""

import unittest

from tests.shelf import BOOK, KETTLE, TEA, cart_of
from till.stock import OutOfStockError, Stock


class Shelves(unittest.TestCase):
    """All or nothing."""

    def test_what_is_sold_is_gone(self) -> None:
        stock = Stock({TEA: 10, BOOK: 1})
        stock.take(cart_of((TEA, 3), (BOOK, 1)))
        self.assertEqual((stock.count(TEA), stock.count(BOOK)), (7, 0))

    def test_if_one_is_missing_nothing_is_taken(self) -> None:
        stock = Stock({TEA: 10})
        with self.assertRaisesRegex(OutOfStockError, "of book there are 0, not 1"):
            stock.take(cart_of((TEA, 3), (BOOK, 1)))
        self.assertEqual(stock.count(TEA), 10)

    def test_what_comes_back_can_be_sold_again(self) -> None:
        stock = Stock({})
        stock.put(cart_of((BOOK, 2)))
        self.assertEqual(stock.count(BOOK), 2)

    def test_it_is_worth_what_it_would_sell_for(self) -> None:
        self.assertAlmostEqual(Stock({TEA: 2, KETTLE: 3}).worth, 128.70)

"""Reports."""

import unittest
from datetime import date

from tests.shelf import BOOK, KETTLE, MUG, TEA, cart_of
from till.customers import Customer
from till.orders import place
from till.reports import csv_rows, summary
from till.stock import Stock


class Reports(unittest.TestCase):
    """What the owner and the accountant read."""

    def setUp(self) -> None:
        stock = Stock(dict.fromkeys((TEA, MUG, BOOK, KETTLE), 9))
        monday, tuesday = date(2026, 3, 2), date(2026, 3, 3)
        ines, ole = Customer("Ines", "AT"), Customer("Ole", "DE")
        self.orders = [
            place(1, tuesday, ole, cart_of((KETTLE, 1)), stock),
            place(2, monday, ines, cart_of((TEA, 2), (MUG, 1)), stock),
            place(3, monday, ines, cart_of((BOOK, 1)), stock),
        ]

    def test_takings_are_told_by_day(self) -> None:
        self.assertEqual(summary(self.orders).splitlines()[:2], ["2026-03-02       50.70", "2026-03-03       49.70"])

    def test_the_mean_order_is_told(self) -> None:
        self.assertIn("mean order     33.47", summary(self.orders).splitlines())

    def test_the_best_sellers_come_first(self) -> None:
        told = summary(self.orders).splitlines()[-3:]
        self.assertEqual(told, ["Kettle: 39.90", "A book of birds: 24.00", "Blue mug: 9.90"])

    def test_the_accountant_gets_a_row_an_order(self) -> None:
        self.assertEqual(csv_rows(self.orders)[1:2], ["2,2026-03-02,18.90,2.90,2.08,21.80"])

    def test_a_day_without_orders_is_no_mistake(self) -> None:
        self.assertEqual(summary([]), "mean order      0.00")
        self.assertEqual(csv_rows([]), [])

"""Invoices."""

import unittest
from datetime import date

from tests.shelf import MUG, TEA, cart_of
from till.customers import Customer
from till.discounts import Voucher
from till.invoices import WIDTH, invoice
from till.orders import place
from till.stock import Stock

PRINTED = """\
Invoice 7 of 2026-03-02 for Ines
2 x Mountain tea                    9.00 EUR
1 x Blue mug                        9.90 EUR
Discount                           -5.00 EUR
Postage                             2.90 EUR
Total                              16.80 EUR
of which tax                        1.53 EUR"""


class Invoices(unittest.TestCase):
    """What is printed."""

    def setUp(self) -> None:
        cart = cart_of((TEA, 2), (MUG, 1))
        self.order = place(7, date(2026, 3, 2), Customer("Ines", "AT"), cart, Stock({TEA: 9, MUG: 9}), Voucher(5.00))

    def test_an_invoice_says_what_was_bought_and_what_is_to_pay(self) -> None:
        self.assertEqual(invoice(self.order), PRINTED)

    def test_parts_are_told_when_there_are_some(self) -> None:
        told = invoice(self.order, parts=2).splitlines()[-2:]
        self.assertEqual([line.split()[2] for line in told], ["8.40", "8.40"])
        self.assertEqual({len(line) for line in told}, {WIDTH})

"""The command line."""

import io
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from till.cli import main

PRICES = str(Path(__file__).parents[1] / "prices.csv")


def told(*words: str) -> tuple[int, str, str]:
    """How it ends, and what it says."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(words)
    return code, out.getvalue(), err.getvalue()


class CommandLine(unittest.TestCase):
    """What people at the desk type."""

    def test_a_quote_has_the_tax_and_the_postage_in_it(self) -> None:
        said = "21.80 EUR (2.08 EUR tax, 2.90 EUR postage)\n"
        self.assertEqual(told("quote", PRICES, "tea=2", "mug"), (0, said, ""))

    def test_a_voucher_comes_off(self) -> None:
        said = "30.20 EUR (2.84 EUR tax, 9.80 EUR postage)\n"
        words = ("tea=2", "mug=3", "--country", "DE", "--voucher", "18.30")
        self.assertEqual(told("quote", PRICES, *words), (0, said, ""))

    def test_what_there_is_not_is_said(self) -> None:
        code, _, error = told("quote", PRICES, "coffee")
        self.assertEqual(code, 2)
        self.assertIn("there is no 'coffee'; there is tea, mug, book", error)

    def test_a_missing_price_list_is_said(self) -> None:
        self.assertEqual(told("quote", "nowhere.csv", "tea")[0], 2)

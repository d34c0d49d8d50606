"""Reading, rounding and showing amounts."""

import unittest

from till.amounts import parsed, rounded, shown


class Amounts(unittest.TestCase):
    """What is written is what is read."""

    def test_an_amount_is_read(self) -> None:
        self.assertEqual(parsed("4.50"), 4.5)
        self.assertEqual(parsed(" 12 "), 12.0)

    def test_what_is_no_amount_is_refused(self) -> None:
        for text in ("", "4,50", "4.5", "-1.00", "four"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "write it like 4.50"):
                parsed(text)

    def test_half_a_cent_counts_as_one(self) -> None:
        self.assertEqual(rounded(0.125), 0.13)
        self.assertEqual(rounded(2.344), 2.34)

    def test_an_amount_is_shown_with_its_cents(self) -> None:
        self.assertEqual(shown(4.5), "4.50 EUR")
        self.assertEqual(shown(0.0), "0.00 EUR")

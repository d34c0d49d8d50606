"""Payments."""

import unittest

from till.payments import change, instalments


class Payments(unittest.TestCase):
    """Not a cent more, not a cent less."""

    def test_parts_add_up_to_the_whole(self) -> None:
        self.assertEqual(instalments(100.00, 3), [33.33, 33.33, 33.34])
        self.assertEqual(instalments(21.80, 1), [21.80])

    def test_there_are_at_most_twelve(self) -> None:
        with self.assertRaisesRegex(ValueError, "1 to 12 parts, not 13"):
            instalments(100.00, 13)

    def test_change_comes_back(self) -> None:
        self.assertEqual(change(21.80, 50.00), 28.20)

    def test_too_little_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "not enough"):
            change(21.80, 20.00)

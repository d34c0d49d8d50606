"""Items and price lists."""

import unittest

from till.items import Item, price_list

HEAD = "sku,title,price,grams,kind\n"


class Items(unittest.TestCase):
    """A price list is read as it was written, or refused."""

    def test_a_price_list_is_read(self) -> None:
        items = price_list(f"{HEAD}tea,Mountain tea,4.50,120,reduced\n")
        self.assertEqual(items, {"tea": Item("tea", "Mountain tea", 4.50, 120, "reduced")})

    def test_an_item_is_on_it_once(self) -> None:
        with self.assertRaisesRegex(ValueError, "twice"):
            price_list(f"{HEAD}tea,Tea,4.50,120,reduced\ntea,Tea,5.00,120,reduced\n")

    def test_nothing_is_free(self) -> None:
        with self.assertRaisesRegex(ValueError, "tea costs nothing"):
            price_list(f"{HEAD}tea,Tea,0.00,120,reduced\n")

    def test_the_kind_of_tax_is_known(self) -> None:
        with self.assertRaisesRegex(ValueError, "one of standard, reduced, exempt"):
            price_list(f"{HEAD}tea,Tea,4.50,120,luxury\n")

"""What the shop sells, and the price list it comes from."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from till.amounts import parsed

KINDS = ("standard", "reduced", "exempt")


@dataclass(frozen=True)
class Item:
    """One thing on the price list. Its price has the tax in it."""

    sku: str
    title: str
    price: float
    grams: int = 0
    kind: str = "standard"

    def __post_init__(self) -> None:
        if self.price <= 0:
            raise ValueError(f"{self.sku} costs nothing")
        if self.kind not in KINDS:
            raise ValueError(f"{self.sku} is taxed as {self.kind!r}; that is one of {', '.join(KINDS)}")


def price_list(text: str) -> dict[str, Item]:
    """The items of a price list: CSV with the columns sku, title, price, grams, kind."""
    items = [_item(row) for row in csv.DictReader(text.splitlines())]
    found = {item.sku: item for item in items}
    if len(found) < len(items):
        raise ValueError("an item is on the price list twice")
    return found


def _item(row: Mapping[str, str]) -> Item:
    return Item(row["sku"], row["title"], parsed(row["price"]), int(row["grams"]), row["kind"])

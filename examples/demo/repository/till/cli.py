"""The command line: `python3 -m till quote PRICES SKU=COUNT... [--country AT] [--voucher 5.00]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from till.amounts import parsed, shown
from till.cart import Cart
from till.discounts import Voucher, best
from till.items import Item, price_list
from till.shipping import postage
from till.tax import tax


def main(words: Sequence[str]) -> int:
    """What a quote comes to, on standard output; 2 if the words make no sense."""
    given = _parser().parse_args(words)
    try:
        items = price_list(Path(given.prices).read_text(encoding="utf-8"))
        told = quote(_cart(items, given.wanted), given.country, given.voucher)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"till: {error}\n")
        return 2
    sys.stdout.write(f"{told}\n")
    return 0


def quote(cart: Cart, country: str, voucher: str = "") -> str:
    """What a cart would cost, sent to a country."""
    off = best([Voucher(parsed(voucher))] if voucher else [], cart)
    goods = cart.subtotal - off
    sent = postage(country, cart.grams, goods)
    return f"{shown(goods + sent)} ({shown(tax(cart, off))} tax, {shown(sent)} postage)"


def _cart(items: dict[str, Item], wanted: Sequence[str]) -> Cart:
    cart = Cart()
    for word in wanted:
        sku, _, count = word.partition("=")
        if sku not in items:
            raise ValueError(f"there is no {sku!r}; there is {', '.join(items)}")
        cart.add(items[sku], int(count or "1"))
    return cart


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="till")
    quoted = parser.add_subparsers(required=True).add_parser("quote")
    quoted.add_argument("prices")
    quoted.add_argument("wanted", nargs="+", metavar="SKU=COUNT")
    quoted.add_argument("--country", default="AT")
    quoted.add_argument("--voucher", default="")
    return parser

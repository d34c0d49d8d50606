"""Amounts of money, in euros: how they are read, rounded and shown."""

import math
import re

FORM = re.compile(r"(\d+)(?:\.(\d{2}))?")


def parsed(text: str) -> float:
    """The amount that a person or a price list has written, such as `4.50`."""
    if FORM.fullmatch(text.strip()) is None:
        raise ValueError(f"{text!r} is no amount; write it like 4.50")
    return float(text)


def rounded(amount: float) -> float:
    """An amount in whole cents; half a cent counts as one."""
    return math.floor(amount * 100 + 0.5) / 100


def shown(amount: float) -> str:
    """An amount as customers see it."""
    return f"{amount:.2f} EUR"

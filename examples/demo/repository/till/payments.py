"""How an order is paid: at once, or in parts."""

from till.amounts import rounded

MOST = 12


def instalments(total: float, parts: int) -> list[float]:
    """The amounts to pay, month by month; the last one makes up for what rounding has left."""
    if not 1 <= parts <= MOST:
        raise ValueError(f"an order is paid in 1 to {MOST} parts, not {parts}")
    each = rounded(total / parts)
    return [each] * (parts - 1) + [rounded(total - each * (parts - 1))]


def change(total: float, given: float) -> float:
    """What comes back over the counter."""
    if given < total:
        raise ValueError("that is not enough")
    return rounded(given - total)

"""Invoices, as they are printed."""

from till.amounts import shown
from till.orders import Order
from till.payments import instalments

WIDTH = 44


def invoice(order: Order, parts: int = 1) -> str:
    """The text of an invoice; with `parts`, also when how much is due."""
    rows = [(f"{line.count} x {line.item.title}", shown(line.total)) for line in order.lines]
    if order.off:
        rows.append(("Discount", f"-{shown(order.off)}"))
    rows += [("Postage", shown(order.postage)), ("Total", shown(order.total)), ("of which tax", shown(order.tax))]
    if parts > 1:
        rows += [(f"Part {n}", shown(due)) for n, due in enumerate(instalments(order.total, parts), 1)]
    return "\n".join([f"Invoice {order.number} of {order.day} for {order.customer.name}", *map(_row, rows)])


def _row(cells: tuple[str, str]) -> str:
    left, right = cells
    return left + right.rjust(WIDTH - len(left))

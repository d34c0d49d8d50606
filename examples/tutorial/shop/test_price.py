"""What the price has to be like."""

from price import PRICE

COST = 9
if PRICE <= COST:
    raise SystemExit(f"{COST} is what we pay ourselves")

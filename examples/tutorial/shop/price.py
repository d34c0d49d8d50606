"""What the shop sells, and for how much."""

PRICE = 10

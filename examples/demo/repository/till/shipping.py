"""What it costs to send something."""

ZONES = {"AT": "home", "DE": "near", "CH": "near", "IT": "near", "FR": "near"}
BANDS = {
    "home": [(500, 2.90), (2000, 4.90), (10000, 7.50)],
    "near": [(500, 5.40), (2000, 9.80), (10000, 16.20)],
    "far": [(500, 11.00), (2000, 19.50)],
}
FREE_FROM = 50.00


class TooHeavyError(ValueError):
    """Nobody carries that much there."""


def postage(country: str, grams: int, worth: float) -> float:
    """What it costs to send goods of this worth to a country; at home nothing if they are worth enough."""
    zone = ZONES.get(country, "far")
    if zone == "home" and worth >= FREE_FROM:
        return 0.0
    for limit, price in BANDS[zone]:
        if grams <= limit:
            return price
    raise TooHeavyError(f"{grams} g are too heavy for {country}; the limit is {BANDS[zone][-1][0]} g")

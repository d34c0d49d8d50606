"""Who buys."""

from dataclasses import dataclass

from till.discounts import Percent

LEVELS = [(1000.00, "gold", 10), (250.00, "silver", 5)]


@dataclass(frozen=True)
class Customer:
    """A person who orders, with what they have spent so far and what they may owe us."""

    name: str
    country: str
    spent: float = 0.0
    credit: float = 0.0

    @property
    def level(self) -> str:
        """How good a customer this is."""
        return next((name for least, name, _ in LEVELS if self.spent >= least), "plain")

    @property
    def discounts(self) -> list[Percent]:
        """What comes off for good customers."""
        return [Percent(rate) for least, _, rate in LEVELS if self.spent >= least]

    def may_owe(self, amount: float) -> bool:
        """Whether we send goods of this worth before they are paid."""
        return amount <= self.credit

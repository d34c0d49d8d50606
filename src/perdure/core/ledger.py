"""A ledger: how much of a budget is spent, how much is promised to attempts at work, and how much is left.

Amounts are whole numbers, so that the order of adding them up never matters: milliseconds, billionths of a dollar,
and everything else by the piece.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

import msgspec

from perdure.core.calls import NOTHING, Usage
from perdure.plan.model.parts import Budget

WORDS: Final = ("steps", "calls", "tokens", "usd", "seconds", "depth")
"""What a budget can limit."""
_PIECES: Final = {"seconds": 1_000, "usd": 1_000_000_000}

Amounts = dict[str, int]
"""How much of what, in pieces."""


def pieces(word: str, amount: float) -> int:
    """An amount as a ledger counts it."""
    return round(amount * _PIECES.get(word, 1))


def is_whole(word: str) -> bool:
    """Whether there is no half of it."""
    return word not in _PIECES


def told(word: str, amount: int) -> float:
    """An amount as people write it."""
    per = _PIECES.get(word, 1)
    return amount if per == 1 else round(amount / per, 9)


def amounts_of(usage: Usage | None) -> Amounts:
    """What was reserved or reported, but for time, which the clock tells."""
    if usage is None or usage == NOTHING:
        return {}
    found = {"tokens": usage.tokens, "calls": usage.calls, "usd": pieces("usd", usage.usd or 0.0)}
    return {word: amount for word, amount in found.items() if amount}


class Ledger(msgspec.Struct, eq=False):
    """The accounts of one step, of one group, or of the run. It lives as long as the run: no visit begins it anew."""

    key: str
    """Whose it is; empty: the run's."""
    limits: Amounts = {}
    """What the plan says."""
    then: dict[str, str] = {}
    """What follows when it is used up, by what is."""
    raised: Amounts = {}
    """What people have added."""
    spent: Amounts = {}
    reserved: Amounts = {}
    """What attempts at work may still take. Time is not promised: each attempt is cut to what is left."""
    open: int = 0
    """Attempts at work in it."""
    since: int = 0
    """Until when time was counted, if attempts are at work; on the run's own clock."""
    until: int = 0
    """When the last of them is too late."""
    dues: list[int] = []
    """When each of them is, and perhaps some that are over: a heap, the last one first, as numbers below zero."""
    over: dict[int, int] = {}
    """Those of `dues` that are over, and how many of each."""
    question: str = ""
    """The last question about it."""
    word: str = ""
    """What that question is about."""
    version: int = 0
    """Changes when something becomes free: then it makes sense to ask again."""

    def limit(self, budgets: Iterable[Budget]) -> None:
        """Hold to all of them: where two speak of the same thing, the tighter one counts."""
        self.limits, self.then = {}, {}
        for budget in budgets:
            for word in WORDS:
                most: float | None = getattr(budget, word)
                if most is not None and (word not in self.limits or pieces(word, most) < self.limits[word]):
                    self.limits[word], self.then[word] = pieces(word, most), budget.then

    # ------------------------------------------------------------ looking

    def most(self, word: str) -> int:
        """All that may be spent."""
        return self.limits[word] + self.raised.get(word, 0)

    def used(self, word: str, now: int) -> int:
        """All that was spent until now. Time runs while an attempt is at work, however many there are."""
        spent = self.spent.get(word, 0)
        if word == "seconds" and self.open:
            return spent + max(0, min(now, self.until) - self.since)
        return spent

    def left(self, word: str, now: int) -> int:
        """What may still be promised."""
        spent = self.used(word, now) if word == "seconds" else self.spent.get(word, 0)
        return self.limits[word] + self.raised.get(word, 0) - spent - self.reserved.get(word, 0)

    def lacks(self, demand: Mapping[str, int], now: int) -> str:
        """What there is too little of; empty: all fits. Depth is no sum: each attempt stands for itself."""
        for word in self.limits:
            wanted = demand.get(word)
            if wanted and wanted > (self.most(word) if word == "depth" else self.left(word, now)):
                return word
        return ""

    # ------------------------------------------------------------ keeping

    def begin(self, now: int, due: int | None, reserved: Amounts, *, first: bool = True) -> None:
        """An attempt begins; the first one of a visit is a step."""
        if self.open:
            self._advance(now, min(now, self.until))
        else:
            self.since = now
        self.open += 1
        heappush(self.dues, -(due or 0))
        self.until = -self.dues[0]
        if first and "steps" in self.limits:
            self.spent["steps"] = self.spent.get("steps", 0) + 1
        if reserved:  # most attempts are promised nothing, and take nothing that is counted
            self._add(self.reserved, reserved, 1)

    def end(self, now: int, due: int | None, reserved: Amounts, charged: Amounts, *, lost: bool) -> None:
        """An attempt is over. Of one that was lost nobody knows how long it worked: at most until it was too late."""
        self._advance(now, min(now, self.until) if lost else now)
        self.open -= 1
        self._forget(due or 0)
        if reserved or charged:
            self._add(self.reserved, reserved, -1)
            self._add(self.spent, charged, 1)
        self.version += 1

    def spend(self, charged: Amounts) -> None:
        """Count what was taken."""
        self._add(self.spent, charged, 1)

    def reach(self, depth: int) -> None:
        """Note how deep agents stand within agents."""
        if depth > self.spent.get("depth", 0):
            self.spent["depth"] = depth

    def raise_limit(self, word: str, amount: int) -> None:
        """Allow more."""
        self.raised[word] = self.raised.get(word, 0) + amount
        self.version += 1

    def _advance(self, now: int, worked_until: int) -> None:
        """Count the time that went by while somebody was at work."""
        if "seconds" in self.limits and worked_until > self.since:
            self.spent["seconds"] = self.spent.get("seconds", 0) + worked_until - self.since
        self.since = max(self.since, now)

    def _forget(self, due: int) -> None:
        """One is over. From then on, only those still at work say until when time may have been worked."""
        self.over[due] = self.over.get(due, 0) + 1
        while self.dues and self.over.get(-self.dues[0]):
            self.over[-heappop(self.dues)] -= 1
        if not self.open:
            self.over.clear()
        self.until = -self.dues[0] if self.dues else 0

    def _add(self, to: Amounts, amounts: Amounts, sign: int) -> None:
        for word, amount in amounts.items():
            if amount and word in self.limits:
                to[word] = to.get(word, 0) + sign * amount


# ------------------------------------------------------------------------------- all of them


@dataclass(slots=True)
class Line:
    """Steps that could begin but for a budget, all wanting the same of it."""

    heap: list[tuple[int, int, str, int]] = field(default_factory=list[tuple[int, int, str, int]])
    """By priority, by age; each step's key and its visit."""
    version: int = -1
    """How its ledger was when the first of them last looked."""
    called: tuple[int, int, str, int] | None = None
    """The one that was told to look again, and has not yet."""


Wants = tuple[object, ...]
"""A tool, and how much of what: whoever stands in one line is as good as the others, but for priority and age."""


@dataclass(slots=True)
class Books:
    """The accounts of a run."""

    ledgers: dict[str, Ledger] = field(default_factory=dict[str, Ledger])
    """Budgets by the keys of those who have them."""
    broke: dict[str, dict[Wants, Line]] = field(default_factory=dict[str, dict[Wants, Line]])
    """Steps that could begin but for a budget: by the ledger, and by what they want of it."""
    called: dict[str, Line] = field(default_factory=dict[str, Line])
    """Those that were told to look again and have not yet, with the lines they stood in."""
    unjudged: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Steps whose results could be judged but for a budget: by its owner, and how its ledger was at the last look."""
    used: Amounts = field(default_factory=dict[str, int])
    """All that attempts are said to have taken, whether something limits it or not."""
    unpriced: int = 0
    """Calls of models of which nobody knows what they cost."""

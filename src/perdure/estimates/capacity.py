"""Capacity: what a plan waits for, what one more of it would give, and whether its budget suffices."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from perdure.estimates.forecast import Forecast, quantile
from perdure.estimates.parts import SECOND
from perdure.estimates.places import EVERYTHING
from perdure.estimates.standing import Taken
from perdure.plan.visible import lapse, money, visible

TRIED: Final = 24
"""Runs that are simulated once more with more of something."""
LOOKED_AT: Final = 4
"""Of so many things it is tried what more of them gives: those that steps wait for longest."""
WORTH_IT: Final = 0.03
"""What saves a smaller share of the time is not worth a sentence."""
MOSTLY: Final = 0.2


@dataclass(frozen=True, slots=True)
class Gain:
    """What steps wait for, and what one more of it would give."""

    of: str
    """`slots`, `limit GROUP`, `tool NAME`, `lock NAME`; `everything`: as much as anybody wants of all of them."""
    waited: float
    """Seconds that steps wait for it in a run, all together."""
    saves: float
    """Seconds by which a run would be shorter."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A limit of the plan's budget, and how far it goes."""

    of: str
    limit: float
    p90: float
    """What has to be reserved so that nine of ten runs have enough."""
    beyond: float
    """The share of runs that would need more."""

    @property
    def suffices(self) -> bool:
        """Whether nine of ten runs have enough."""
        return self.p90 <= self.limit


def amounts_of(taken: Taken) -> dict[str, float]:
    """What a budget would count of a run."""
    return {
        "seconds": taken.worked / SECOND, "usd": taken.usd, "tokens": taken.tokens, "calls": taken.calls,
        "steps": taken.acts,
    }  # fmt: skip


def allowances(forecast: Forecast) -> list[Allowance]:
    """The limits of the plan's budget."""
    budget = forecast.layout.plan.budget
    found: list[Allowance] = []
    for word in ("seconds", "usd", "tokens", "calls", "steps"):
        limit = getattr(budget, word, None)
        if limit is not None:
            amounts = sorted(amounts_of(each)[word] for each in forecast.good)
            beyond = sum(amount > limit for amount in amounts) / len(amounts)
            found.append(Allowance(word, limit, quantile(amounts, 0.9), beyond))
    return found


def gains(forecast: Forecast, seed: int = 0) -> list[Gain]:
    """What steps wait for, the most valuable first; everything together last, if they wait for anything."""
    runs = forecast.taken[:TRIED]
    waits = {cause for each in runs for cause in each.waits}
    waited = {cause: fmean(each.waits.get(cause, 0) for each in runs) / SECOND for cause in waits}
    looked_at = sorted(waited, key=lambda cause: (-waited[cause], cause))[:LOOKED_AT]
    found = [Gain(cause, waited[cause], _saved(forecast, seed, cause)) for cause in looked_at]
    found.sort(key=lambda gain: -gain.saves)
    if found:
        found.append(Gain(EVERYTHING, sum(waited.values()), _saved(forecast, seed, EVERYTHING)))
    return found


def _saved(forecast: Forecast, seed: int, extra: str) -> float:
    """How much shorter the same runs are with more of something."""
    runs = forecast.taken[:TRIED]
    others = [forecast.course(seed, n, extra).run() for n in range(len(runs))]
    return max(0.0, fmean(one.worked - other.worked for one, other in zip(runs, others, strict=True)) / SECOND)


def advice(forecast: Forecast, found: list[Gain]) -> Iterator[str]:
    """What to do about it, in sentences."""
    whole = forecast.worked.mean
    for gain in found:
        if gain.of != EVERYTHING and whole and gain.saves / whole >= WORTH_IT:
            yield f"{_more_of(gain.of)} would save about {lapse(gain.saves)} of {lapse(whole)}"
    yield from _about_budget(forecast)
    yield from _about_time(forecast, found, whole)
    if guessed := forecast.guessed:
        names = ", ".join(visible(each, 40) for each in guessed[:3]) + (", …" if guessed[3:] else "")
        yield f"run it once, or write `estimate` for what nobody knows anything about: {names}"


def _more_of(cause: str) -> str:
    word, _, name = cause.partition(" ")
    told = visible(name, 60)
    match word:
        case "limit":
            return f"a higher `limit` in {told}, by one," if name else "a higher `limit` of the plan, by one,"
        case "tool":
            return f"one more call of {told} at a time"
        case "lock":
            return f"a second holder of the lock {told}"
        case _:
            return "one more place for an attempt in the engine"


def _about_budget(forecast: Forecast) -> Iterator[str]:
    for each in allowances(forecast):
        if not each.suffices:
            need = _amount(each.of, each.p90)
            yield f"the budget of {each.of} is too small for {each.beyond:.0%} of the runs; nine of ten need {need}"


def _amount(word: str, amount: float) -> str:
    match word:
        case "seconds":
            return lapse(amount)
        case "usd":
            return money(amount)
        case _:
            return f"{amount:,.0f}"


def _about_time(forecast: Forecast, found: list[Gain], whole: float) -> Iterator[str]:
    """Where nobody waits for anything only shorter steps help."""
    labour = fmean(each.labour for each in forecast.good) / SECOND
    if not whole or any(gain.saves / whole >= WORTH_IT for gain in found):
        return
    steps = {id_ for each in forecast.good[:TRIED] for id_ in each.spent_on}
    spent = {id_: fmean(each.spent_on.get(id_, 0) for each in forecast.good) / SECOND for id_ in steps}
    most = [id_ for id_ in sorted(spent, key=lambda id_: (-spent[id_], id_)) if spent[id_] >= MOSTLY * labour][:3]
    if most and len(steps) > 1:
        told = ", ".join(f"{visible(id_, 40)} ({spent[id_] / labour:.0%})" for id_ in most)
        yield f"no more places would make it faster; most of the work is {told}"

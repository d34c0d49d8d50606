"""Estimates on the command line: what is known here of tools, models and earlier runs, and how it is told."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from perdure.cli.journals import opened
from perdure.config import Settings
from perdure.config.heads import models_of
from perdure.documents.estimates import estimate_document
from perdure.documents.progress import paced
from perdure.errors import PerdureError
from perdure.estimates.forecast import Forecast
from perdure.estimates.history import History, gather
from perdure.estimates.parts import Layout
from perdure.estimates.sources import Means
from perdure.plan import Plan
from perdure.plan.visible import lapse, money, number_of, visible
from perdure.ports import Journal, ModelFailed
from perdure.tools import AnyTool

LOOKED_AT: Final = 50
"""Earlier runs that are enough to say how far another one is."""


async def history_here(settings: Settings) -> History:
    """What earlier runs took; nothing where there were none."""
    if not settings.db.exists():
        return History()
    async with opened(settings) as journal:
        return await gather(journal)


def known_means(settings: Settings, tools: Iterable[AnyTool]) -> Means:
    """What tools declare, and what models cost."""
    found = {each.name: each for each in tools}
    declared = {name: dict(each.declared.estimate or {}) for name, each in found.items()}
    limits = {name: each.limit for name, each in found.items() if each.limit is not None} | dict(settings.limits.tools)

    def price(model: str, tokens_in: int, tokens_out: int) -> float | None:
        try:
            return models_of(settings.heads).find(model).price(tokens_in, tokens_out)
        except (PerdureError, ModelFailed):
            return None

    return Means(declared, limits, price, settings.limits.run)


async def forecast_here(
    plan: Plan, settings: Settings, tools: Iterable[AnyTool], inputs: Mapping[str, Any]
) -> Forecast:
    """What a plan will take here."""
    return Forecast(Layout(plan, await history_here(settings), known_means(settings, tools), inputs))


def told(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """An estimate in words: a title and what is said under it."""
    yield "time", _between(found["seconds"], lapse)
    if found["elapsed"]["p90"] > 1.01 * found["seconds"]["p90"]:
        yield "elapsed", f"{_between(found['elapsed'], lapse)}, with what is waited for"
    if found["tokens"]["p90"]:
        yield "tokens", f"{_between(found['tokens'], _whole)} in {_between(found['calls'], _whole)} calls"
    if found["usd"]["p90"] or found["unpriced"]:
        yield (
            "cost",
            _between(found["usd"], money) + (", and what nobody knows the price of" if found["unpriced"] else ""),
        )
    if found["megabytes"]["p90"]:
        yield "memory", f"{found['megabytes']['p90']:,.0f} MB at most, as declared"
    yield "at once", f"up to {number_of(round(found['at_once']['p90']), 'attempt')}"
    for each in found["budget"]:
        word = "suffices" if each["suffices"] else "does not suffice"
        yield "budget", f"{each['limit']:g} {each['of']}: {word} for nine of ten runs, who need {each['p90']:,.4g}"
    if found["succeeds"] < 1:
        yield "success", f"in {found['succeeds']:.0%} of the runs; {_whose(found)}"
    yield "basis", _basis(found)


def told_briefly(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Only what it takes, and what that rests on."""
    return ((title, words) for title, words in told(found) if title in {"time", "elapsed", "tokens", "cost", "basis"})


async def left_words(journal: Journal, run: str, now: int) -> str:
    """How far a run is and what is left of it, in words; empty: it has not begun."""
    history = await gather(journal, LOOKED_AT)
    _, pace = await paced(journal, run, history)
    found = pace.progress(now)
    if found is None:
        return ""
    people = "; answers of people come besides" if found.waits else ""
    guess = ", a guess" if found.guess else ""
    return f"{_between(asdict(found.left), lapse)}; {found.fraction:.0%} is done{guess}{people}"


def _between(found: Mapping[str, float], say: Any) -> str:
    low, high = say(found["p50"]), say(found["p90"])
    return f"about {low}" if low == high else f"{low}, nine of ten runs within {high}"


def _whole(amount: float) -> str:
    return f"{amount:,.0f}"


def _whose(found: Mapping[str, Any]) -> str:
    basis: dict[str, int] = found["basis"]
    are = "are" if basis["counted"] == basis["simulated"] else "are not"
    return f"the others {are} counted above"


def _basis(found: Mapping[str, Any]) -> str:
    basis: dict[str, Any] = found["basis"]
    steps: dict[str, int] = basis["steps"]
    words = {"history": "seen before", "declared": "declared", "guess": "guessed"}
    parts = [f"{steps[word]} {told}" for word, told in words.items() if steps[word]]
    runs = f"{number_of(basis['runs'], 'earlier run')} of this plan; " if basis["runs"] else ""
    count = f"steps {', '.join(parts)}" if parts else "no step that acts"
    maps = "".join(f"; {visible(each, 40)} counts as one item" for each in basis["open_ended"][:3])
    return f"{'a guess: ' if found['guess'] else ''}{runs}{count}{maps}"


def lines(forecast: Forecast) -> Iterator[str]:
    """An estimate, for people."""
    found = estimate_document(forecast)
    yield from (f"{title:<8} {visible(words)}" for title, words in told(found))
    yield from (f"hint: {words}" for words in found["advice"])

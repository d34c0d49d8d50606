"""Estimates: what a plan will take, and what that rests on."""

from dataclasses import asdict
from typing import Any

from perdure.estimates.calibration import calibration_of, held_against
from perdure.estimates.capacity import advice, allowances, gains
from perdure.estimates.forecast import Forecast, Range
from perdure.estimates.history import Reader, gather
from perdure.estimates.parts import SECOND
from perdure.ports import Journal


def estimate_document(forecast: Forecast) -> dict[str, Any]:
    """All that is to be said of what a plan will take. Times are in seconds."""
    found = gains(forecast)
    return {
        "schema": "perdure.estimate/1",
        "plan": forecast.layout.plan.hash,
        "goal": forecast.layout.plan.goal,
        "seconds": _range(forecast.worked),
        "elapsed": _range(forecast.took),
        "waiting": _range(forecast.of(lambda each: each.people / SECOND)),
        "tokens": _range(forecast.of(lambda each: each.tokens)),
        "usd": _range(forecast.of(lambda each: each.usd)),
        "unpriced": forecast.unpriced,
        "calls": _range(forecast.of(lambda each: each.calls)),
        "steps": _range(forecast.of(lambda each: each.acts)),
        "megabytes": _range(forecast.of(lambda each: each.megabytes)),
        "at_once": _range(forecast.of(lambda each: each.at_once)),
        "succeeds": round(forecast.succeeds, 4),
        "guess": bool(forecast.guessed or forecast.open_ended),
        "basis": {
            "runs": len(forecast.likeness.runs),
            "steps": {word: forecast.basis[word] for word in ("history", "declared", "guess")},
            "guessed": forecast.guessed,
            "open_ended": forecast.open_ended,
            "simulated": len(forecast.taken),
            "counted": len(forecast.good),
        },
        "budget": [{**asdict(each), "suffices": each.suffices} for each in allowances(forecast)],
        "capacity": [asdict(each) for each in found],
        "advice": list(advice(forecast, found)),
    }


async def calibration_document(journal: Journal) -> dict[str, Any]:
    """How good the estimates of the newest runs were, all together and by plan."""
    history = await gather(journal)
    held = list(held_against(history, Reader(journal).outline))
    plans = dict.fromkeys(each.plan for each in held)
    by_plan = {plan: asdict(calibration_of([each for each in held if each.plan == plan])) for plan in plans}
    return {**asdict(calibration_of(held)), "plans": by_plan}


def _range(found: Range) -> dict[str, float]:
    return {word: round(amount, 6) for word, amount in asdict(found).items()}

"""Chance that is none: numbers derived by hashing, so that a replay draws the same ones."""

import hashlib

from perdure.core.calls import Failure
from perdure.core.state import State
from perdure.plan.model.parts import Retry


def drawn(state: State, step: str, visit: int, attempt: int) -> float:
    """A number from 0 to 1, the same whenever it is asked for."""
    seed = state.started.seed if state.started else 0
    digest = hashlib.sha256(f"{seed}|{step}|{visit}|{attempt}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


def pause_before(draw: float, attempt: int, policy: Retry, failure: Failure | None) -> int:
    """How long to stay away after a try, in milliseconds: longer each time, and not all at once."""
    grown = min(policy.wait * policy.factor ** min(attempt - 1, 1000), policy.max_wait)
    spread = grown * policy.jitter
    pause = grown - spread + spread * draw
    asked = failure.retry_after if failure and failure.retry_after else 0
    return round(max(pause, asked) * 1000)

"""Happenings: what of a run is worth counting, drawing or telling. Each is told when it is over."""

from typing import Literal

import msgspec

What = Literal[
    "started", "run", "activation", "visit", "passed", "attempt", "retry", "rung", "asked", "question", "revision",
    "refusal", "kept", "worked",
]  # fmt: skip
"""`started`, `asked`: somebody has begun a run, or is asked; `run`, `question`: how that ended. `activation`: a run was
at work without a rest. `visit`, `attempt`: of a step. `passed`: a step was not entered. `retry`, `rung`: what was done
about a failure. `revision`, `refusal`: of the plan. `kept`: an effect that could not be taken back. `worked`: an
agent was at its work, as long as the run was at work without a rest."""


class Happening(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that happened in a run."""

    what: What
    run: str
    seq: int
    """The fact that tells it."""
    at: int
    """When it began, in milliseconds; of what was but a moment, the same as its end."""
    till: int
    step: str = ""
    visit: int = 0
    attempt: int = 0
    first: int = 0
    """The fact that tells its beginning."""
    within: int = 0
    """The fact with which the run was at work when it began."""
    inside: tuple[str, int] = ("", 0)
    """The agent whose steps it is one of, by its step and visit."""
    kind: str = ""
    """Of a step: what it calls, or its kind. Of a question, what it is about."""
    name: str = ""
    """What is called, by name; of a revision, who wanted it."""
    exit: str = ""
    """How it ended. An attempt whose process was gone is `lost`, and one that only asked for an approval is `asked`."""
    failure: str = ""
    """The kind of failure; empty: it did not fail."""
    deed: str = "do"
    strategy: str = ""
    """Of the visit of an agent: how it worked."""
    planner: str = ""
    """Who made the plan of the run."""
    tokens: int = 0
    calls: int = 0
    usd: float | None = None
    """None: nobody says what it cost."""
    number: int = 0
    """Of a run that started, the steps in its plan; of one that ended, the visits that were over."""

    @property
    def seconds(self) -> float:
        """How long it took. A clock that was set back makes nothing last less than no time."""
        return max(0, self.till - self.at) / 1000

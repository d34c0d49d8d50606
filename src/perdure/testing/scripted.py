"""A performer that plays by a script: the model, the agent and the tool of a test.

    script = Scripted({"plan": "do it", "work": [Failure("transient", "busy"), 42], "judge": Outcome(exit="approved")})

An answer is a value, a `Failure`, an `Outcome`, a list of these for one attempt after the other (the last one stays),
or a function of the attempt, which may be `async`. A value that is a list itself is written as `Outcome([…])`. An
answer is looked up by the step's key, by its id, and by the name of what is called; what undoes a step, with an
exclamation mark behind it.
"""

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from perdure.core.calls import Failure, Outcome
from perdure.ports import Attempt

__all__ = ["Scripted"]

_NOTHING: Final = object()


class Scripted:
    """Performs by a script, and remembers every attempt in `made`."""

    def __init__(self, script: Mapping[str, Any] | None = None, default: Any = _NOTHING) -> None:
        self.script = dict(script or {})
        self.default = default
        """What everything else gives; left out, it is the failure `unavailable`."""
        self.made: list[Attempt] = []
        """Every attempt, in the order in which they began."""
        self._times: Counter[str] = Counter()

    async def perform(self, attempt: Attempt) -> Outcome:
        """Answer as the script says."""
        self.made.append(attempt)
        name = next((name for name in _names(attempt) if name in self.script), None)
        answer = self.default if name is None else self._next(name)
        if callable(answer):
            answer = answer(attempt)
        if inspect.isawaitable(answer):
            answer = await answer
        return _outcome(answer, attempt)

    def _next(self, name: str) -> Any:
        answer = self.script[name]
        if not isinstance(answer, list):
            return answer
        answers = cast("list[Any]", answer)
        self._times[name] += 1
        return answers[min(self._times[name], len(answers)) - 1]

    def of(self, step: str) -> list[Attempt]:
        """The attempts at a step, by its key or its id."""
        return [attempt for attempt in self.made if step in tuple(_names(attempt))[:2]]


def _names(attempt: Attempt) -> Iterator[str]:
    mark = {"do": "", "undo": "!", "judge": "~"}[attempt.deed]
    yield attempt.step + mark
    yield attempt.step.rpartition(".")[2] + mark
    yield attempt.call.name + mark


def _outcome(answer: Any, attempt: Attempt) -> Outcome:
    match answer:
        case Outcome():
            return answer
        case Failure():
            return Outcome(exit="failure", failure=answer)
        case _ if answer is _NOTHING:
            return Outcome.failed("unavailable", f"the script says nothing about {attempt.step} ({attempt.call.name})")
        case _:
            return Outcome(answer)

"""Performing the calls of models: what is asked is put together, asked once, and read as the step wants it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from perdure.core.calls import Call, Outcome, Usage
from perdure.core.policy import Layer
from perdure.errors import PerdureError
from perdure.models.answering import outcome_of, usage_of
from perdure.models.conversation import Conversations, Forgotten, Thread
from perdure.models.errors import NotNamed
from perdure.models.tiers import Models
from perdure.plan.tokens import FRAME, PIECES, size_of, tokens_in
from perdure.ports import Attempt, Model, ModelFailed, Offer, Request

Offers = Callable[[Sequence[str], tuple[Layer, ...]], Sequence[Offer]]
"""The tools that are meant by some names, as far as rules let them be called."""
USUAL_TOKENS: Final = 2048
"""The most that a model answers with, where nobody says."""
UNASKED: Final = frozenset({"rate_limited", "unavailable", "denied", "invalid"})
"""Failures of which it is known that nothing was answered, so that nothing has to be paid."""


class ModelPerformer:
    """Does what model steps ask for."""

    def __init__(self, models: Models, offers: Offers) -> None:
        self._models: Final = models
        self._offers: Final = offers
        self._conversations: Final = Conversations()

    async def perform(self, attempt: Attempt) -> Outcome:
        """Ask the model, once."""
        try:
            model = self._models.find(attempt.call.name)
        except PerdureError as missing:
            kind = "denied" if isinstance(missing, NotNamed) else "unavailable"
            return Outcome.failed(kind, "; ".join(filter(None, (missing.message, missing.help))))
        try:
            thread = self._conversations.up_to(attempt)
        except Forgotten as lost:
            return Outcome.failed("invalid", str(lost))
        request = self._request(attempt, thread)
        return await self._asked(model, request, thread, attempt)

    async def close(self) -> None:
        """Let go of connections to providers."""
        await self._models.close()

    def _request(self, attempt: Attempt, thread: Thread) -> Request:
        given, held = attempt.call.arguments, thread.held
        tools: Sequence[str] = held.get("tools") or ()
        return Request(
            attempt.call.name,
            thread.remarks,
            str(held.get("instructions", "")),
            self._offers(tools, attempt.layers) if tools else (),
            given.get("returns"),
            tuple(given.get("choices", ())),
            given.get("tokens", USUAL_TOKENS),
            held.get("temperature"),
            attempt.seconds,
            attempt.digest,
        )

    async def _asked(self, model: Model, request: Request, thread: Thread, attempt: Attempt) -> Outcome:
        try:
            async with asyncio.timeout(request.seconds):
                answer = await model.ask(request, Listener(attempt, request.tokens or USUAL_TOKENS))
        except ModelFailed as failed:
            return _not_answered(failed)
        except TimeoutError:
            return Outcome.failed("timeout", "the model took longer than it may")
        return outcome_of(request, answer, thread.form)

    def expected(self, call: Call, said: Mapping[str, float]) -> Mapping[str, float]:
        """What a call may take, with what the plan says of that: all that it is given, and the longest answer."""
        given = call.arguments
        out = float(given.get("tokens", USUAL_TOKENS))
        tokens = said.get("tokens", tokens_in(self._size(given)) + FRAME + out)
        found = {"tokens": tokens, "calls": 1.0, **said}
        usd = self._price(call.name, max(0.0, tokens - out), min(tokens, out))
        return found if usd is None or "usd" in said else {**found, "usd": usd}

    def _size(self, given: Mapping[str, Any]) -> int:
        """How many pieces of tokens a call is given, with what is told of the tools that it offers."""
        offers = self._offers(given["tools"], ()) if given.get("tools") else ()
        return size_of(given) + sum(size_of([each.name, each.description, each.schema]) for each in offers)

    def _price(self, name: str, tokens_in: float, tokens_out: float) -> float | None:
        try:
            return self._models.find(name).price(round(tokens_in), round(tokens_out))
        except PerdureError:
            return None


def _not_answered(failed: ModelFailed) -> Outcome:
    """A failure with what it took: nothing where nothing was answered, and nobody knows where an answer broke off."""
    if failed.answer is not None:
        return Outcome(exit="failure", failure=failed.failure, usage=usage_of(failed.answer))
    is_free = failed.failure.kind in UNASKED and not failed.begun
    return Outcome(exit="failure", failure=failed.failure, usage=Usage(usd=0.0, calls=1) if is_free else None)


class Listener:
    """Tells watchers what a model says while it says it. What is heard is no fact: the answer is."""

    def __init__(self, attempt: Attempt, most: int) -> None:
        self._attempt, self._most, self._heard, self._tail = attempt, most, 0, ""

    def __call__(self, piece: str) -> None:
        """Hear a piece."""
        self._heard += len(piece)
        self._tail = f"{self._tail}{piece}"[-160:]
        share = min(0.99, self._heard / (PIECES * self._most))
        self._attempt.report(share, " ".join(self._tail.split())[-120:])

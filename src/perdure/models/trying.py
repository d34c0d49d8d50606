"""Trying a model out: one small request, and what came of it."""

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any, Final

from perdure.errors import PerdureError
from perdure.models.answering import read_value
from perdure.models.tiers import Models
from perdure.ports import Answer, Model, ModelFailed, Request, Said

WORD: Final = "ready"
SCHEMA: Final = {
    "type": "object",
    "properties": {"word": {"enum": [WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
PROMPT: Final = f'Answer with this JSON and nothing else: {{"word": "{WORD}"}}'
TOKENS: Final = 256
"""The most it may say. Some think before they answer."""
SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Trial:
    """How a model did."""

    name: str
    model: str
    answered: bool = False
    problem: str = ""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    form: str = ""
    """Whether it kept to a schema: `yes`, or what it did instead."""

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


async def tried(models: Models, name: str, model: str) -> Trial:
    """Ask a model once; a second time if its provider takes no schema."""
    try:
        asked = models.find(name)
        return await _tried(asked, name, model)
    except PerdureError as error:
        return Trial(name, model, problem=f"{error.message}; {error.help}")
    except ModelFailed as failed:
        return Trial(name, model, problem=f"{failed.failure.kind}: {failed.failure.message}")
    except TimeoutError:
        return Trial(name, model, problem=f"timeout: it said nothing within {SECONDS:g} seconds")


async def _tried(asked: Model, name: str, model: str) -> Trial:
    request = Request(name, [Said(PROMPT)], returns=SCHEMA, tokens=TOKENS, seconds=SECONDS)
    began = time.monotonic()
    async with asyncio.timeout(SECONDS):
        try:
            answer, note = await asked.ask(request, _unheard), ""
        except ModelFailed as failed:
            if "does not take a schema" not in failed.failure.message:
                raise
            answer, note = await asked.ask(request, _unheard), "only when it is told in the prompt"
    return _trial(name, model, answer, time.monotonic() - began, note)


def _trial(name: str, model: str, answer: Answer, seconds: float, note: str) -> Trial:
    _, wrong = read_value(answer.text, SCHEMA)
    form = f"no: {wrong[0]}" if wrong else note or "yes"
    seconds = round(seconds, 3)
    return Trial(name, model, True, "", seconds, answer.tokens_in, answer.tokens_out, answer.usd, form)  # noqa: FBT003  it has


def _unheard(_: str) -> None:
    """Nobody listens."""

"""What is said to an agent and of it: its task, its answer, what was taken for it, and why it has stopped."""

from collections.abc import Mapping
from typing import Any

from pydantic_ai import UsageLimitExceeded, UserError
from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_core import PydanticSerializationError, to_jsonable_python

from perdure.agents.adapted.tier import PRICE
from perdure.core.calls import Usage
from perdure.errors import PerdureError
from perdure.models.answering import written
from perdure.models.places import Place
from perdure.tools import ToolFailure


def prompt_of(given: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """What it is to do, what it is given for that, and what was done before."""
    told = "\n".join(f"{name}: {written(value)}" for name, value in facts.items())
    shown = written(given["context"]) if given.get("context") else ""
    parts = [str(given["task"])]
    parts += [f"What you are given:\n{told}"] if told else []
    parts += [f"What was done before, the newest first:\n{shown}"] if shown else []
    return "\n\n".join(parts)


def answer_of(output: Any) -> Any:
    """What it gave, as JSON."""
    try:
        return to_jsonable_python(output)
    except PydanticSerializationError as error:
        raise ToolFailure("invalid", f"the agent's answer is not JSON: {error}") from None


def usage_of(output: Mapping[str, Any]) -> Usage:
    """What a question took."""
    used: Mapping[str, Any] = output.get("usage") or {}
    tokens = int(used.get("input_tokens", 0)) + int(used.get("output_tokens", 0))
    return Usage(tokens=tokens, usd=output["usd"], calls=1)


def price_of(response: ModelResponse) -> float | None:
    """What a question cost; None: nobody knows."""
    details = response.provider_details or {}
    if PRICE in details:
        return details[PRICE]
    try:
        return float(response.cost().total_price)
    except (AssertionError, LookupError, ValueError):
        return None


def likely_price(model: Model | str, tokens_in: int, tokens_out: int) -> float | None:
    """What a question would cost, by the name of the model; None: nobody knows."""
    from perdure.models.prices import price_of as listed  # noqa: PLC0415  it has a list of all prices

    provider, _, name = model.partition(":") if isinstance(model, str) else (model.system, "", model.model_name)
    return listed(Place(provider), name, tokens_in, tokens_out)


def failure_of(error: Exception) -> ToolFailure:
    """Why an agent has stopped."""
    match error:
        case ToolFailure():
            return error
        case PerdureError():
            told = "; ".join(filter(None, (f"{error.code}: {error.message}", error.help)))
            return ToolFailure("invalid", told)
        case UsageLimitExceeded():
            return ToolFailure("budget", f"the agent has limits of its own: {error}")
        case UnexpectedModelBehavior():
            return ToolFailure("logic", f"the agent gave up on its model: {error}")
        case UserError() | AgentRunError():
            return ToolFailure("invalid", f"the agent cannot work so: {error}")
        case _:
            return ToolFailure("unknown", f"the agent broke: {type(error).__name__}: {error}")

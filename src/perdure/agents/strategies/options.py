"""The options of an agent, as its strategy reads them."""

from typing import ClassVar, TypeVar

from pydantic import ValidationError

from perdure.agents.agent import Agent
from perdure.errors import PerdureError
from perdure.plan.model.parts import Part
from perdure.plan.sayings import sentence

P = TypeVar("P", bound=Part)


class OptionsError(PerdureError):
    """An agent has options that its strategy cannot go by."""

    code: ClassVar[str] = "PRD4020"


def options_of(agent: Agent, kind: type[P]) -> P:
    """What an agent says about how it works; `OptionsError` if its strategy cannot go by that."""
    try:
        return kind.model_validate(agent.options)
    except ValidationError as error:
        wrong = "; ".join(sentence(each) for each in error.errors(include_url=False)[:5])
        known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
        raise OptionsError(f"the options of agent {agent.name!r}: {wrong}", f"they may be: {known}") from None

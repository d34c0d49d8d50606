"""The options of an agent, as its strategy reads them."""

from typing import ClassVar, Final, TypeVar

from pydantic import ValidationError

from perdure.agents.agent import Agent
from perdure.errors import PerdureError
from perdure.plan.model.parts import Part
from perdure.plan.raw import is_mapping
from perdure.plan.sayings import sentence

P = TypeVar("P", bound=Part)
OTHERS: Final = frozenset({"draft", "follow", "meta", "plan", "react", "reflexion", "sample", "single", "tree"})
"""Names under which the options of other strategies stand."""


class OptionsError(PerdureError):
    """An agent has options that its strategy cannot go by."""

    code: ClassVar[str] = "PRD4110"


def options_of(agent: Agent, strategy: str, kind: type[P]) -> P:
    """What an agent says about a way of working; `OptionsError` if that cannot be gone by.

    The options of an agent are those of its own strategy. Where it works by another, they stand under that one's name.
    """
    given = agent.options if agent.strategy == strategy else agent.options.get(strategy, {})
    if not is_mapping(given):
        told = f"the options of agent {agent.name!r}: what stands under {strategy!r} is {given!r:.80}"
        raise OptionsError(told, "write a mapping, from options to their values")
    own = {name: value for name, value in given.items() if name in kind.model_fields or name not in OTHERS}
    try:
        return kind.model_validate(own)
    except ValidationError as error:
        wrong = "; ".join(sentence(each) for each in error.errors(include_url=False)[:5])
        known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
        raise OptionsError(f"the options of agent {agent.name!r}: {wrong}", f"they may be: {known}") from None

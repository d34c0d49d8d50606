"""Models of providers, by `provider:model`."""

from perdure.models.tiers import NoModel
from perdure.ports import Model


def model_by_name(name: str) -> Model:
    """A model by its name. `NoModel` if nobody here knows how to reach it."""
    raise NoModel(f"there is no provider for {name!r}", "pip install 'perdure[llm]'")

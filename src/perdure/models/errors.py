"""What can be wrong before a model is asked anything."""

from typing import ClassVar

from perdure.errors import PerdureError


class NoModel(PerdureError):
    """A model is wanted, and there is none."""

    code: ClassVar[str] = "PRD4001"
    exit_code: int = 6


class NoKey(NoModel):
    """A provider wants a key, and there is none in the environment."""

    code: ClassVar[str] = "PRD4002"


class NotNamed(NoModel):
    """A plan asks a provider that its user did not name: nothing is sent there."""

    code: ClassVar[str] = "PRD4003"

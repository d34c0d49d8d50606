"""What can be wrong with an agent that another framework has made."""

from typing import ClassVar

from perdure.errors import PerdureError


class NotAdapted(PerdureError):
    """An agent cannot be given to plans as it is."""

    code: ClassVar[str] = "PRD4120"
    exit_code: int = 6


class Changed(PerdureError):
    """An agent does not do again what it has done before, so its work cannot be gone on with."""

    code: ClassVar[str] = "PRD4121"

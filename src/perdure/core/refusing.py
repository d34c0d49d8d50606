"""Why a message is not taken. Whoever sent it is told, and nothing has changed."""

from collections.abc import Sequence
from typing import ClassVar

from perdure.errors import PerdureError
from perdure.plan.problems import TOLD, Problem


class Refused(PerdureError):
    """A message does not fit the run as it is."""

    code: ClassVar[str] = "PRD3001"


class Over(Refused):
    """The run is over."""

    code: ClassVar[str] = "PRD3002"


class Stale(Refused):
    """What is told about an attempt came too late, or was never asked for."""

    code: ClassVar[str] = "PRD3003"


class NoQuestion(Refused):
    """There is no such question, or it is not open any more."""

    code: ClassVar[str] = "PRD3004"
    exit_code: int = 3


class Answered(NoQuestion):
    """Somebody has answered before. Whoever says the same again is refused too, and need not mind."""

    code: ClassVar[str] = "PRD3008"
    exit_code: int = 3
    same: bool = False
    """Whether it is the same answer by the same person."""


class BadAnswer(Refused):
    """The answer does not fit the question."""

    code: ClassVar[str] = "PRD3005"
    exit_code: int = 2


class NoStep(Refused):
    """There is no such step, or it is not live."""

    code: ClassVar[str] = "PRD3006"
    exit_code: int = 3


class TooManySignals(Refused):
    """Too many signals wait to be taken."""

    code: ClassVar[str] = "PRD3007"


class NotRevised(Refused):
    """The plan of a run cannot be revised so. Nothing has changed."""

    code: ClassVar[str] = "PRD3010"
    exit_code: int = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        told = "; ".join(f"{each.code} {each.message} (help: {each.help})" for each in problems[:TOLD])
        more = f"; and {len(problems) - TOLD} more" if len(problems) > TOLD else ""
        super().__init__(f"the plan is as it was: {told}{more}", "repair the edits, and send them again")


class NotMapped(Refused):
    """Names cannot be mapped so. Nothing has changed."""

    code: ClassVar[str] = "PRD3011"
    exit_code: int = 2


class OtherRevision(Refused):
    """Edits were made for another revision of the plan."""

    code: ClassVar[str] = "PRD3009"

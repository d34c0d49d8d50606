"""Why there is no plan from contracts."""

from collections.abc import Sequence
from typing import ClassVar

from perdure.errors import PerdureError
from perdure.plan.problems import TOLD, Problem


class ContractsError(PerdureError):
    """The contracts cannot be used. `problems` holds every reason."""

    code: ClassVar[str] = "PRD4301"
    exit_code: int = 6

    def __init__(self, problems: Sequence[Problem]) -> None:
        told = [str(problem) for problem in problems[:TOLD]]
        if len(problems) > TOLD:
            told.append(f"and {len(problems) - TOLD:,} more")
        super().__init__("\n".join(told))
        self.problems = tuple(problems)


class TooManyWays(PerdureError):
    """There are more ways to do the actions, with all the objects, than anybody looks through."""

    code: ClassVar[str] = "PRD4302"


class NoPlan(PerdureError):
    """Nothing that can be done leads to what is wanted, or nobody has found how."""

    code: ClassVar[str] = "PRD4303"

"""Why there is no plan from contracts."""

from typing import ClassVar

from perdure.errors import PerdureError
from perdure.plan.problems import HasProblems


class ContractsError(HasProblems):
    """The contracts cannot be used."""

    code: ClassVar[str] = "PRD4301"


class TooManyWays(PerdureError):
    """There are more ways to do the actions, with all the objects, than anybody looks through."""

    code: ClassVar[str] = "PRD4302"


class NoPlan(PerdureError):
    """Nothing that can be done leads to what is wanted, or nobody has found how."""

    code: ClassVar[str] = "PRD4303"

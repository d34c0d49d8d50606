"""The planner from contracts: what tools and steps require and change is enough to find an order for them.

`read_contracts` and `load_contracts` read the document, `plan_from_contracts` finds the plan.
"""

from perdure.agents.contracts.document import Action as Action
from perdure.agents.contracts.document import Contracts as Contracts
from perdure.agents.contracts.errors import ContractsError as ContractsError
from perdure.agents.contracts.errors import NoPlan as NoPlan
from perdure.agents.contracts.errors import TooManyWays as TooManyWays
from perdure.agents.contracts.planning import Planned as Planned
from perdure.agents.contracts.planning import plan_from_contracts as plan_from_contracts
from perdure.agents.contracts.reading import contracts_of as contracts_of
from perdure.agents.contracts.reading import load_contracts as load_contracts
from perdure.agents.contracts.reading import read_contracts as read_contracts

"""Resources: runs, their facts and their plans, whole and as they are kept."""

import json
from typing import Any, ClassVar

from mcp.server.mcpserver import MCPServer

from perdure.documents.listing import open_questions, runs_document
from perdure.documents.owning import is_interrupted
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.errors import PerdureError
from perdure.mcp.plans import Document
from perdure.mcp.reach import Reach
from perdure.mcp.refusing import as_resource
from perdure.plan.model.recalling import recalled
from perdure.ports import Entry, JournalError

JSON = "application/json"
PAGE = 50
FACTS = 1_000


class NoPlan(PerdureError):
    """There is no plan of this hash."""

    code: ClassVar[str] = "PRD6053"
    exit_code: int = 3


class Resources:
    """What can be read. The key of a caller needs no more than the scope to read, which each has."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    @as_resource
    async def runs(self) -> Document:
        """The newest runs."""
        async with self._reach.journal() as journal:
            found = await journal.runs(None, None, PAGE)
            return runs_document(found, await open_questions(journal), None, self._reach.owner())

    @as_resource
    async def run(self, run: str) -> Document:
        """All that is known of a run."""
        async with self._reach.journal() as journal:
            view = await View.of(journal, (await journal.run(run)).id)
            return run_document(view, interrupted=is_interrupted(view.status, self._reach.owner()))

    @as_resource
    async def facts(self, run: str) -> Document:
        """The first facts of a run."""
        return await self.facts_after(run, 0)

    @as_resource
    async def facts_after(self, run: str, after: int) -> Document:
        """The facts of a run after one of them."""
        async with self._reach.journal() as journal:
            id_ = (await journal.run(run)).id
            facts = await journal.read(id_, after, FACTS)
        more = facts[-1].seq if len(facts) == FACTS else None
        return {"schema": "perdure.facts/1", "run": id_, "facts": [_fact(each) for each in facts], "next": more}

    @as_resource
    async def plan_of(self, run: str) -> Document:
        """The plan of a run as it is now, with all its revisions."""
        async with self._reach.journal() as journal:
            view = await View.of(journal, (await journal.run(run)).id)
            return dict(view.plan.canonical())

    @as_resource
    async def plan(self, hash: str) -> Document:  # noqa: A002  the word of the address
        """A plan by its hash."""
        async with self._reach.journal() as journal:
            try:
                return dict(recalled(await journal.artifact(hash.removeprefix("sha256:"))).canonical())
            except (JournalError, ValueError, TypeError, KeyError) as error:
                raise NoPlan(f"there is no plan {hash}", "a run says which plan it has: perdure_show") from error


def offer_resources(server: MCPServer[Any], reach: Reach) -> None:
    """Have a server offer them."""
    known = Resources(reach)
    for address, name, read in (
        ("perdure://runs", "runs", known.runs),
        ("perdure://runs/{run}", "run", known.run),
        ("perdure://runs/{run}/facts", "facts", known.facts),
        ("perdure://runs/{run}/facts/{after}", "facts after", known.facts_after),
        ("perdure://runs/{run}/plan", "plan of a run", known.plan_of),
        ("perdure://plans/{hash}", "plan", known.plan),
    ):
        server.resource(address, name=name, description=read.__doc__, mime_type=JSON)(read)


def _fact(entry: Entry) -> Document:
    return {"seq": entry.seq, "type": entry.type, "at": entry.at, "body": json.loads(entry.body)}

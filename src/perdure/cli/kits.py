"""What kits bring along: tools and agents for every run here, and their own words about runs of theirs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from perdure.engine import View
from perdure.ports import Journal
from perdure.tools import BUILTIN, AnyTool
from perdure.tools.builtin import HANDS

if TYPE_CHECKING:
    from perdure.agents.agent import Agent
    from perdure.kits.coding.report import Report

KIT: Final = "kit"
"""Where the meta of a plan says whose it is."""


def kit_tools() -> tuple[AnyTool, ...]:
    """The tools of all kits."""
    from perdure.kits.coding.tools import TOOLS  # noqa: PLC0415  a command that carries nothing out needs none

    return TOOLS


def provided() -> tuple[AnyTool, ...]:
    """All tools that come with it."""
    return (*BUILTIN, *HANDS, *kit_tools())


def kit_agents() -> "Iterable[Agent]":
    """The agents of all kits."""
    from perdure.kits.coding.agents import agents  # noqa: PLC0415  as above

    return agents()


async def kit_words(journal: Journal, view: View) -> str | None:
    """What a kit says of a run of its own, as far as it came; None: it is nobody's."""
    from perdure.kits.coding.report import markdown  # noqa: PLC0415  few runs are theirs

    found = await _report(journal, view)
    return None if found is None else markdown(found)


async def kit_document(journal: Journal, view: View) -> dict[str, Any] | None:
    """The same as plain data."""
    found = await _report(journal, view)
    return None if found is None else found.as_json()


async def _report(journal: Journal, view: View) -> "Report | None":
    if view.plan.meta.get(KIT) != "coding":
        return None
    from perdure.engine import history  # noqa: PLC0415  few runs are theirs
    from perdure.kits.coding.report import is_told, report  # noqa: PLC0415  as above

    return report(view.result, await history(journal, view.run, is_told))

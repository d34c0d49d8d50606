"""What kits bring along: tools and agents for every run here, and their own words about runs of theirs."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from perdure.cli.telling import clock, line_of
from perdure.core.events import Event
from perdure.engine import View, visit_of
from perdure.plan.visible import visible
from perdure.ports import Entry, Journal
from perdure.tools import BUILTIN, AnyTool
from perdure.tools.builtin import HANDS

if TYPE_CHECKING:
    from perdure.agents.agent import Agent
    from perdure.kits.coding.report import Report

KIT: Final = "kit"
"""Where the meta of a plan says whose it is."""
_ALWAYS: Final = ("run_", "question_", "revision_", "attempt_lost", "effect_kept", "names_", "signal_")
"""How facts begin that are told of every run, whoever else has words for it."""


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
    if not _is_coding(view):
        return None
    from perdure.kits.coding.report import markdown  # noqa: PLC0415  few runs are theirs

    return markdown(await _report(journal, view))


async def kit_document(journal: Journal, view: View) -> dict[str, Any] | None:
    """The same as plain data."""
    return (await _report(journal, view)).as_json() if _is_coding(view) else None


async def _report(journal: Journal, view: View) -> "Report":
    from perdure.engine import history  # noqa: PLC0415  few runs are theirs
    from perdure.kits.coding.report import is_told, report  # noqa: PLC0415  as above

    return report(view.result, await history(journal, view.run, is_told))


def lines_of(view: View, entry: Entry, event: Event) -> Iterator[str]:
    """The fact that a view has just taken, in lines: of a run of a kit, only what there is to say; else each fact."""
    if not _is_coding(view) or event.type.startswith(_ALWAYS):
        yield line_of(entry, event)
    else:
        yield from news_of(view, entry, event)


def news_of(view: View, entry: Entry, event: Event) -> Iterator[str]:
    """What a kit has to say of that fact, in lines: mostly nothing, and of runs of nobody's never anything."""
    if not _is_coding(view):
        return
    from perdure.kits.coding.telling import is_named, told  # noqa: PLC0415  few runs are theirs

    visit = visit_of(view, entry, event, is_named)
    yield from (f"{clock(entry.at)}  {visible(line)}" for line in (told(visit) if visit else ()))


def _is_coding(view: View) -> bool:
    return view.plan.meta.get(KIT) == "coding"

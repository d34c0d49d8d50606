"""How a run looks to somebody who follows it: a tree that moves, a line for each fact, JSON, or nothing."""

import sys
import time
from typing import TYPE_CHECKING, Any, Final, Protocol

import click

from perdure.cli.kits import lines_of, news_of
from perdure.cli.printing import console
from perdure.cli.rows import Row, frame, heading
from perdure.cli.telling import as_line
from perdure.core import events as e
from perdure.engine import View
from perdure.plan.visible import lapse
from perdure.ports import Entry, Journal

if TYPE_CHECKING:
    from perdure.estimates.progress import Pace

FRAME: Final = 0.25
"""Seconds between two pictures."""
EARLIER, EARLIER_FACTS = 50, 5_000
"""So many earlier runs are enough to say how long another one will take; reading them must not be felt."""
_MARGIN: Final = 4
"""Lines of a terminal that are left for other things."""


class Screen(Protocol):
    """Where a run is shown."""

    async def begin(self, journal: Journal) -> None:
        """The first fact is about to come."""
        ...

    def passed(self, event: e.Event) -> None:
        """A fact has come, also one that was shown before."""
        ...

    def told(self, entry: Entry, event: e.Event) -> None:
        """A fact has come that was not shown before."""
        ...

    def paint(self, view: View) -> None:
        """This is how the run stands now; called a few times a second."""
        ...

    def close(self, view: View) -> None:
        """This is the last that will be shown."""
        ...


class Silent:
    """Shows nothing."""

    async def begin(self, journal: Journal) -> None:
        """Prepare nothing."""

    def passed(self, event: e.Event) -> None:
        """Note nothing."""

    def told(self, entry: Entry, event: e.Event) -> None:
        """Say nothing."""

    def paint(self, view: View) -> None:
        """Show nothing."""

    def close(self, view: View) -> None:
        """Do nothing."""


class Lines(Silent):
    """A line for each fact, on standard error; of a run of a kit, a line for what people want to know."""

    def __init__(self, view: View) -> None:
        self._view = view

    def told(self, entry: Entry, event: e.Event) -> None:
        """Say it."""
        for line in lines_of(self._view, entry, event):
            click.echo(line, err=True)


class JsonLines(Silent):
    """Every fact as a line of JSON, on standard output."""

    def told(self, entry: Entry, event: e.Event) -> None:  # noqa: ARG002  the bytes are handed on
        """Print it at once: somebody may be waiting for it."""
        click.echo(as_line(entry))


class LiveTree(Silent):
    """A tree of steps that moves, on a terminal; above it stands what people want to know of a run of a kit."""

    def __init__(self, view: View) -> None:
        from rich.live import Live  # noqa: PLC0415  only for somebody who watches

        self._console = console(err=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=False, vertical_overflow="crop")
        self._painted, self._view = 0.0, view
        self._pace: Pace | None = None
        self._live.start()

    async def begin(self, journal: Journal) -> None:
        """Look at what earlier runs took, so that it can be told how long this one will take."""
        from perdure.estimates.history import gather  # noqa: PLC0415  as above
        from perdure.estimates.progress import Pace  # noqa: PLC0415  as above

        self._pace = Pace(self._view.state, await gather(journal, EARLIER, EARLIER_FACTS))

    def passed(self, event: e.Event) -> None:
        """It counts for how far the run is."""
        if self._pace is not None:
            self._pace.see(event)

    def told(self, entry: Entry, event: e.Event) -> None:
        """Say it above the tree."""
        for line in news_of(self._view, entry, event):
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def paint(self, view: View) -> None:
        """Draw the run, but not more often than people see."""
        if time.monotonic() - self._painted >= FRAME:
            self._live.update(self._picture(view), refresh=True)
            self._painted = time.monotonic()

    def _picture(self, view: View) -> Any:
        from rich.console import Group  # noqa: PLC0415  as above
        from rich.text import Text  # noqa: PLC0415  as above

        found = frame(view, max(3, self._console.height - _MARGIN))
        return Group(
            Text(heading(view, left=self._left()), "bold", no_wrap=True, overflow="ellipsis"), *map(_line, found)
        )

    def _left(self) -> str:
        found = None if self._pace is None else self._pace.progress(int(time.time() * 1000))
        return "" if found is None or not found.left.p90 else f"{lapse(found.left.p50)} left, {found.fraction:.0%} done"

    def close(self, view: View) -> None:
        """Leave the last picture where it is."""
        self._live.update(self._picture(view), refresh=True)
        self._live.stop()


def _line(row: Row) -> Any:
    from rich.text import Text  # noqa: PLC0415  as above

    text = Text("  " * row.depth, no_wrap=True, overflow="ellipsis")
    return text.append(f"{row.mark} ", row.style).append(row.name, "bold").append(f"  {row.words}", "default")


def screen_for(view: View, *, as_json: bool = False, jsonl: bool = False) -> Screen:
    """The form that fits where the words about a run go."""
    if jsonl:
        return JsonLines()
    if as_json:
        return Silent()
    return LiveTree(view) if sys.stderr.isatty() else Lines(view)

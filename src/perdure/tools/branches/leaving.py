"""Which branches nobody needs any more."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from perdure.tools.branches.branch import BRANCHES, CLOSED, GONE, NEW, recorded
from perdure.tools.remaining import Remaining


def left_by(state: Path, remaining: Remaining) -> Iterator[Path]:
    """Branches of runs that are no more, and what was never finished, or never quite removed."""
    for place in (state / BRANCHES).glob("*/"):
        with suppress(FileNotFoundError):  # somebody has just removed it
            written = place.stat().st_mtime
            if place.suffix in {NEW, GONE} and written < remaining.before:
                yield place
            elif place.suffix in {"", CLOSED}:
                branch = recorded(place)
                if not remaining.needs(branch.run if branch else "", written):
                    yield place

"""Moments: how a time is written in a document."""

from datetime import UTC, datetime, timedelta
from typing import Final

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(milliseconds: int | None) -> str | None:
    """A time as ISO 8601 with its offset; None for none, and for one that no calendar has."""
    try:
        return None if milliseconds is None else (_BEGINNING + timedelta(milliseconds=milliseconds)).isoformat()
    except OverflowError:
        return None

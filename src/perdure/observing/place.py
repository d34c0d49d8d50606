"""A place: how far somebody has looked at a journal, kept beside it, so that nothing is told twice after a restart."""

import logging
import os
from pathlib import Path
from typing import Any, Final

import msgspec

from perdure.plan.raw import is_mapping

_SUFFIX: Final = ".observed"
_HANDS: Final = ".hands"
_log: Final = logging.getLogger("perdure.observing")


def directory_beside(state: Path | None) -> Path | None:
    """Where places are kept, beside a journal and what its hands keep; None: nothing outlives the journal either."""
    return state.with_suffix(_SUFFIX) if state is not None and state.suffix == _HANDS else None


class Place:
    """A file with a number in it, and what belongs to that. Whoever loses it begins again from the start."""

    def __init__(self, path: Path | None) -> None:
        self._path: Final = path
        self._complained = False

    def read(self) -> dict[str, Any]:
        """What was noted; empty: nothing, or nothing that can be read."""
        try:
            found: Any = msgspec.json.decode(self._path.read_bytes()) if self._path is not None else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return {str(word): value for word, value in found.items()} if is_mapping(found) else {}

    def write(self, data: dict[str, Any]) -> None:
        """Note it, whole or not at all. It follows from the journal, so it may be lost on a full disk."""
        if self._path is None:
            return
        draft = self._path.with_name(f"{self._path.name}.new")
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            draft.write_bytes(msgspec.json.encode(data))
            os.replace(draft, self._path)  # noqa: PTH105  as its neighbours in the journal
        except OSError as error:
            if not self._complained:
                self._complained = True
                _log.warning("what was counted cannot be noted in %s: %s", self._path.parent, error)

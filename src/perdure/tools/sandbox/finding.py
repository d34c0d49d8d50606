"""What a command has given and changed, remembered from its end until its changes are carried over."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from perdure.tools.changes import ChangeSet
from perdure.tools.changes.durable import make_private, write_durably

FOUND: Final = "found"
"""Where it is, in the engine's own place."""


class Found(msgspec.Struct, frozen=True):
    """What a command has given and changed."""

    output: dict[str, Any]
    changes: ChangeSet
    run: str = ""
    """Whose it is: it stays for as long as that run can go on."""


class Findings:
    """A directory `found` in the engine's own place: a file for each deed."""

    def __init__(self, state: Path, key: str) -> None:
        self._directory: Final = state / FOUND
        self._path: Final = self._directory / f"{sha256(key.encode()).hexdigest()[:32]}.json"

    def get(self) -> Found | None:
        """What an earlier try at the same deed has found; None if there was none that came so far."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Found)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def put(self, found: Found) -> None:
        """Remember it, durably."""
        make_private(self._directory)
        write_durably(self._path, msgspec.json.encode(found))

    def forget(self) -> None:
        """It was refused, so the next try finds out anew."""
        self._path.unlink(missing_ok=True)

"""What is about to be changed, written down before it is; and what came of it, so that nothing is done twice."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from perdure.tools.changes.durable import make_private, sync_directory, write_durably
from perdure.tools.changes.sets import ChangeSet
from perdure.tools.failure import ToolFailure

Stage = Literal["begun", "placed", "done"]
"""`begun`: each file is as before or as after. `placed`: all are as after, but for tidying up."""


INTENTS: Final = "changes/intents"


class Intent(msgspec.Struct, frozen=True):
    """A change set on its way."""

    set: str
    stage: Stage
    changes: ChangeSet
    output: dict[str, Any]
    """What the step gives when it is done."""
    run: str = ""
    """Whose it is: it stays for as long as that run can be taken back."""


def set_of(key: str) -> str:
    """The name of the set that belongs to a key."""
    return sha256(key.encode()).hexdigest()[:32]


class Intents:
    """A directory `changes/intents` in the engine's own place: a file for each set. Its owner holds the lock."""

    def __init__(self, state: Path) -> None:
        self._directory: Final = state / INTENTS
        make_private(self._directory)

    def get(self, name: str) -> Intent | None:
        """The intent of this name, if there is one."""
        try:
            return msgspec.json.decode(self._path(name).read_bytes(), type=Intent)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            raise ToolFailure("in_doubt", f"what was written down about this step cannot be read: {error}") from None

    def write(self, intent: Intent) -> Intent:
        """Remember it, durably."""
        write_durably(self._path(intent.set), msgspec.json.encode(intent))
        return intent

    def forget(self, name: str) -> None:
        """Nothing came of it."""
        self._path(name).unlink(missing_ok=True)
        sync_directory(self._directory)

    def sweep(self) -> None:
        """Remove drafts. Who holds the lock is the only one who writes, so nobody will finish them."""
        for draft in self._directory.glob("*.new"):
            draft.unlink()

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.json"

"""Which definitions a person has approved. The file is the user's own, and only the user can change it."""

import fcntl
import json
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from perdure.plan.raw import Raw, is_mapping
from perdure.tools.mcp.definition import Definition, Offer
from perdure.tools.mcp.errors import BadPins

SCHEMA: Final = "perdure.mcp-pins/1"
LARGEST: Final = 64 * 1024 * 1024
HELP: Final = "move it away; then approve the servers anew"
Standing = Literal["approved", "new", "changed"]


@dataclass(frozen=True, slots=True)
class Pin:
    """One tool: what was approved of it, and what its server offers where that is something else."""

    approved: Definition | None = None
    offered: Definition | None = None

    @property
    def standing(self) -> Standing:
        """Whether it may be called."""
        if self.approved is None:
            return "new"
        return "approved" if self.offered is None else "changed"

    @property
    def latest(self) -> Definition | None:
        """What its server last said of it."""
        return self.offered or self.approved

    def seen(self, offered: Definition) -> "Pin":
        """The pin after its server was asked."""
        same = self.approved is not None and self.approved.digest == offered.digest
        return replace(self, offered=None if same else offered)


Pinned = dict[str, dict[str, Pin]]
"""Pins by server and by the name that plans use."""


@dataclass
class Pins:
    """The file of pins. It is read again when it has changed: a person may approve while a run is under way."""

    path: Path
    _stamp: tuple[int, ...] = ()
    _pinned: Pinned = field(default_factory=dict[str, dict[str, Pin]])

    def of(self, server: str) -> Mapping[str, Pin]:
        """What is known of the tools of a server."""
        self._refresh()
        return self._pinned.get(server, {})

    def pin(self, server: str, tool: str) -> Pin:
        """What is known of a tool."""
        return self.of(server).get(tool) or Pin()

    def knows(self, server: str) -> bool:
        """Whether the server was ever asked for its tools."""
        self._refresh()
        return server in self._pinned

    def see(self, server: str, offer: Offer) -> None:
        """Note what a server offers, which approves nothing. What is gone and was not approved is forgotten."""
        before = self.of(server)
        after = {name: (before.get(name) or Pin()).seen(each) for name, each in offer.tools.items()}
        gone = {name: pin for name, pin in before.items() if name not in after and pin.approved is not None}
        if not self.knows(server) or {**gone, **after} != dict(before):
            with self._changing():
                self._pinned[server] = {**gone, **after}

    def approve(self, server: str, definitions: Mapping[str, Definition]) -> None:
        """Approve exactly these definitions."""
        with self._changing():
            known = self._pinned.setdefault(server, {})
            for name, definition in definitions.items():
                known[name] = Pin(approved=definition)

    # ------------------------------------------------------------ the file

    def _refresh(self) -> None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._pinned = (), {}
            return
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._stamp:
            self._stamp, self._pinned = stamp, _read(self.path)

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Change what is there now, not what was there when we last looked; whole or not at all."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self.path.with_name(f"{self.path.name}.lock")):
            self._refresh()
            yield
            _write(self.path, self._pinned)
            self._stamp = ()


@contextmanager
def _locked(path: Path) -> Generator[None]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write(path: Path, pinned: Pinned) -> None:
    text = json.dumps({"schema": SCHEMA, "servers": dict(_plain(pinned))}, indent=1, sort_keys=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        fresh.unlink()
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _plain(pinned: Pinned) -> Iterator[tuple[str, Any]]:
    for server, tools in pinned.items():
        yield server, {name: dict(_sides(pin)) for name, pin in tools.items()}


def _sides(pin: Pin) -> Iterator[tuple[str, Any]]:
    for side, definition in (("approved", pin.approved), ("offered", pin.offered)):
        if definition is not None:
            yield side, {"sha256": definition.digest, "definition": definition.data}


def _read(path: Path) -> Pinned:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise BadPins(f"{path} cannot be read: {error.strerror}", "look at its permissions") from error
    if found.st_uid not in (0, os.geteuid()) or stat.S_IMODE(found.st_mode) & 0o022:
        raise BadPins(f"others can change {path}, so nothing in it is an approval of yours", f"chmod 600 {path}")
    try:
        return _pinned_in(json.loads(data))
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise BadPins(f"{path} is damaged: {error}", HELP) from error


def _pinned_in(raw: Raw) -> Pinned:
    if not is_mapping(raw) or raw.get("schema") != SCHEMA:
        raise ValueError(f"it does not say {SCHEMA}")
    return {server: dict(_pins_in(tools.items())) for server, tools in raw["servers"].items()}


def _pins_in(tools: Iterable[tuple[str, Raw]]) -> Iterator[tuple[str, Pin]]:
    for name, sides in tools:
        yield name, Pin(**{side: _definition_in(sides[side]) for side in ("approved", "offered") if side in sides})


def _definition_in(raw: Raw) -> Definition:
    """A definition that was stored; one that is not what was hashed is no approval."""
    found = Definition(raw["definition"])
    if found.digest != raw["sha256"]:
        raise ValueError(f'"{found.name}" is not what was approved')
    return found

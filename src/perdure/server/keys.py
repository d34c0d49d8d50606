"""Keys: who may ask what over HTTP. They stand in a file beside the journal, and there only as hashes."""

import fcntl
import hmac
import os
import re
import secrets
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Final, Literal

import msgspec

from perdure.errors import PerdureError
from perdure.plan.problems import did_you_mean
from perdure.server.callers import Caller
from perdure.server.scopes import ALL, Scope
from perdure.tools.changes.durable import locked, make_private, write_durably

SCHEMA: Final = "perdure.keys/1"
SUFFIX: Final = ".keys"
"""What the name of the journal is followed by; `engine.reaching` keeps it from tools."""
LARGEST: Final = 1_000_000
LOOKS_LIKE: Final = re.compile(r"prd_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")
"""A key: its id, and 256 bits that were drawn by lot."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_NOBODYS: Final = "0" * 64


class BadKeys(PerdureError):
    """The file of keys cannot be believed."""

    code: ClassVar[str] = "PRD6033"
    exit_code: int = 6


class NoSuchKey(PerdureError):
    """A key cannot be made or found by this name."""

    code: ClassVar[str] = "PRD6034"
    exit_code: int = 2


class Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept of a key."""

    id: str
    name: str
    """Whoever has it; what they answer is answered by this name."""
    scopes: tuple[Scope, ...]
    digest: str
    created: int
    """Milliseconds since 1970."""
    expires: int | None = None

    def is_over(self, now: int) -> bool:
        """Whether it opens nothing any more."""
        return self.expires is not None and now >= self.expires


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: Literal["perdure.keys/1"]
    keys: tuple[Key, ...]


@dataclass
class Keys:
    """The file. It is read again when it has changed, so that a key is gone as soon as somebody takes it back."""

    path: Path
    _stamp: tuple[int, ...] = ()
    _kept: dict[str, Key] = field(default_factory=dict[str, Key])

    def all(self) -> list[Key]:
        """Every key, in the order in which they were made."""
        self._refresh()
        return list(self._kept.values())

    def caller(self, secret: str, now: int) -> Caller | None:
        """Whose key this is; None if nobody's. It takes the same time whichever letter is wrong."""
        self._refresh()
        known = self._kept.get(secret[4:12]) if LOOKS_LIKE.fullmatch(secret) else None
        is_right = hmac.compare_digest(digest_of(secret), known.digest if known else _NOBODYS)
        if known is None or not is_right or known.is_over(now):
            return None
        return Caller(known.name, known.scopes)

    def new(self, name: str, scopes: Sequence[Scope], now: int, expires: int | None = None) -> str:
        """Make a key. This is the only time that anybody sees it."""
        _check(name, scopes)
        id_ = secrets.token_hex(4)
        secret = f"prd_{id_}_{secrets.token_urlsafe(32)}"
        with self._changing():
            if any(each.name == name for each in self._kept.values()):
                raise NoSuchKey(f'there is a key "{name}" already', "choose another name, or revoke that one first")
            self._kept[id_] = Key(id_, name, tuple(scopes), digest_of(secret), now, expires)
        return secret

    def revoke(self, name: str) -> Key:
        """Take a key back."""
        with self._changing():
            found = next((each for each in self._kept.values() if name in (each.name, each.id)), None)
            if found is None:
                names = [each.name for each in self._kept.values()]
                raise NoSuchKey(f'there is no key "{name}"', did_you_mean(name, names) or "see: perdure keys ls")
            del self._kept[found.id]
        return found

    # ------------------------------------------------------------ the file

    def _refresh(self) -> None:
        try:
            found = self.path.lstat()
        except FileNotFoundError:
            self._stamp, self._kept = (), {}
            return
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_uid)
        if stamp != self._stamp:
            self._kept = _read(self.path)
            self._stamp = stamp

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Change what is there now; whole or not at all."""
        make_private(self.path.parent)
        with locked(self.path.parent, fcntl.LOCK_EX):
            self._refresh()
            yield
            write_durably(self.path, msgspec.json.encode(_File(SCHEMA, tuple(self._kept.values()))))
            self._stamp = ()


def keys_of(journal: Path) -> Keys:
    """The keys of a journal."""
    return Keys(journal.with_name(f"{journal.name}{SUFFIX}"))


def digest_of(secret: str) -> str:
    """What is kept of a secret. Nobody guesses 256 bits, so that one hash is enough."""
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _check(name: str, scopes: Sequence[str]) -> None:
    if not _NAME.fullmatch(name):
        told = "letters, digits and ._@-, at most 64"
        raise NoSuchKey(f'a key cannot be called "{name}"', f"a name has {told}")
    for scope in scopes:
        if scope not in ALL:
            raise NoSuchKey(f'there is no scope "{scope}"', did_you_mean(scope, ALL) or f"say {', '.join(ALL)}")


def _read(path: Path) -> dict[str, Key]:
    help_ = f"move it away; then make new keys: perdure keys new NAME --db {path.with_suffix('')}"
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BadKeys(f"{path} cannot be read: {error.strerror}", help_) from error
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise BadKeys(f"{path} is open to others, so a key in it may be anybody's", help_)
        data = opened.read(LARGEST + 1)
    try:
        return {each.id: each for each in msgspec.json.decode(data, type=_File).keys}
    except ValueError as error:
        raise BadKeys(f"{path} is damaged: {error}", help_) from error

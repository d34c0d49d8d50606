"""Requests that come again: the same `Idempotency-Key` with the same body is done once, and answered alike.

Answers are remembered for a while, and only here. That a run was begun is never forgotten: its id follows from the key
and from what was sent, so that the journal itself knows, as long as it has the run.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Final
from weakref import WeakValueDictionary

from starlette.responses import Response

from perdure.engine.ids import given_id
from perdure.ports import Ambiguous, Journal, UnknownRun
from perdure.server.admitting import STARTS
from perdure.server.asgi import App, Receive, Scoped, Send
from perdure.server.callers import CALLER
from perdure.server.here import NEW_RUN
from perdure.server.refusing import OddRequest, Refusal
from perdure.server.routes.runs import begun
from perdure.server.taking import again

MOST: Final = 10_000
LARGEST: Final = 100_000
"""Bytes of an answer that is remembered."""
_HEADER: Final = b"idempotency-key"
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_COME_AGAIN: Final = (408, 429)
_BROKEN: Final = 500
Name = tuple[str, str, str, str]
"""Who asks, for what, and with which key."""
Sent = tuple[bytes, Receive]
"""The digest of a body, and the body to be received."""


class Reused(Refusal):
    """A key comes again with something else."""

    code: ClassVar[str] = "PRD6028"
    status: ClassVar[int] = 422


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was asked, and what was answered."""

    digest: bytes
    messages: Sequence[Any]


class Repeating:
    """An app that does what comes again with the same key only once."""

    def __init__(self, app: App, journal: Journal, most: int = MOST) -> None:
        self._app: Final = app
        self._journal: Final = journal
        self._most: Final = most
        self._kept: OrderedDict[Name, _Kept] = OrderedDict()
        self._busy: WeakValueDictionary[Name, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scoped, receive: Receive, send: Send) -> None:
        """Do it, or answer as before."""
        name = _name_of(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        body: bytes = (await receive())["body"]
        async with self._busy.setdefault(name, asyncio.Lock()):
            await self._once(name, scope, (sha256(body).digest(), again(body, receive)), send)

    async def _once(self, name: Name, scope: Scoped, sent: Sent, send: Send) -> None:
        digest, _ = sent
        kept = self._kept.get(name)
        if kept is None and scope["path"] == STARTS:
            kept = await self._begun(name, scope, digest)
        if kept is None:
            await self._first(name, scope, sent, send)
            return
        if kept.digest != digest:
            raise Reused(
                "this Idempotency-Key was sent before, with something else", "take a new key for a new request"
            )
        for message in kept.messages:
            await send(message)

    async def _begun(self, name: Name, scope: Scoped, digest: bytes) -> _Kept | None:
        """The answer about a run that was begun by this key, also before a restart; else its id is chosen."""
        run, beginning = given_id("r", "\n".join(name), digest)
        scope["state"][NEW_RUN] = run
        try:
            found = (await self._journal.run(beginning)).id
        except UnknownRun:
            return None
        except Ambiguous:
            return _Kept(b"", ())
        return _Kept(digest if found == run else b"", _messages_of(begun(run)))

    async def _first(self, name: Name, scope: Scoped, sent: Sent, send: Send) -> None:
        digest, receive = sent
        told = list[Any]()

        async def send_and_keep(message: Any) -> None:
            told.append(message)
            await send(message)

        await self._app(scope, receive, send_and_keep)
        if _is_final(told):
            self._kept[name] = _Kept(digest, told)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)


def _name_of(scope: Scoped) -> Name | None:
    """None: there is no key, or nothing is done."""
    key = next((value.decode("latin1") for header, value in scope["headers"] if header == _HEADER), None)
    if key is None or scope["method"] not in ("POST", "DELETE"):
        return None
    if not _KEY.fullmatch(key):
        raise OddRequest("the Idempotency-Key is not 1 to 200 visible letters of ASCII", "take a UUID")
    who: str = scope["state"][CALLER].name
    return who, f"{scope['method']} {scope['path']}", scope["query_string"].decode("latin1"), key


def _is_final(told: Sequence[Any]) -> bool:
    """Whether the same request would get the same answer, and it is short enough to be remembered."""
    status: int = told[0]["status"]
    return (
        status < _BROKEN and status not in _COME_AGAIN and sum(len(each.get("body", b"")) for each in told) <= LARGEST
    )


def _messages_of(response: Response) -> Sequence[Any]:
    start = {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
    return [start, {"type": "http.response.body", "body": response.body}]

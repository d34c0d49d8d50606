"""The page behind a link that works once: it takes the code from behind the `#`, and gives a cookie for it.

GET    /open      the page, the same for everybody
GET    /open.js   what it does: send the code, then go to the start
POST   /open      {"once": CODE} → 204 and the cookie of a session
DELETE /open      the session is over
"""

from typing import Final

import msgspec
from starlette.responses import Response

from perdure.server.doors import Doors
from perdure.server.errors import Invalid
from perdure.server.head import Head
from perdure.server.refusing import ForeignOrigin, LinkIsOver

PATH: Final = "/open"
SCRIPT: Final = "/open.js"
PLACES: Final = (PATH, SCRIPT)
_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Perdure</title>
<p id="said">Opening a session.</p>
<noscript><p>This page needs JavaScript.</p></noscript>
<script src="open.js"></script>
</html>
"""
_SCRIPT: Final = """"use strict";
const once = location.hash.slice(1);
const said = document.getElementById("said");
history.replaceState(null, "", "open");
fetch("open", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ once }),
}).then(async (answer) => {
  if (answer.ok) location.replace(".");
  else said.textContent = (await answer.json()).detail + ". A new link: perdure open";
}).catch(() => { said.textContent = "The server does not answer."; });
"""


class _Sent(msgspec.Struct, forbid_unknown_fields=True):
    once: str


async def opened(doors: Doors, head: Head, body: bytes) -> Response:
    """The answer to whoever has no session yet."""
    if head.is_safe:
        return _file(_SCRIPT, "text/javascript") if head.path == SCRIPT else _file(_PAGE, "text/html")
    if not doors.names.is_from_us(head):
        raise ForeignOrigin("a session is opened by our own page alone")
    if head.method == "DELETE":
        doors.sessions.end(head.cookie(doors.cookie_name(head)) or "")
        return _with_cookie(doors, head, "")
    cookie = doors.sessions.exchanged(_code_in(body))
    if cookie is None:
        raise LinkIsOver("this link was used, or is too old", "print a new one: perdure open")
    return _with_cookie(doors, head, cookie)


def _code_in(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Sent).once
    except ValueError as error:
        raise Invalid(f"the body is no code: {error}", 'send {"once": CODE}') from error


def _file(text: str, kind: str) -> Response:
    return Response(text, media_type=kind)


def _with_cookie(doors: Doors, head: Head, value: str) -> Response:
    return Response(status_code=204, headers={"Set-Cookie": doors.cookie(head, value)})

"""What came back: read no further than was agreed, also if it unfolds to more than was sent."""

import base64
import http.client
import re
import zlib
from dataclasses import dataclass
from email.message import Message
from typing import Any, Final

from pydantic_core import from_json

from perdure.tools.net.url import Url

PIECE: Final = 65_536
MOST_HEADERS: Final = 64 * 1024
"""Letters of headers that are kept."""
_JSON: Final = re.compile(r"application/(json|[a-z0-9.+-]+\+json)|text/json")
_TEXT: Final = re.compile(
    r"text/.*|application/(xml|[a-z0-9.+-]+\+xml|javascript|yaml|x-yaml|x-www-form-urlencoded|x-ndjson)"
)
_CHARSETS: Final = re.compile(
    r"utf-?8|us-ascii|ascii|iso-8859-\d{1,2}|latin-?1|windows-125\d|utf-16(le|be)?|shift_jis|euc-(jp|kr)|gbk|gb2312|gb18030|big5|koi8-[ru]"
)
"""Names of character sets that are looked up; others could be codecs for something else."""


class Unreadable(Exception):
    """The answer cannot be made sense of."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that was read."""

    url: Url
    status: int
    headers: dict[str, str]
    """By name in lower case; several of one name are joined."""
    body: bytes
    is_truncated: bool = False

    def data(self) -> dict[str, Any]:
        """The answer as JSON: its body as `json`, `text`, or `bytes` in base64."""
        cut = {"truncated": True} if self.is_truncated else {}
        return {"status": self.status, "url": str(self.url), "headers": self.headers, **self._content(), **cut}

    def excerpt(self, most: int) -> str:
        """The beginning of the body, for people."""
        return self._text()[:most] if self._is_text else f"{len(self.body):,} bytes of {self._type or 'no stated type'}"

    def _content(self) -> dict[str, Any]:
        if _JSON.fullmatch(self._type) and not self.is_truncated:
            try:
                return {"json": from_json(self.body, allow_inf_nan=False)}
            except ValueError:
                return {"text": self._text()}
        return {"text": self._text()} if self._is_text else {"bytes": base64.b64encode(self.body).decode()}

    @property
    def _type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def _is_text(self) -> bool:
        if self._type:
            return bool(_TEXT.fullmatch(self._type) or _JSON.fullmatch(self._type))
        try:
            self.body.decode()
        except UnicodeDecodeError:
            return not self.body
        return b"\0" not in self.body

    def _text(self) -> str:
        return self.body.decode(self._charset(), "replace")

    def _charset(self) -> str:
        message = Message()
        message["content-type"] = self.headers.get("content-type", "")
        named = str(message.get_param("charset") or "").lower()
        return named if _CHARSETS.fullmatch(named) else "utf-8"


def read_answer(response: http.client.HTTPResponse, url: Url, most: int) -> Answer:
    """Read a response. What is longer than `most` bytes is cut; what is packed is unpacked up to there."""
    headers = _headers(response)
    body, is_truncated = _read(response, headers.get("content-encoding", "").strip().lower(), most)
    return Answer(url, response.status, headers, body, is_truncated)


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    found: dict[str, str] = {}
    room = MOST_HEADERS
    for name, value in response.getheaders():
        room -= len(name) + len(value)
        if room < 0:
            raise Unreadable(f"it has more than {MOST_HEADERS:,} letters of headers")
        key = name.lower()
        between = "\n" if key == "set-cookie" else ", "
        found[key] = f"{found[key]}{between}{value}" if key in found else value
    return found


def _read(response: http.client.HTTPResponse, encoding: str, most: int) -> tuple[bytes, bool]:
    unpacking = _unpacking(encoding)
    body = bytearray()
    while len(body) <= most:
        piece = response.read(PIECE)
        if not piece:
            _refuse_half(response, unpacking)
            break
        body += unpacking.some(piece, most + 1 - len(body))
    return bytes(body[:most]), len(body) > most


def _refuse_half(response: http.client.HTTPResponse, unpacking: "_Plain") -> None:
    """`http.client` says nothing when a body ends before it should."""
    if response.length or not unpacking.is_whole:
        raise Unreadable("its body is not all there")


def _unpacking(encoding: str) -> "_Plain":
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Packed()
    raise Unreadable(f"it is packed as {encoding!r}, which was not asked for")


class _Plain:
    """Makes of a piece no more bytes than there is room for; the rest of it is dropped, with all that follows."""

    @property
    def is_whole(self) -> bool:
        """Whether its end was seen."""
        return True

    def some(self, piece: bytes, room: int) -> bytes:
        """What a piece holds."""
        return piece[:room]


class _Packed(_Plain):
    """gzip or zlib by their first bytes; what has neither is plain deflate."""

    def __init__(self) -> None:
        self._unpacker: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether its end was seen. An answer without a body has none."""
        return self._unpacker is None or self._unpacker.eof

    def some(self, piece: bytes, room: int) -> bytes:
        """What a piece holds."""
        if self._unpacker is None:
            is_headed = piece[:1] in (b"\x1f", b"\x78")
            self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32 if is_headed else -zlib.MAX_WBITS)
        try:
            return self._unpacker.decompress(piece, room)
        except zlib.error as error:
            raise Unreadable(f"it cannot be unpacked: {error}") from None

"""E7 S5: whatever a URL or a request is written like, nothing is connected to that was not allowed.

A canary listens on the loopback. One host is allowed by its name; every vector tries to reach the canary all the same.
"""

import asyncio
from contextlib import suppress

import pytest
from gates import allowing, attempt_of, gate_of
from servers import saying

from perdure.tools import ToolPerformer
from perdure.tools.builtin.http_ import HTTP
from perdure.tools.guard import Guard
from perdure.tools.net import Caps, Gate, addresses

ALLOWED = "allowed.example"
AUTHORITIES = (
    "127.0.0.1:{p}", "localhost:{p}", "LOCALHOST:{p}", "localhost.:{p}", "127.0.0.1.:{p}", "2130706433:{p}", "0x7f000001:{p}",
    "0X7F000001:{p}", "017700000001:{p}", "0177.0.0.1:{p}", "0x7f.0.0.1:{p}", "127.1:{p}", "127.0.1:{p}", "0:{p}", "0.0.0.0:{p}",
    "127.0.0.1%00.allowed.example:{p}", "127.0.0.1\x00.allowed.example:{p}", "allowed.example\x00@127.0.0.1:{p}",
    "allowed.example@127.0.0.1:{p}", "allowed.example:80@127.0.0.1:{p}", "127.0.0.1:{p}@allowed.example:{p}",
    "allowed.example%40127.0.0.1:{p}", "127.0.0.1:{p}#@allowed.example", "127.0.0.1:{p}\\@allowed.example",
    "allowed.example\\@127.0.0.1:{p}", "127.0.0.1:{p}\\.allowed.example", "[::1]:{p}", "[::ffff:127.0.0.1]:{p}",
    "[::ffff:7f00:1]:{p}", "[0:0:0:0:0:0:0:1]:{p}", "[::1%25lo]:{p}", "[::127.0.0.1]:{p}", "[64:ff9b::7f00:1]:{p}", "::1:{p}",
    "\uff11\uff12\uff17.0.0.1:{p}", "①②⑦.0.0.1:{p}", "loc\u0430lhost:{p}", "localho\u017ft:{p}", "\u2113ocalhost:{p}", "allowed\u3002example:{p}",
    "allowed.example.:{p}", "xallowed.example:{p}", "allowed.example.evil.example:{p}", "sub.allowed.example:{p}",
    "allowed.example\r\nHost: localhost:{p}", "allowed.example :{p}", " 127.0.0.1:{p}", "127.0.0.1\t:{p}", "127.0.0.1:0{p}",
    "allowed.example:{p}:80", "allowed.example:", "allowed.example:+{p}", "allowed.example:{p}\n", "", ":{p}", "@:{p}",
)  # fmt: skip
"""Where a request is to go; none of it is the allowed host on its port."""
SCHEMES = (
    "http://",
    "https://",
    "HTTP://",
    "http:/",
    "http:",
    "//",
    "http:///",
    "http:\\\\",
    "gopher://",
    "file://",
    "",
)


@pytest.fixture
def names(monkeypatch):
    """Every name leads to the loopback, as with a resolver in the wrong hands; the allowed one is public."""

    def resolve(host, port, *_, **__):
        address = "93.184.216.34" if host == ALLOWED else "127.0.0.1"
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", resolve)


def get(url, layers):
    attempt = attempt_of("http.get", {"url": url, "timeout": 3}, layers)
    return asyncio.run(ToolPerformer(HTTP).perform(attempt))


def test_there_are_enough_vectors():
    assert len(AUTHORITIES) >= 30
    assert len(set(AUTHORITIES)) == len(AUTHORITIES)


@pytest.mark.parametrize("authority", AUTHORITIES, ids=ascii)
def test_no_url_reaches_the_canary(serve, names, authority):
    canary = serve(saying(b"leak"))
    for hosts in ((f"{ALLOWED}:443",), ("*.example:*",), ("*:443",)):
        for scheme in SCHEMES[:3] if hosts[0][0] == "*" else SCHEMES:
            found = get(f"{scheme}{authority.format(p=canary.port)}/path", allowing(*hosts))
            assert found.failure.kind in {"invalid", "denied", "unavailable"}
    assert canary.connections == 0


@pytest.mark.parametrize("authority", AUTHORITIES, ids=ascii)
def test_no_url_reaches_the_canary_by_a_rule_for_all_hosts(serve, names, authority):
    """Also a user who allows everything has not named this machine."""
    canary = serve(saying(b"leak"))
    told = authority.format(p=canary.port)
    if ALLOWED not in told.lower() or "@" in told:  # else it would be dialled, and the test would leave this machine
        assert get(f"http://{told}/", allowing("*:*")).failure.kind in {"invalid", "denied"}
    assert canary.connections == 0


# ------------------------------------------------------------------------------- the proxy

HEADS = (
    "GET / HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "GET //{c}/ HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "GET http://{c}/ HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nHost: {a}\r\nHost: {c}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nhost: {c}\r\nHost : {a}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\n Host: {c}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nX: y\r\n Host: {c}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\nHost: {c}\n\n\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nX: y\nHost: {c}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nX: y\rHost: {c}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nHost: {a}\x00{c}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\n\r\n",
    "GET http://{a}/ HTTP/1.0\r\nHost: {c}\r\n\r\n",
    "GET http://{a}/ HTTP/2.0\r\nHost: {a}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1 \r\nHost: {a}\r\n\r\n",
    "GET  http://{c}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "GET\thttp://{c}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "GET http://{c}/ http://{a}/ HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "GET https://{c}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "GET http://{a}#@{c}/ HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "GET http://{a}\\@{c}/ HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "GET http://{a}?@{c}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "GET http://{a}@{c}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "CONNECT {c} HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "CONNECT {a} HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "CONNECT http://{c}/ HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "CONNECT {a}@{c} HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "CONNECT {c} HTTP/1.0\r\n\r\n",
    "connect {c} HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "CONNECT localhost HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "CONNECT / HTTP/1.1\r\nHost: {c}\r\n\r\n",
    "POST http://{a}/ HTTP/1.1\r\nHost: {a}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST http://{a}/ HTTP/1.1\r\nHost: {a}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "POST http://{a}/ HTTP/1.1\r\nHost: {a}\r\nContent-Length: +5\r\n\r\nhello",
    "POST http://{a}/ HTTP/1.1\r\nHost: {a}\r\nContent-Length: 0x5\r\n\r\nhello",
    "POST http://{a}/ HTTP/1.1\r\nHost: {a}\r\nTransfer-Encoding: xchunked\r\n\r\n",
    "POST http://{a}/ HTTP/1.1\r\nHost: {a}\r\nTransfer-Encoding : chunked\r\n\r\n",
    "G\x00T http://{a}/ HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nHost: {a}\r\nX: " + "y" * 40_000 + "\r\n\r\n",
    "GET http://{a}/ HTTP/1.1\r\nHost: {a}\r\n" + "X: y\r\n" * 200 + "\r\n",
    "GET http://{a}/" + "z" * 9_000 + " HTTP/1.1\r\nHost: {a}\r\n\r\n",
    "\x05\x01\x00",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "\r\n\r\n",
    "",
)  # fmt: skip
"""Heads that are refused: `{a}` is the allowed host, `{c}` the canary."""


def answered(connect, data):
    with connect() as sock:
        try:
            sock.sendall(data)
            with suppress(OSError):  # it has heard enough, and may have hung up before we were done
                sock.shutdown(1)
            return sock.recv(65536)
        except ConnectionError:
            return b""


@pytest.mark.parametrize("head", HEADS, ids=lambda head: ascii(head[:60]))
def test_no_head_gets_through_the_proxy(serve, proxied, head):
    """The allowed host is a listener too: of what is written like this, nothing comes there either."""
    canary, allowed = serve(saying(b"leak")), serve(saying(b"leak"))
    proxy, connect = proxied(gate_of(f"127.0.0.1:{allowed.port}"), Caps(head_seconds=1))
    filled = head.format(a=f"127.0.0.1:{allowed.port}", c=f"localhost:{canary.port}")
    found = answered(connect, filled.encode("latin-1"))
    assert found[9:12] in {b"400", b"403", b"408", b"411", b"431", b"505"}
    assert b"leak" not in found
    assert (canary.connections, allowed.connections) == (0, 0)
    assert {each.verdict for each in proxy.judged} == {"deny"}


@pytest.mark.parametrize("authority", AUTHORITIES, ids=ascii)
def test_no_authority_gets_through_the_proxy(serve, names, proxied, authority):
    canary = serve(saying(b"leak"))
    told = authority.format(p=canary.port)
    for hosts in ((f"{ALLOWED}:443",), ("*.example:443",)):
        _, connect = proxied(gate_of(*hosts), Caps(head_seconds=1, dial_seconds=1))
        for head in (
            f"CONNECT {told} HTTP/1.1\r\nHost: {told}\r\n\r\n",
            f"GET http://{told}/ HTTP/1.1\r\nHost: {told}\r\n\r\n",
        ):
            assert answered(connect, head.encode())[9:12] in {b"400", b"403", b"502"}
    assert canary.connections == 0


def test_a_name_that_turns_to_this_machine_is_dialled_where_it_was(serve, proxied):
    """Rebinding: the resolver's second answer, and all later ones, are the canary's."""
    canary = serve(saying(b"leak"))
    answers = iter(["198.51.100.1"])  # not public either, so that the test dials nothing outside

    def resolve(host, port):
        return [next(answers, "127.0.0.1")]

    gate = Gate(Guard(attempt_of(layers=allowing("*:*"))), resolve)
    _, connect = proxied(gate)
    for _ in range(5):
        head = f"CONNECT rebind.example:{canary.port} HTTP/1.1\r\nHost: rebind.example:{canary.port}\r\n\r\n"
        assert answered(connect, head.encode())[9:12] == b"403"
    assert canary.connections == 0


@pytest.mark.campaign("heads of requests that parsers disagree about", "S5", of="heads")
def test_no_head_by_lot_reaches_the_canary(serve, proxied, trials):
    """Heads put together by chance from the pieces that parsers disagree about."""
    import random

    canary = serve(saying(b"leak"))
    pieces = [
        "GET ", "CONNECT ", "http://", "//", "@", ":", f":{canary.port}", "127.0.0.1", "localhost", ALLOWED, "\r\n", "\n", "\r", "\0", " ",
        "\t", " HTTP/1.1", "Host: ", "\r\nHost: ", f"localhost:{canary.port}", f"127.0.0.1:{canary.port}", f"{ALLOWED}:443", "[::1]", "/", "?", "#", "%00", "\\",
    ]  # fmt: skip
    caps = Caps(head_seconds=1, connections=10**9)  # else it is busy in the end, and looks at none
    _, connect = proxied(gate_of(f"{ALLOWED}:443", resolve=lambda host, port: ["127.0.0.1"]), caps)
    for seed in trials(300):
        chance = random.Random(f"7 {seed}")
        head = "".join(chance.choice(pieces) for _ in range(chance.randint(2, 14))) + "\r\n\r\n"
        found = answered(connect, head.encode())
        assert b"leak" not in found
        assert b"too many" not in found
    assert canary.connections == 0

"""Holes 10 and 12: over HTTP, one host that was judged, nothing followed elsewhere, and errors that say what is known.

The resolver is in the wrong hands in some of these: a canary listens on the loopback, and nothing may reach it.
"""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from servers import Server as Listening
from servers import authority, saying

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.mcp import Pins, Toolset, connection
from perdure.tools.mcp.errors import Unreachable
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.servers import Server, Trust
from perdure.tools.net import addresses, gate

pytestmark = pytest.mark.anyio


class Site(ThreadingHTTPServer):
    """A server of MCP whose answer to a call is decided by the test."""

    daemon_threads = True

    def __init__(self, address="127.0.0.1", port=0, tls=None):
        super().__init__((address, port), Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.connections = 0
        self.calls, self.seen, self.answer = 0, [], lambda handler, message: handler.result(message, {"content": []})
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def verify_request(self, request, client_address):
        self.connections += 1
        return True

    def handle_error(self, request, client_address):
        """A client that hangs up is no news."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/mcp"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, dict(self.headers)))
        method = message.get("method")
        if method == "initialize":
            body = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"},
            }
            self.result(message, body)
        elif method == "tools/list":
            self.result(message, {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]})
        elif method == "tools/call":
            self.server.calls += 1
            self.server.answer(self, message)
        elif "id" in message:
            self.reply(
                200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}})
            )
        else:
            self.reply(202, "")

    def do_GET(self):
        self.reply(405, "")

    def do_DELETE(self):
        self.reply(200, "")

    def result(self, message, result):
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))

    def reply(self, status, body, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def hang_up(self, *_):
        self.close_connection = True
        self.connection.close()

    def log_message(self, *_):
        pass


@pytest.fixture
async def site(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.0)
    site = Site()

    def opened(url="", **more):
        server = Server("shop", url=url or site.url, **more)
        site.toolset = Toolset({"shop": server}, Pins(tmp_path / "state" / "pins.json"), Values({"KEY": "k-1"}, {}))
        return site.toolset

    async def call(layers=(), **more):
        toolset = opened(**more)
        toolset.pins.approve("shop", (await toolset.look("shop")).tools)
        attempt = Attempt("r", "s", 1, 1, "key-1", Call("tool", "shop.do", {}), layers=layers)
        try:
            return await ToolPerformer(toolset.tools()).perform(attempt)
        finally:
            await toolset.close()

    site.call = call
    yield site
    site.shutdown()
    site.server_close()


async def test_a_call_is_answered_and_headers_go_along(site):
    site.answer = lambda handler, message: handler.result(message, {"content": [{"type": "text", "text": "hi"}]})
    assert (await site.call(headers={"Authorization": "Bearer ${secrets.KEY}"})).output == "hi"
    assert {path for path, _ in site.seen} == {"/mcp"}
    assert all(headers["Authorization"] == "Bearer k-1" for _, headers in site.seen)


def raw(status, body="", kind="text/plain", **headers):
    return lambda handler, _: handler.reply(status, body, kind, **headers)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (raw(401), "denied"),
        (raw(403), "denied"),
        (raw(404), "transient"),
        (raw(429, retry_after="7"), "rate_limited"),
        (raw(503), "unavailable"),
        (raw(500), "in_doubt"),
        (raw(502), "in_doubt"),
        (raw(418), "invalid"),
        (raw(200, "<html>"), "invalid"),
        (raw(200, "{", "application/json"), "in_doubt"),
        (raw(200, b"\x1f\x8b\x08", "application/json", content_encoding="gzip"), "in_doubt"),
        (raw(200, "x" * 9_000_000, "application/json"), "in_doubt"),
        (raw(200, 'data: {"jsonrpc": "2.0"}\n\n', "text/event-stream"), "in_doubt"),
        (raw(200, "", "text/event-stream"), "in_doubt"),
        (raw(302, location="http://127.0.0.1:1/elsewhere"), "invalid"),
        (raw(307, location="http://127.0.0.1:1/elsewhere"), "invalid"),
        (raw(202), "invalid"),
        (Handler.hang_up, "in_doubt"),
    ],
)
async def test_what_an_answer_means(site, answer, kind):
    site.answer = answer
    failure = (await site.call()).failure
    assert failure.kind == kind, failure
    assert site.calls == 1, "nothing is sent twice"


async def test_what_the_user_lets_be_repeated_is_not_in_doubt(site):
    site.answer = raw(502)
    assert (await site.call(trust={"do": Trust("safe", ())})).failure.kind == "transient"


async def test_a_busy_server_says_when_to_come_again(site):
    site.answer = raw(429, retry_after="7")
    assert (await site.call()).failure.retry_after == 7


async def test_the_host_is_judged_before_anything_is_sent(site):
    refused = Layer("user", network=Terms(allow=("api.example.com",)))
    failure = (await site.call(layers=(refused,))).failure
    assert (failure.kind, site.calls) == ("denied", 0)
    assert f"connect 127.0.0.1:{site.server_port}" in failure.message


async def test_s12_what_a_server_sends_reaches_no_terminal_through_a_log(site, tmp_path):
    """Without any logging set up, Python writes warnings to standard error as they are."""
    site.answer = raw(200, "\x1b[2J{", "application/json")
    code = f"""
import asyncio
from pathlib import Path
from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.mcp import Pins, Toolset
from perdure.tools.mcp.servers import Server

async def main():
    toolset = Toolset({{"shop": Server("shop", url={site.url!r})}}, Pins(Path({str(tmp_path / "pins.json")!r})))
    toolset.pins.approve("shop", (await toolset.look("shop")).tools)
    attempt = Attempt("r", "s", 1, 1, "k", Call("tool", "shop.do", {{}}))
    print((await ToolPerformer(toolset.tools()).perform(attempt)).failure.kind)
    await toolset.close()

asyncio.run(main())
"""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("in_doubt\n", "")


async def test_a_server_that_is_not_there_is_told(tmp_path):
    toolset = Toolset({"shop": Server("shop", url="http://127.0.0.1:1/mcp")}, Pins(tmp_path / "pins.json"))
    began = time.monotonic()
    with pytest.raises(Unreachable, match="cannot be reached"):
        await toolset.look("shop")
    await toolset.close()
    assert time.monotonic() - began < 20


# ------------------------------------------------------------------ the gate

NAME = "mcp.example"
PUBLIC = "127.0.0.2"
"""Counts as an address of everybody's in these tests."""


@pytest.fixture
def leads(monkeypatch):
    """Say where the name leads, from now on."""
    real = addresses.socket.getaddrinfo

    def to(address):
        def resolve(host, port, *more, **named):
            if host != NAME:
                return real(host, port, *more, **named)
            asked.append(host)
            return [(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

        asked = []
        monkeypatch.setattr(addresses.socket, "getaddrinfo", resolve)
        return asked

    monkeypatch.setattr(gate, "is_public", lambda address: address == PUBLIC or addresses.is_public(address))
    return to


@pytest.fixture
def canary():
    with contextlib.closing(Listening(saying(b"leak"))) as listening:
        yield listening


def at(port, host=NAME):
    return f"http://{host}:{port}/mcp"


def toolset_of(tmp_path, url, **more):
    return Toolset({"shop": Server("shop", url=url, **more)}, Pins(tmp_path / "pins.json"))


async def refusal_of(tmp_path, url, **more):
    toolset = toolset_of(tmp_path, url, **more)
    with pytest.raises(Unreachable) as refused:
        await toolset.look("shop")
    await toolset.close()
    return refused.value.message


@pytest.mark.parametrize("inner", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0"])  # noqa: S104  not bound to
async def test_s5_a_name_leads_behind_no_wall(tmp_path, leads, canary, inner):
    leads(inner)
    assert f"{inner}, which is not public" in await refusal_of(tmp_path, at(canary.port))
    assert canary.connections == 0


async def test_s5_a_name_that_turns_to_this_machine_reaches_nobody(tmp_path, leads, monkeypatch):
    """It answers truly when it is looked at first, and leads to our own machine when it is connected to again."""
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.0)
    far = Site(PUBLIC)
    canary = Site("127.0.0.1", far.server_port)
    leads(PUBLIC)
    far.answer = Handler.hang_up
    toolset = toolset_of(tmp_path, at(far.server_port))
    try:
        toolset.pins.approve("shop", (await toolset.look("shop")).tools)
        asked = leads("127.0.0.1")
        attempt = Attempt("r", "s", 1, 1, "key-1", Call("tool", "shop.do", {}))
        first = await ToolPerformer(toolset.tools()).perform(attempt)
        second = await ToolPerformer(toolset.tools()).perform(attempt)
    finally:
        await toolset.close()
        for each in (far, canary):
            each.shutdown()
            each.server_close()
    assert (first.failure.kind, second.failure.kind) == ("in_doubt", "unavailable")
    assert "127.0.0.1, which is not public" in second.failure.message
    assert asked
    assert (far.calls, canary.connections) == (1, 0)


async def test_a_name_leads_behind_a_wall_only_to_an_address_that_the_file_names_too(site, tmp_path, leads):
    leads("127.0.0.1")
    assert (await site.call(url=at(site.server_port), network=(f"127.0.0.1:{site.server_port}",))).failure is None
    assert "not public" in await refusal_of(tmp_path, at(site.server_port), network=(f"10.0.0.1:{site.server_port}",))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_what_the_file_names_on_this_machine_is_reached(site, host):
    assert (await site.call(url=at(site.server_port, host))).failure is None
    assert site.calls == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_host_is_not_followed(site, canary, status):
    site.answer = raw(status, location=f"http://127.0.0.1:{canary.port}/mcp")
    assert (await site.call()).failure.kind == "invalid"
    assert canary.connections == 0


async def test_a_redirect_within_the_server_is_followed(site):
    site.answer = lambda handler, message: (
        raw(307, location="/mcp/")(handler, message)
        if handler.path == "/mcp"
        else handler.result(message, {"content": [{"type": "text", "text": "here"}]})
    )
    assert (await site.call()).output == "here"


async def test_proxies_of_the_environment_are_not_heard(site, canary, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    assert (await site.call()).failure is None
    assert canary.connections == 0


async def test_a_certificate_is_held_against_the_name_and_not_the_address(tmp_path, leads, monkeypatch):
    leads(PUBLIC)
    ca, tls = authority(tmp_path, NAME)
    far = Site(PUBLIC, tls=tls)
    url = f"https://{NAME}:{far.server_port}/mcp"
    assert "certificate verify failed" in await refusal_of(tmp_path, url)
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    toolset = toolset_of(tmp_path, url)
    assert list((await toolset.look("shop")).tools) == ["shop.do"]
    await toolset.close()
    named = (f"{PUBLIC}:{far.server_port}",)
    message = await refusal_of(tmp_path, f"https://{PUBLIC}:{far.server_port}/mcp", network=named)
    assert "certificate verify failed" in message
    far.shutdown()
    far.server_close()
    assert {headers["Host"] for _, headers in far.seen} == {f"{NAME}:{far.server_port}"}


async def test_a_resolver_that_never_answers_holds_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr("perdure.tools.mcp.remote.CONNECTING", 0.2)
    done = threading.Event()
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_, **__: done.wait(20) and [])
    began = time.monotonic()
    assert "not looked up in time" in await refusal_of(tmp_path, at(80))
    done.set()
    assert time.monotonic() - began < 10


REAL = """
import sys
import uvicorn
from mcp.server import MCPServer

server = MCPServer("shop")

@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    return a + b

uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"""


@pytest.fixture
def real():
    """A server as the library makes it, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", REAL, str(port)])
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.05)
    yield port
    process.kill()
    process.wait()


async def test_a_server_as_the_library_makes_it(real, tmp_path):
    toolset = toolset_of(tmp_path, at(real, "localhost"))
    toolset.pins.approve("shop", (await toolset.look("shop")).tools)
    attempt = Attempt("r", "s", 1, 1, "key-1", Call("tool", "shop.add", {"a": 2, "b": 3}))
    outcome = await ToolPerformer(toolset.tools()).perform(attempt)
    await toolset.close()
    assert outcome.output == {"result": 5}

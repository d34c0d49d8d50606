"""Holes 10 and 12: over HTTP, one host that was judged, nothing followed elsewhere, and errors that say what is known."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.mcp import Pins, Toolset, connection
from perdure.tools.mcp.errors import Unreachable
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.servers import Server, Trust

pytestmark = pytest.mark.anyio


class Site(ThreadingHTTPServer):
    """A server of MCP whose answer to a call is decided by the test."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls, self.seen, self.answer = 0, [], lambda handler, message: handler.result(message, {"content": []})
        threading.Thread(target=self.serve_forever, daemon=True).start()

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

    def opened(**more):
        server = Server("shop", url=site.url, **more)
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


async def test_a_server_that_is_not_there_is_told(tmp_path):
    toolset = Toolset({"shop": Server("shop", url="http://127.0.0.1:1/mcp")}, Pins(tmp_path / "pins.json"))
    began = time.monotonic()
    with pytest.raises(Unreachable, match="cannot be reached"):
        await toolset.look("shop")
    await toolset.close()
    assert time.monotonic() - began < 20

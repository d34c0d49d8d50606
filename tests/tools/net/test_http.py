"""The tools `http.get` and `http.request`, against real servers on the loopback."""

import base64
import gzip
import json
import socket
import threading
import time
import zlib

import pytest
from gates import allowing, attempt_of
from msgspec.structs import replace
from servers import authority, hang_up, saying, slowly

from perdure.core.policy import Layer, Terms
from perdure.tools import Context, ToolFailure, ToolPerformer
from perdure.tools.builtin import HANDS
from perdure.tools.builtin.http_ import HTTP
from perdure.tools.net.url import url_of

pytestmark = pytest.mark.anyio
GET, REQUEST = HTTP


async def outcome_of(name, arguments, *servers, layers=None, **changes):
    allowed = [f"{host}:{each.port}" for each in servers for host in ("127.0.0.1", "localhost", "[::1]")]
    attempt = attempt_of(name, arguments, allowing(*allowed) if layers is None else layers)
    return await ToolPerformer(HTTP).perform(replace(attempt, **changes))


async def get(server, path="/", *others, **arguments):
    url = f"http://127.0.0.1:{server.port}{path}"
    return await outcome_of("http.get", {"url": url, **arguments}, server, *others)


async def post(server, path="/", *others, method="POST", **arguments):
    given = {"method": method, "url": f"http://127.0.0.1:{server.port}{path}", **arguments}
    return await outcome_of("http.request", given, server, *others)


# ------------------------------------------------------------------------------- what comes back


async def test_json_text_and_bytes_come_back_as_what_they_are(serve):
    assert set(HTTP) <= set(HANDS)
    found = (await get(serve(saying(b'{"a": [1, 2.5, null]}', content_type="application/json; charset=utf-8")))).output
    assert found["json"] == {"a": [1, 2.5, None]}
    assert found["status"] == 200
    found = (await get(serve(saying("grüße".encode("latin-1"), content_type="text/plain; charset=iso-8859-1")))).output
    assert found["text"] == "grüße"
    assert "json" not in found
    found = (await get(serve(saying(b"\x89PNG\x00\xff", content_type="image/png")))).output
    assert base64.b64decode(found["bytes"]) == b"\x89PNG\x00\xff"
    found = (await get(serve(saying(b"plain words")))).output
    assert found["text"] == "plain words"


@pytest.mark.parametrize("body", [b'{"a": NaN}', b"[" * 100_000, b'{"a": 1', b"\xff\xfe"])
async def test_what_only_calls_itself_json_is_text(serve, body):
    found = await get(serve(saying(body, content_type="application/json")))
    assert found.failure is None
    assert isinstance(found.output["text"], str)


async def test_an_odd_charset_is_not_looked_up(serve):
    for charset in ("zip", "unicode_escape", "idna", "../x", '"'):
        found = await get(serve(saying(b"\\x41", content_type=f"text/plain; charset={charset}")))
        assert found.output["text"] == "\\x41"


async def test_headers_come_back_by_their_names(serve):
    server = serve(saying(b"", X_Note="a", Set_Cookie="a=1\r\nSet-Cookie: b=2\r\nx-note: b"))
    headers = (await get(server)).output["headers"]
    assert headers["x-note"] == "a, b"
    assert headers["set-cookie"] == "a=1\nb=2"


async def test_a_query_is_encoded(serve):
    server = serve(saying(b""))
    await get(server, "/find?a=1#part", query={"q": "a&b=c d/é", "n": 3, "deep": True})
    assert server.asked[0][0].split(" ")[1] == "/find?a=1&q=a%26b%3Dc%20d%2F%C3%A9&n=3&deep=true"


async def test_a_long_body_is_cut_and_says_so(serve):
    found = (await get(serve(saying(b"x" * 500_000, content_type="text/plain")), max_bytes=1_000)).output
    assert found["truncated"] is True
    assert found["text"] == "x" * 1_000
    found = (await get(serve(saying(b"x" * 1_000)), max_bytes=1_000)).output
    assert "truncated" not in found
    found = (
        await get(serve(saying(b"[" + b"1," * 900 + b"1]", content_type="application/json")), max_bytes=1_000)
    ).output
    assert found["truncated"] is True
    assert "json" not in found


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, lambda data: zlib.compress(data, wbits=-15)])
async def test_what_is_packed_is_unpacked_but_no_further_than_agreed(serve, pack):
    name = "gzip" if pack is gzip.compress else "deflate"
    found = (await get(serve(saying(pack(b"hello " * 1_000), content_encoding=name, content_type="text/plain")))).output
    assert found["text"] == "hello " * 1_000
    bomb = pack(b"\0" * 30_000_000)
    found = (await get(serve(saying(bomb, content_encoding=name, content_type="text/plain")), max_bytes=100_000)).output
    assert found["truncated"] is True
    assert len(found["text"]) == 100_000


@pytest.mark.parametrize(
    "answer",
    [
        saying(b"short", content_length="5000"),
        saying(b"5\r\nhello\r\n", content_length=None, transfer_encoding="chunked"),
        saying(gzip.compress(b"hello" * 100)[:-20], content_encoding="gzip"),
        saying(b"not packed at all", content_encoding="gzip"),
        saying(b"x", content_encoding="br"),
        slowly([b"this is no http\r\n\r\n"], 0),
        slowly([b"HTTP/1.1 200 OK\r\n" + b"x-a: " + b"y" * 200_000], 0),
        slowly([b"HTTP/1.1 200 OK\r\n" + b"x-a: y\r\n" * 5_000], 0),
        hang_up,
    ],
)
async def test_half_an_answer_is_no_answer(serve, answer):
    """And whether the deed was done is in doubt only if it changes something."""
    assert (await get(serve(answer))).failure.kind == "transient"
    assert (await post(serve(answer))).failure.kind == "in_doubt"


# ------------------------------------------------------------------------------- what is sent


async def test_what_changes_something_carries_the_key_of_the_deed(serve):
    server = serve(saying(b""))
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert (await post(server, method=method, json={"a": 1})).failure is None
        assert server.headers()["idempotency-key"] == "key-1"
        assert json.loads(server.asked[-1][1]) == {"a": 1}
    for method in ("GET", "HEAD", "OPTIONS"):
        assert (await post(server, method=method)).failure is None
        assert "idempotency-key" not in server.headers()
    await post(server, headers={"idempotency-key": "mine"}, body="text")
    assert server.headers()["idempotency-key"] == "mine"
    assert server.headers()["content-type"].startswith("text/plain")
    assert server.asked[-1][1] == b"text"


def test_what_may_be_repeated_follows_from_the_method():
    said = {
        method: REQUEST.repeat_of({"method": method}) for method in ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE")
    }
    assert said == {"GET": "safe", "HEAD": "safe", "POST": "never", "PATCH": "never", "PUT": "keyed", "DELETE": "keyed"}
    assert REQUEST.repeat_of({"method": "POST", "idempotent": True}) == "keyed"
    assert REQUEST.repeat_of({"method": "PUT", "idempotent": False}) == "never"
    assert REQUEST.repeat_of({"method": "GET", "idempotent": False}) == "safe"
    assert GET.repeat_of({}) == "safe"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"}, {"content-length": "0"}, {"Transfer-Encoding": "chunked"}, {"Connection": "x"},
        {"a": "b\r\nc: d"}, {"a": "b\n c"}, {"a\r\nb": "c"}, {"a b": "c"}, {"": "c"}, {"a:": "b"}, {"a": "\0"},
        {"Expect": "100-continue"}, {"A": "1", "a": "2"},
    ],
)  # fmt: skip
async def test_headers_that_would_change_the_message_are_refused(serve, headers):
    server = serve(saying(b""))
    assert (await get(server, headers=headers)).failure.kind == "invalid"
    assert server.connections == 0


# ------------------------------------------------------------------------------- what a status means


@pytest.mark.parametrize(
    ("status", "safe", "once"),
    [
        (400, "invalid", "invalid"), (401, "denied", "denied"), (403, "denied", "denied"), (404, "invalid", "invalid"),
        (408, "transient", "transient"), (409, "invalid", "invalid"), (429, "rate_limited", "rate_limited"),
        (500, "transient", "in_doubt"), (502, "transient", "in_doubt"), (503, "unavailable", "unavailable"),
        (504, "transient", "in_doubt"), (501, "invalid", "invalid"),
    ],
)  # fmt: skip
async def test_a_status_is_a_kind_of_failure(serve, status, safe, once):
    server = serve(saying(b"no, because", f"{status} No", retry_after="7", content_type="text/plain"))
    found = (await get(server)).failure
    assert (found.kind, found.retry_after, found.detail["status"]) == (safe, 7.0, status)
    assert found.detail["excerpt"] == "no, because"
    assert (await post(server)).failure.kind == once
    assert (await post(server, idempotent=True)).failure.kind == safe
    assert (await get(server, check=False)).output["status"] == status


async def test_a_date_to_come_back_at_is_understood(serve):
    server = serve(saying(b"", "503 No", retry_after="Wed, 21 Oct 2099 07:28:00 GMT"))
    assert (await get(server)).failure.retry_after > 1e9
    for odd in ("soon", "Wed, 21 Oct 1999 07:28:00 GMT", "99999999999999999999", "-5"):
        found = (await get(serve(saying(b"", "503 No", retry_after=odd)))).failure
        assert found.retry_after is None or 0 <= found.retry_after < 1e10


# ------------------------------------------------------------------------------- redirects


async def test_redirects_are_followed_and_judged_anew(serve):
    end = serve(saying(b"there", content_type="text/plain"))
    begin = serve(saying(b"", "302 Found", location=f"http://127.0.0.1:{end.port}/x?y=1"))
    found = (await get(begin, "/", end)).output
    assert (found["text"], found["url"]) == ("there", f"http://127.0.0.1:{end.port}/x?y=1")
    refused = await get(begin)
    assert refused.failure.kind == "denied"
    assert end.connections == 1
    assert [(each.verdict, each.deed.kind) for each in refused.judged] == [("deny", "connect"), ("allow", "connect")]


async def test_credentials_stay_with_their_origin(serve):
    end = serve(saying(b""))
    begin = serve(saying(b"", "307 Again", location=f"http://127.0.0.1:{end.port}/"))
    secret = {"Authorization": "Bearer s", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "text/html"}
    assert (await get(begin, "/", end, headers=secret)).failure is None
    assert {"authorization", "cookie", "x-api-key"} <= set(begin.headers())
    assert not {"authorization", "cookie", "x-api-key"} & set(end.headers())
    assert end.headers()["accept"] == "text/html"

    def once(wire, head, body):
        there = head.startswith("GET /there")
        (saying(b"") if there else saying(b"", "302 Found", location="/there"))(wire, head, body)

    same = serve(once)
    assert (await get(same, headers=secret)).failure is None
    assert same.headers()["authorization"] == "Bearer s"


async def test_redirects_come_to_an_end(serve):
    server = serve(saying(b"", "302 Found", location="/again"))
    found = await get(server)
    assert found.failure.kind == "invalid"
    assert "more than 5 redirects" in found.failure.message
    assert server.connections == 6


@pytest.mark.parametrize("location", ["//127.0.0.1:{canary}/", "http://localhost:{canary}/", "http://2130706433:{canary}/",
    "http://127.1:{canary}/", "http:\\\\127.0.0.1:{canary}\\", "http://127.0.0.1:{own}@127.0.0.1:{canary}/", "file:///etc/passwd",
    "ftp://127.0.0.1:{canary}/", "http://0:{canary}/", "http://[::ffff:127.0.0.1]:{canary}/"])  # fmt: skip
async def test_a_redirect_to_what_is_not_allowed_leads_nowhere(serve, location):
    canary = serve(saying(b"leak"))
    begin = serve(saying(b""))
    begin.answer = saying(b"", "302 Found", location=location.format(canary=canary.port, own=begin.port))
    found = await get(begin)
    assert found.failure.kind in {"denied", "invalid"}
    assert canary.connections == 0


async def test_a_deed_that_was_done_stays_done_wherever_it_points(serve):
    """S5, and no second POST: not even a question may make the tool start over."""
    result = serve(saying(b"made", content_type="text/plain"))
    begin = serve(saying(b"", "303 See Other", location=f"http://127.0.0.1:{result.port}/made/1"))
    found = (await post(begin, "/", result, json={})).output
    assert (found["status"], found["text"]) == (200, "made")
    assert result.asked[0][0].startswith("GET /made/1 ")
    assert "idempotency-key" not in result.headers()
    found = (await post(begin, json={})).output
    assert found["status"] == 303
    assert "not among what is allowed" in found["unfollowed"]
    allowed = (f"127.0.0.1:{begin.port}", f"127.0.0.1:{result.port}")
    asking = (Layer("user", network=Terms(allow=allowed, ask=allowed[1:])),)
    given = {"method": "POST", "url": f"http://127.0.0.1:{begin.port}/"}
    found = await outcome_of("http.request", given, layers=asking)
    assert found.approval is None
    assert found.output["status"] == 303
    assert begin.connections == 3


async def test_a_body_is_not_sent_on_to_another_origin(serve):
    other = serve(saying(b""))
    begin = serve(saying(b"", "308 Moved", location=f"http://127.0.0.1:{other.port}/"))
    found = await post(begin, "/", other, json={"card": 1})
    assert found.failure.kind == "denied"
    assert other.connections == 0

    def moved(wire, head, body):
        (saying(b"") if head.startswith("POST /new") else saying(b"", "308 Moved", location="/new"))(wire, head, body)

    same = serve(moved)
    assert (await post(same, json={"card": 1})).failure is None
    assert [json.loads(body) for _, body in same.asked] == [{"card": 1}, {"card": 1}]


# ------------------------------------------------------------------------------- time


async def test_nothing_was_sent_means_nothing_was_done():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    url, layers = f"http://127.0.0.1:{port}/", allowing(f"127.0.0.1:{port}")
    found = await outcome_of("http.request", {"method": "POST", "url": url}, layers=layers)
    assert found.failure.kind == "unavailable"


@pytest.mark.parametrize(
    "answer",
    [
        slowly([b"HTTP/1.1 200 OK\r\n", *[b"x"] * 100], 0.1),
        slowly([b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", *[b"x"] * 100], 0.1),
        slowly([b""], 30),
        slowly([b"HTTP/1.1 100 Continue\r\n\r\n"] * 100, 0.1),
    ],
)
async def test_a_slow_answer_is_given_up(serve, answer):
    began = time.monotonic()
    assert (await get(serve(answer), timeout=0.6)).failure.kind == "timeout"
    found = (await post(serve(answer), timeout=0.6)).failure
    assert found.kind == "timeout"
    assert "may have had its effect" in found.message
    assert time.monotonic() - began < 8


def test_a_request_that_nobody_wants_any_more_ends_soon(serve):
    server = serve(slowly([b"HTTP/1.1 200 OK\r\n", *[b"x-a: y\r\n"] * 90], 0.2))
    context = Context(attempt_of(layers=allowing(f"127.0.0.1:{server.port}")))
    threading.Timer(0.3, context.stop).start()
    began = time.monotonic()
    with pytest.raises(ToolFailure, match="asked to stop"):
        GET(url=f"http://127.0.0.1:{server.port}/", context=context)
    assert time.monotonic() - began < 5


# ------------------------------------------------------------------------------- TLS


async def test_a_certificate_is_held_to_the_name(serve, tmp_path, monkeypatch):
    ca, context = authority(tmp_path)
    names = []
    context.sni_callback = lambda sock, name, _: names.append(name)
    server = serve(saying(b"sealed", content_type="text/plain"), context=context)
    url = f"https://localhost:{server.port}/"
    found = await outcome_of("http.request", {"method": "POST", "url": url}, server)
    assert found.failure.kind == "denied"
    assert server.asked == []
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    found = await outcome_of("http.get", {"url": url}, server)
    assert found.output["text"] == "sealed"
    assert names[-1] == "localhost"
    found = await outcome_of("http.get", {"url": url.replace("localhost", "127.0.0.1")}, server)
    assert found.failure.kind == "denied"
    assert "127.0.0.1" in found.failure.message


async def test_what_speaks_no_tls_was_told_nothing(serve):
    server = serve(slowly([b"HTTP/1.1 400 plain\r\n\r\n"], 0), listens=False)
    found = await outcome_of("http.request", {"method": "POST", "url": f"https://127.0.0.1:{server.port}/"}, server)
    assert found.failure.kind == "unavailable"


async def test_a_redirect_out_of_tls_is_not_followed(serve, tmp_path, monkeypatch):
    ca, context = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    plain = serve(saying(b""))
    server = serve(saying(b"", "302 Found", location=f"http://127.0.0.1:{plain.port}/"), context=context)
    found = await outcome_of("http.get", {"url": f"https://localhost:{server.port}/"}, server, plain)
    assert found.failure.kind == "denied"
    assert plain.connections == 0


# ------------------------------------------------------------------------------- approval


async def test_a_person_agrees_to_one_host(serve):
    server = serve(saying(b"ok"))
    host = f"127.0.0.1:{server.port}"
    layers = (Layer("user", network=Terms(allow=(host,), ask=(host,))),)
    arguments = {"method": "POST", "url": f"http://{host}/", "json": 1}
    asked = await outcome_of("http.request", arguments, layers=layers)
    assert host in asked.approval.text
    assert server.connections == 0
    agreed = frozenset({asked.approval.digest})
    assert (await outcome_of("http.request", arguments, layers=layers, approved=agreed)).output["status"] == 200
    other = await outcome_of("http.request", {**arguments, "json": 2}, layers=layers, approved=agreed)
    assert other.approval is not None


def test_a_url_is_written_back_as_it_was_read():
    for text in (
        "http://example.com/",
        "https://example.com:8443/a?b=c",
        "http://[2606:4700::1]:8080/",
        "https://a.b/%2e%2e/c?d=%00",
    ):
        assert str(url_of(text)) == text
    assert str(url_of("HTTPS://Example.COM:443/ä?ö#x")) == "https://example.com/%C3%A4?%C3%B6"
    assert str(url_of("http://example.com?a")) == "http://example.com/?a"

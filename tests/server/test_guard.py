"""The guard, by requests as they come in: each as an attacker would send it, or as it ought to be."""

import asyncio
import json
from contextlib import ExitStack

import pytest
from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse, StreamingResponse

from perdure.server.callers import Caller
from perdure.server.doors import Doors
from perdure.server.entrance import Entrance, Most
from perdure.server.guard import Guard
from perdure.server.keys import Keys
from perdure.server.names import names_of
from perdure.server.scopes import ALL, OPEN, WORD
from perdure.server.sessions import Sessions
from perdure.server.taking import LARGEST

HOST = "127.0.0.1:8642"
ORIGIN = f"http://{HOST}"
OK, JSON = ("host", HOST), ("content-type", "application/json")
QUICK = Most(requests=3, streams=2, guesses=2, pause=0.0)


class House:
    """A guard before a small app, with a key for each scope and a session."""

    def __init__(self, path, most=QUICK):
        self.keys, self.now = Keys(path / "runs.db.keys"), 0
        self.secrets = {scope: self.keys.new(scope, [scope], 0) for scope in ALL}
        self.sessions = Sessions(lambda: self.now)
        self.cookie = self.session("ann", "admin")
        self.entrance = Entrance(most)
        self.asked = []
        doors = Doors(self.keys, self.sessions, names_of("127.0.0.1", 8642, tls=False), lambda: self.now)
        app = self.app()
        self.guard = Guard(app, app.routes, doors, self.entrance)

    def session(self, name, scope):
        return self.sessions.exchanged(self.sessions.link(Caller(name, (scope,))))

    def app(self):
        app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

        async def seen(request: Request):
            self.asked.append((request.method, request.url.path))
            return PlainTextResponse(f"{request.state.caller.name} {(await request.body()).decode()}".strip())

        async def healthz():
            return PlainTextResponse("ok", headers={"Access-Control-Allow-Origin": "*"})

        async def events():
            async def told():
                yield b"data: 1\n\n"
                while True:
                    await asyncio.sleep(0.01)
                    yield b": still here\n\n"

            return StreamingResponse(told(), media_type="text/event-stream")

        for scope in ALL:
            for method in ("GET", "POST", "DELETE"):
                app.add_api_route(f"/v1/{scope}", seen, methods=[method], openapi_extra={WORD: scope})
        app.add_api_route("/v1/unwritten", seen, methods=["GET"])
        app.add_api_route("/v1/events", events, methods=["GET"], openapi_extra={WORD: "read"})
        app.add_api_route("/healthz", healthz, methods=["GET", "POST"], openapi_extra={WORD: OPEN})
        return app

    def bearer(self, scope="admin"):
        return ("authorization", f"Bearer {self.secrets[scope]}")

    @property
    def with_cookie(self):
        return ("cookie", f"perdure-8642={self.cookie}")

    async def ask(self, *, method="GET", path="/v1/read", headers=(), body=b"", query="", kind="http", send=None):  # noqa: PLR0913  a request has so many parts
        told = []

        bodies = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            return bodies.pop() if bodies else await asyncio.Event().wait()

        async def take(message):
            told.append(message)

        length = [("content-length", str(len(body)))] if body else []
        scope = {
            "type": kind, "asgi": {"spec_version": "2.3"}, "http_version": "1.1", "scheme": "http", "root_path": "",
            "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin1")) for name, value in (*headers, *length)],
        }  # fmt: skip
        await self.guard(scope, receive, send or take)
        return Answer(told)


class Answer:
    def __init__(self, told):
        self.told = told
        self.kind = told[0]["type"]
        self.status = told[0].get("status", self.kind)
        self.headers = {name.decode(): value.decode() for name, value in told[0].get("headers", ())}
        self.body = b"".join(each.get("body", b"") for each in told[1:])

    @property
    def code(self):
        return json.loads(self.body)["code"]


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


def ask(house, **asked):
    return asyncio.run(house.ask(**asked))


# Who, and what is to come of it: K a key, C a cookie. From prototypes that were tried against other servers.
VECTORS = {
    "no key": ({"headers": [OK]}, 401),
    "key": ({"headers": [OK, "K"]}, 200),
    "a name that was made to lead here": ({"headers": [("host", "evil.example"), "K"]}, 421),
    "a name that begins like ours": ({"headers": [("host", f"{HOST}.evil.example"), "K"]}, 421),
    "our name with another port": ({"headers": [("host", "127.0.0.1:8643"), "K"]}, 421),
    "our name without a port": ({"headers": [("host", "127.0.0.1"), "K"]}, 421),
    "no name": ({"headers": ["K"]}, 421),
    "localhost": ({"headers": [("host", "localhost:8642"), "K"]}, 200),
    "LOCALHOST": ({"headers": [("host", "LOCALHOST:8642"), "K"]}, 200),
    "another page": ({"method": "POST", "headers": [OK, "K", JSON, ("origin", "http://evil.example")]}, 403),
    "another port's page": ({"method": "POST", "headers": [OK, "C", JSON, ("origin", "http://127.0.0.1:3000")]}, 403),
    "the same by TLS": ({"method": "POST", "headers": [OK, "C", JSON, ("origin", f"https://{HOST}")]}, 403),
    "a page without origin": ({"method": "POST", "headers": [OK, "C", JSON, ("origin", "null")]}, 403),
    "plain text": ({"method": "POST", "headers": [OK, "K", ("content-type", "text/plain")]}, 415),
    "a form": ({"method": "POST", "headers": [OK, "C", ("origin", ORIGIN), ("content-type", "application/x-www-form-urlencoded")]}, 415),
    "a body of no type": ({"method": "POST", "headers": [OK, "K"], "body": b"{}"}, 415),
    "JSON in capitals": ({"method": "POST", "headers": [OK, "K", ("content-type", "Application/JSON; charset=utf-8")], "body": b"{}"}, 200),
    "no body": ({"method": "POST", "headers": [OK, "K"]}, 200),
    "a body that is only read": ({"headers": [OK, "K", JSON], "body": b"{}"}, 415),
    "a cookie from nowhere": ({"method": "POST", "headers": [OK, "C", JSON]}, 403),
    "a cookie from our page": ({"method": "POST", "headers": [OK, "C", JSON, ("origin", ORIGIN)]}, 200),
    "a cookie from our page, by another word": ({"method": "POST", "headers": [OK, "C", JSON, ("sec-fetch-site", "same-origin")]}, 200),
    "DELETE without a key": ({"method": "DELETE", "headers": [OK]}, 401),
    "DELETE from another page": ({"method": "DELETE", "headers": [OK, "C", ("origin", "http://evil.example")]}, 403),
    "what ends like an open path": ({"path": "/v1/x-healthz", "headers": [OK]}, 401),
    "what begins like an open path": ({"path": "/healthz/../v1/read", "headers": [OK]}, 401),
    "what begins twice": ({"path": "//healthz", "headers": [OK]}, 401),
    "open": ({"path": "/healthz", "headers": [OK]}, 200),
    "open, for a stranger's name": ({"path": "/healthz", "headers": [("host", "evil.example")]}, 421),
    "open, but not to change something": ({"method": "POST", "path": "/healthz", "headers": [OK]}, 401),
    "websocket": ({"kind": "websocket", "headers": [OK]}, "websocket.close"),
    "websocket with a cookie": ({"kind": "websocket", "headers": [OK, "C"]}, "websocket.close"),
    "websocket from elsewhere": ({"kind": "websocket", "headers": [OK, "C", ("origin", "http://evil.example")]}, "websocket.close"),
    "websocket with all that is right": ({"kind": "websocket", "headers": [OK, "C", ("origin", ORIGIN)]}, "websocket.close"),
    "an image on another page": ({"headers": [OK, "C", ("sec-fetch-site", "cross-site")]}, 403),
    "an image on another port's page": ({"headers": [OK, "C", ("sec-fetch-site", "same-site")]}, 403),
    "a link on another page, to what needs a key": ({"headers": [OK, "C", ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]}, 403),
    "a link on another page, to what is open": ({"path": "/healthz", "headers": [OK, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]}, 200),
    "a frame on another page": ({"path": "/healthz", "headers": [OK, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]}, 403),
    "two names": ({"headers": [OK, ("host", "evil"), "K"]}, 400),
    "two keys": ({"headers": [OK, "K", ("authorization", "Bearer x")]}, 400),
    "two lengths": ({"method": "POST", "headers": [OK, "K", JSON, ("content-length", "1"), ("content-length", "2")]}, 400),
    "TRACE": ({"method": "TRACE", "headers": [OK, "K"]}, 405),
    "QUERY": ({"method": "QUERY", "headers": [OK, "K"]}, 405),
    "asking first, as other pages have to": ({"method": "OPTIONS", "headers": [OK, ("origin", ORIGIN)]}, 405),
    "a wrong key": ({"headers": [OK, ("authorization", "Bearer x")]}, 401),
    "a key of another kind": ({"headers": [OK, ("authorization", "Basic eDp5")]}, 401),
    "a wrong key with a good cookie": ({"headers": [OK, "C", ("authorization", "Bearer x")]}, 401),
    "a key that is no text": ({"headers": [OK, ("authorization", "Bearer \xff\xfe")]}, 400),
    "a wrong cookie": ({"headers": [OK, ("cookie", "perdure-8642=x")]}, 401),
    "a cookie of another port": ({"headers": [OK, ("cookie", "perdure-8643=x")]}, 401),
    "too many headers": ({"headers": [OK, "K", *[(f"x-{n}", "") for n in range(200)]]}, 431),
    "a long header": ({"headers": [OK, "K", ("x-long", "x" * 20_000)]}, 431),
    "no scope is written": ({"path": "/v1/unwritten", "headers": [OK, "K"]}, 403),
    "nothing there": ({"path": "/v1/nothing", "headers": [OK, "K"]}, 404),
    "nothing there, for a stranger": ({"path": "/v1/nothing", "headers": [OK]}, 401),
    "HEAD as GET": ({"method": "HEAD", "headers": [OK]}, 401),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_e16_a_request_is_let_in_or_refused(house, name):
    asked, expected = VECTORS[name]
    spoken = {"K": house.bearer(), "C": house.with_cookie}
    headers = [spoken.get(each, each) for each in asked["headers"]]
    answer = ask(house, **{**asked, "headers": headers})
    assert answer.status == expected
    assert bool(house.asked) is (expected == 200 and asked.get("path") != "/healthz")


def test_every_answer_has_the_same_shields_and_no_other_page_may_read_it(house):
    for asked in (
        {"headers": [OK, house.bearer()]},
        {"headers": [OK]},
        {"path": "/healthz", "headers": [OK]},
        {"path": "/open", "headers": [OK]},
    ):
        said = ask(house, **asked).headers
        assert "frame-ancestors 'none'" in said["content-security-policy"]
        assert "unsafe" not in said["content-security-policy"]
        assert "*" not in said["content-security-policy"]
        assert said["x-content-type-options"] == "nosniff"
        assert said["referrer-policy"] == "no-referrer"
        assert said["cross-origin-resource-policy"] == said["cross-origin-opener-policy"] == "same-origin"
        assert said["cache-control"] == "no-store"
        assert not any(name.startswith("access-control") for name in said)


@pytest.mark.parametrize("has", ALL)
@pytest.mark.parametrize("needs", ALL)
def test_a_key_opens_what_its_scope_says(house, has, needs):
    implied = {"read": {"read"}, "run": {"read", "run"}, "approve": {"read", "approve"}, "admin": set(ALL)}
    answer = ask(house, path=f"/v1/{needs}", headers=[OK, house.bearer(has)])
    assert (answer.status == 200) is (needs in implied[has])
    if answer.status == 200:
        assert answer.body.decode() == has, "what is done is done by the name of the key"
    else:
        assert answer.code == "PRD6023"


@pytest.mark.parametrize("place", ["path", "query"])
def test_a_key_in_an_address_is_refused_whether_or_not_it_is_right(house, place):
    secret = house.secrets["admin"]
    asked = {"path": f"/v1/{secret}"} if place == "path" else {"query": f"token={secret}"}
    answer = ask(house, **asked, headers=[OK, house.bearer()])
    assert (answer.status, answer.code) == (400, "PRD6029")
    assert secret not in answer.body.decode()


def test_a_refusal_says_what_to_do_and_shows_no_secret(house):
    answer = ask(house, headers=[OK, ("authorization", f"Bearer {house.secrets['read'][:-1]}x")])
    said = json.loads(answer.body)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (said["status"], said["code"]) == (401, "PRD6022")
    assert "perdure keys new" in said["help"]
    assert house.secrets["read"][:-1] not in answer.body.decode()


def test_a_key_that_is_taken_back_or_over_opens_nothing(house):
    until = house.keys.new("bob", ["read"], 0, 1_000)
    for secret, name in ((until, "bob"), (house.secrets["read"], "read")):
        asked = {"headers": [OK, ("authorization", f"Bearer {secret}")]}
        assert ask(house, **asked).status == 200
        if name == "bob":
            house.now = 1_000
        else:
            house.keys.revoke(name)
        assert ask(house, **asked).status == 401


def test_a_file_of_keys_that_others_can_write_opens_nothing(house):
    house.keys.path.chmod(0o666)
    assert ask(house, headers=[OK, house.bearer()]).status == 401


def test_a_body_is_taken_whole_and_handed_on(house):
    answer = ask(house, method="POST", headers=[OK, house.bearer(), JSON], body=b'{"a": 1}')
    assert answer.body == b'admin {"a": 1}'


def test_a_body_that_is_too_long_is_refused_before_it_is_read(house):
    long = ("content-length", str(1 << 40))
    assert ask(house, method="POST", headers=[OK, house.bearer(), JSON, long]).status == 413
    assert house.asked == []


def test_a_body_in_pieces_is_refused_when_it_is_too_long(house):
    chunked = ("transfer-encoding", "chunked")
    asked = {"method": "POST", "headers": [OK, JSON, chunked], "body": b"x" * (LARGEST + 1)}
    assert ask(house, **asked).status == 401, "who is nobody sends nothing"
    assert ask(house, **{**asked, "headers": [OK, JSON, chunked, house.bearer()]}).status == 413


def test_e8_more_requests_than_there_is_room_for_are_refused_and_told_when_to_come(house):
    async def crowd():
        with house.entrance.inside(), house.entrance.inside(), house.entrance.inside():
            return await house.ask(headers=[OK, house.bearer()])

    answer = asyncio.run(crowd())
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (429, "PRD6027", "1")
    assert ask(house, headers=[OK, house.bearer()]).status == 200


def test_who_guesses_waits_and_who_has_a_key_does_not(tmp_path):
    async def crowd():
        house = House(tmp_path, Most(guesses=2, pause=3_600.0, longest=3_600.0))
        wrong = [asyncio.create_task(house.ask(headers=[OK])) for _ in range(2)]
        await asyncio.sleep(0)
        third, good = await house.ask(headers=[OK]), await house.ask(headers=[OK, house.bearer()])
        assert not any(each.done() for each in wrong)
        for each in wrong:
            each.cancel()
        await asyncio.wait(wrong)
        return third.status, good.status

    assert asyncio.run(crowd()) == (429, 200)


# ------------------------------------------------------------------------------- streams


class Stream:
    """A stream that is open."""

    def __init__(self, house, header):
        self.told, self.begun = [], asyncio.Event()
        self.task = asyncio.create_task(house.ask(path="/v1/events", headers=[OK, header], send=self._take))

    async def _take(self, message):
        self.told.append(message)
        if message.get("body"):
            self.begun.set()


def test_a_stream_ends_well_when_the_server_stops_or_its_key_is_taken_back(tmp_path):
    async def watched(end):
        house = House(tmp_path / end)
        stream = Stream(house, house.bearer("read"))
        await stream.begun.wait()
        if end == "stop":
            house.entrance.close()
        else:
            house.keys.revoke("read")
        with pytest.raises(IndexError):  # the answer went to the stream
            await stream.task
        return stream.told[-1], (await house.ask(headers=[OK, house.bearer()])).status

    assert asyncio.run(watched("stop")) == ({"type": "http.response.body", "body": b""}, 429)
    assert asyncio.run(watched("revoke")) == ({"type": "http.response.body", "body": b""}, 200)


def test_streams_take_no_room_of_others_and_there_are_only_so_many(tmp_path):
    async def watched():
        house = House(tmp_path)
        streams = [Stream(house, house.bearer()) for _ in range(2)]
        for each in streams:
            await each.begun.wait()
        third = await house.ask(path="/v1/events", headers=[OK, house.bearer()])
        other = await house.ask(headers=[OK, house.bearer()])
        house.entrance.close()
        await asyncio.wait([each.task for each in streams])
        assert all(isinstance(each.task.exception(), IndexError) for each in streams)
        return third.status, other.status

    assert asyncio.run(watched()) == (429, 200)


# ------------------------------------------------------------------------------- links


def exchange(house, code, *more):
    body = json.dumps({"once": code}).encode()
    return ask(house, method="POST", path="/open", headers=[OK, JSON, ("origin", ORIGIN), *more], body=body)


def test_a_link_is_exchanged_for_a_cookie_once(house):
    code = house.sessions.link(Caller("bob", ("run",)))
    answer = exchange(house, code)
    said = answer.headers["set-cookie"]
    name, _, rest = said.partition("=")
    assert (answer.status, name) == (204, "perdure-8642")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(said.split("; "))
    assert "Secure" not in said, "this is plain http"
    cookie = ("cookie", f"{name}={rest.partition(';')[0]}")
    assert ask(house, path="/v1/run", headers=[OK, cookie]).body == b"bob"
    again = exchange(house, code)
    assert again.status == 410
    assert again.code == "PRD6036"


def test_a_link_lasts_ten_minutes_and_a_session_twelve_hours(house):
    code, other = (house.sessions.link(Caller("bob", ("run",))) for _ in range(2))
    house.now = 599_999
    answer = exchange(house, code)
    assert answer.status == 204
    house.now = 600_000
    assert exchange(house, other).status == 410
    cookie = ("cookie", answer.headers["set-cookie"].partition(";")[0])
    assert ask(house, headers=[OK, cookie]).status == 200
    house.now = 599_999 + 12 * 3_600_000
    assert ask(house, headers=[OK, cookie]).status == 401


def test_a_session_can_be_ended(house):
    page = ("origin", ORIGIN)
    assert ask(house, method="DELETE", path="/open", headers=[OK, page, house.with_cookie]).status == 204
    assert ask(house, headers=[OK, house.with_cookie]).status == 401


@pytest.mark.parametrize(
    "headers", [[("origin", "http://evil.example")], [], [("sec-fetch-site", "cross-site")]], ids=str
)
def test_nobody_elses_page_opens_a_session_in_their_browser(house, headers):
    code = house.sessions.link(Caller("mallory", ("admin",)))
    body = json.dumps({"once": code}).encode()
    assert ask(house, method="POST", path="/open", headers=[OK, JSON, *headers], body=body).status == 403


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"once": 1}', b'{"once": "x", "more": 1}', b"\xff", b"x" * 2_000], ids=str
)
def test_what_is_no_code_is_refused(house, body):
    answer = ask(house, method="POST", path="/open", headers=[OK, JSON, ("origin", ORIGIN)], body=body)
    assert answer.status in {413, 422}


def test_two_cookies_of_one_name_are_none(house):
    both = ("cookie", f"perdure-8642={house.cookie}; perdure-8642=x")
    assert ask(house, headers=[OK, both]).status == 401


def test_the_page_of_a_link_runs_a_file_of_ours_and_sends_no_code_in_an_address(house):
    page, script = (ask(house, path=path, headers=[OK]) for path in ("/open", "/open.js"))
    assert b'<script src="open.js">' in page.body
    assert b"location.hash" in script.body
    assert b"replaceState" in script.body
    assert script.headers["content-type"].startswith("text/javascript")


def test_by_tls_a_cookie_belongs_to_this_very_host(tmp_path):
    house = House(tmp_path)
    doors = Doors(
        house.keys, house.sessions, names_of("::", 443, tls=True, also=["https://perdure.example"]), lambda: 0
    )
    house.guard = Guard(house.app(), [], doors, house.entrance)
    code = house.sessions.link(Caller("bob", ("run",)))
    body, page = json.dumps({"once": code}).encode(), ("origin", "https://perdure.example")
    answer = ask(house, method="POST", path="/open", headers=[("host", "perdure.example"), JSON, page], body=body)
    said = answer.headers["set-cookie"].split("; ")
    assert said[0].startswith("__Host-perdure=")
    assert "Secure" in said


async def test_e8_two_hundred_may_watch_at_once_and_there_is_room_for_requests():
    entrance = Entrance()
    with ExitStack() as inside:
        for _ in range(200):
            assert inside.enter_context(entrance.inside()).become_stream()
        with entrance.inside() as visit:
            assert not visit.is_stream

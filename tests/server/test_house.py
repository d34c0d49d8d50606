"""The house itself, over HTTP. E16, E17."""

from html.parser import HTMLParser

import pytest
from served import ASK, WAIT, begun, serving

import perdure
from perdure.agents.agent import Agent
from perdure.agents.templates import stock
from perdure.documents.agents import Known
from perdure.errors import codes
from perdure.server import Caller, scope_for
from perdure.server.reading import page
from perdure.server.scopes import ALL, OPEN, allows
from perdure.tools import BUILTIN
from perdure.world import Alone

pytestmark = pytest.mark.anyio


class Furnished(Alone):
    """A world with all that comes with it."""

    def tools(self):
        return BUILTIN

    def agents(self):
        return [Known(Agent(name="ann", role="packer"), "here")]

    def templates(self):
        return list(stock())


async def test_what_there_is_around_the_engine_is_listed():
    async with serving(world=Furnished()) as client:
        tools = (await client.get("/v1/tools")).json()["tools"]
        assert {each["name"] for each in tools} == {each.name for each in BUILTIN}
        [agent] = (await client.get("/v1/agents")).json()["agents"]
        assert (agent["name"], agent["origin"]) == ("ann", "here")
        assert (await client.get("/v1/templates")).json()["templates"][0]["examples"]


async def test_whoever_asks_is_told_what_they_may_do():
    async with serving() as client:
        me = (await client.get("/v1/me")).json()
        assert (me["name"], me["scopes"], me["version"]) == ("", list(ALL), perdure.__version__)

        async def known(scope, receive, send):
            await client.app({**scope, "state": {"caller": Caller("ann", ("approve",))}}, receive, send)

        client._transport.app = known
        assert (await client.get("/v1/me")).json()["scopes"] == ["read", "approve"]


async def test_e17_the_kill_switch_cancels_every_run():
    async with serving({}) as client:
        runs = [await begun(client, ASK), await begun(client, WAIT)]
        assert set((await client.post("/v1/stop")).json()["runs"]) == set(runs)
        assert [each["status"] for each in (await client.get("/v1/runs")).json()["runs"]] == ["cancelled"] * 2


async def test_the_server_says_whether_it_is_there_and_ready(tmp_path):
    async with serving() as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).json() == {"status": "ok"}
    async with serving(path=tmp_path / "runs.db", idle=True) as client:
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["code"]) == (503, "PRD6007")


async def test_e11_what_became_of_runs_is_counted():
    async with serving({}) as client:
        await begun(client, {"steps": [{"id": "pack", "tool": "shop.pack"}]})
        await begun(client, WAIT)
        found = (await client.get("/v1/stats")).json()
        assert (found["runs"]["started"], found["runs"]["over"]) == (2, {"succeeded": 1})
        later = (await client.get("/v1/stats", params={"since": "2999-01-01T00:00:00Z"})).json()
        assert later["runs"]["started"] == 0


async def test_every_code_is_explained():
    async with serving() as client:
        for code in codes()[:5]:
            answer = await client.get(f"/docs/{code}")
            assert answer.text.startswith(f"# {code}")
        assert (await client.get("/docs/PRD9999")).status_code == 404


async def test_the_reference_is_a_page_that_needs_no_script_and_nothing_from_elsewhere():
    async with serving() as client:
        answer = await client.get("/docs")
        policy = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
        assert (policy["default-src"], policy["style-src"]) == ("'none'", "'self'")
        parser = Links()
        parser.feed(answer.text)
        assert parser.found == {("link", "/docs.css"), ("a", "/openapi.json")}
        assert (await client.get("/docs.css")).headers["content-type"].startswith("text/css")
        for path in client.app.openapi()["paths"]:
            assert f"{path}</code>" in answer.text


class Links(HTMLParser):
    """What a page takes from elsewhere, or runs; a style or a handler of its own is none."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        assert tag not in {"script", "style", "img", "iframe", "object", "form"}
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.found |= {(tag, value) for name, value in attrs if name in {"href", "src"}}


def test_what_is_said_in_a_description_is_never_markup():
    record = {"properties": {"a<b>": {"type": "string", "description": "</table><script>`x`"}}, "description": "<i>"}
    document = {
        "info": {"title": "<T>", "version": "1", "description": ""}, "paths": {}, "components": {"schemas": {"R": record}},
    }  # fmt: skip
    parser = Links()
    parser.feed(page(document))
    assert "<i>" not in page(document)


# ------------------------------------------------------------------------------- scopes

LOOKING = {"check_plan", "draw_plan", "diff_plans", "estimate_plan", "rehearse_plan"}
"""What is sent with POST because it is long, and changes nothing."""


async def test_every_route_says_which_scope_it_needs_and_none_is_lower_than_what_it_does():
    async with serving() as client:
        document = (await client.get("/openapi.json")).json()
        told = {
            (method, path, operation["operationId"]): operation["x-scope"]
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        }
        assert len({name for _, _, name in told}) == len(told) > 35
        for (method, path, name), scope in told.items():
            if path in {"/healthz", "/readyz"}:
                assert scope == OPEN
            elif method == "get" or name in LOOKING:
                assert scope == "read", name
            else:
                assert scope in {"run", "approve", "admin"}, name


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/v1/runs", "read"),
        ("POST", "/v1/runs", "run"),
        ("POST", "/v1/runs/r_1/questions/q_1", "approve"),
        ("POST", "/v1/stop", "admin"),
        ("GET", "/readyz", OPEN),
        ("PUT", "/v1/runs", None),
        ("GET", "/nothing", None),
    ],
)
async def test_the_scope_of_a_request_is_found_before_it_is_done(method, path, scope):
    async with serving() as client:
        asked = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
        assert scope_for(client.app.routes, asked) == scope


def test_what_a_scope_allows():
    found = {each: {other for other in ALL if allows([each], other)} for each in ALL}
    assert found == {"read": {"read"}, "run": {"read", "run"}, "approve": {"read", "approve"}, "admin": set(ALL)}
    assert not allows([], "read")
    assert not allows(["odd"], "read")

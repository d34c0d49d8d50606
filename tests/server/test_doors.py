"""Every route there is, as strangers try it; and what a run can reach of the server that carries it out. E8, E16."""

import json
import socket

import httpx2
import pytest

from perdure import Plan
from perdure.core.policy import Layer, Terms
from perdure.engine import Engine
from perdure.server import Keys, Names, guarded
from perdure.server.listening import Address
from perdure.server.scopes import OPEN, scope_for
from perdure.server.serving import Place, serving
from perdure.tools.net.ours import is_ours
from perdure.world import Alone

pytestmark = pytest.mark.anyio
LESSER = {"read": None, "run": "read", "approve": "run", "admin": "approve"}
"""A scope that is not enough for another one."""


@pytest.fixture
async def guard(tmp_path):
    async with Engine.open() as engine:
        yield guarded(engine, Alone(), Keys(tmp_path / "keys"), Names(("http://perdure",)))


def every_route(guard):
    for route in guard._routes:
        for method in sorted(route.methods - {"HEAD"}):
            path = route.path.replace("{", "").replace("}", "")
            asked = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
            yield method, path, scope_for(guard._routes, asked)


async def test_e16_no_route_lets_a_stranger_in(guard):
    keys = {scope: guard.doors.keys.new(scope, [scope], 0) for scope in LESSER}
    transport = httpx2.ASGITransport(guard)
    seen = set()
    async with httpx2.AsyncClient(transport=transport, base_url="http://perdure") as client:

        async def status(method, path, scope=None, **headers):
            key = {"Authorization": f"Bearer {keys[scope]}"} if scope else {}
            return (await client.request(method, path, headers={**key, **headers})).status_code

        for method, path, needed in every_route(guard):
            seen.add(needed)
            assert needed is not None, f"nobody has written what {method} {path} needs"
            assert await status(method, path, "admin", Host="evil.example") == 421, (method, path)
            assert await status(method, path, "admin", Origin="http://evil.example") == 403, (method, path)
            if needed == OPEN:
                assert method == "GET"
                continue
            assert await status(method, path) == 401, (method, path)
            if LESSER[needed]:
                assert await status(method, path, LESSER[needed]) == 403, (method, path)
    assert seen == {*LESSER, OPEN}


# ------------------------------------------------------------------------------- what a run can reach

_TRY = """
import json, socket, urllib.request
found = {{}}
def tried(name, do):
    try:
        found[name] = str(do())
    except Exception as error:
        found[name] = "refused"
tried("port", lambda: socket.create_connection(("127.0.0.1", {port}), 3))
tried("proxy", lambda: urllib.request.urlopen("http://127.0.0.1:{port}/healthz", timeout=5).status)
for name in ("runs.db", "runs.db.keys", "runs.db.sock"):
    tried(name, lambda: len(open({place!r} + "/" + name, "rb").read()) or "empty")
tried("control", lambda: socket.socket(socket.AF_UNIX).connect({place!r} + "/runs.db.sock"))
print(json.dumps(found))
"""


async def test_e16_neither_socket_nor_keys_nor_port_are_there_for_a_command_in_the_sandbox(tmp_path):
    workspace = tmp_path.resolve() / "ws"
    place = workspace / ".perdure"
    place.mkdir(parents=True)
    with Address(port=0).bound() as listener:
        port = listener.getsockname()[1]
        everywhere = (Layer("you", network=Terms(allow=(f"127.0.0.1:{port}", f"localhost:{port}"))),)
        keys = Keys(place / "runs.db.keys")
        keys.new("ann", ["admin"], 0)
        asking = {
            "command": ["python3", "-c", _TRY.format(port=port, place=str(place))],
            "network": [f"127.0.0.1:{port}"],
            "env": {"NO_PROXY": "", "no_proxy": ""},
        }
        steps = [
            {"id": "sh", "tool": "shell.run", "with": asking},
            {"id": "get", "tool": "http.get", "with": {"url": f"http://localhost:{port}/healthz"}},
        ]
        async with (
            Engine.open(place / "runs.db", workspace=workspace, policy=everywhere) as engine,
            serving(engine, Alone(workspace), Place(listener, keys)) as server,
            httpx2.AsyncClient(base_url=server.url) as client,
        ):
            assert (await client.get("/healthz")).status_code == 200, "it is there for us"
            plan = Plan.model_validate({"steps": steps[:1], "output": "${steps.sh.output}"})
            result = await (await engine.start(plan)).result()
            found = json.loads(result.output["stdout"])
            fetched = await (await engine.start(Plan.model_validate({"steps": steps[1:]}))).result()
    assert {name for name, what in found.items() if what not in {"refused", "empty"}} == set()
    assert "leads to Perdure itself" in str(fetched.failure)


async def test_a_port_is_kept_from_tools_only_as_long_as_it_is_served(tmp_path):
    with Address(port=0).bound() as listener:
        port = listener.getsockname()[1]
        async with Engine.open() as engine, serving(engine, Alone(), Place(listener, Keys(tmp_path / "keys"))):
            assert is_ours("127.0.0.1", port)
            assert is_ours("0.0.0.0", port)  # noqa: S104  it leads here, too
            assert not is_ours("127.0.0.1", port + 1)
            assert not is_ours("192.0.2.1", port)
        assert not is_ours("127.0.0.1", port)


def test_answers_are_sent_at_once_and_not_held_back_for_more():
    """asyncio turns that off for sockets that say they are of TCP, and for no others: 40 ms for each answer."""
    with Address(port=0).bound() as listener:
        assert listener.proto == socket.IPPROTO_TCP

"""The reference servers, as their registries hand them out, each in the sandbox; and one of them over HTTP."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp_programs import NODE, PLACE, install

from perdure import Engine, Plan
from perdure.plan.model.parts import Policy
from perdure.tools.mcp import Pins, Toolset
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.servers import Server, host_of

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", autouse=True)
def installed():
    install()


def node(name, *args, **more):
    return Server(name, ("node", str(NODE / f"server-{name}" / "dist" / "index.js"), *map(str, args)), **more)


def python(name, *args, **more):
    return Server(name, (str(PLACE / "python" / "bin" / f"mcp-server-{name}"), *map(str, args)), **more)


@pytest.fixture
async def using(tmp_path):
    """A function that has a plan of one step carried out with an approved server."""
    async with AsyncExitStack() as closing:
        engines = {}

        async def engine_with(server):
            toolset = Toolset({server.name: server}, Pins(tmp_path / "state" / "pins.json"), Values({}, {}))
            closing.push_async_callback(toolset.close)
            offer = await toolset.look(server.name)
            assert offer.refused == []
            toolset.pins.approve(server.name, offer.tools)
            mine = Policy(network=(host_of(server.url),) if server.url else ())
            return await closing.enter_async_context(Engine.open(tools=toolset.tools(), policy=mine))

        async def used(server, tool, **arguments):
            if id(server) not in engines:
                engines[id(server)] = await engine_with(server)
            step = {"id": "a", "tool": f"{server.name}.{tool}", "with": arguments}
            plan = Plan.model_validate({"steps": [step], "output": "${steps.a.output}"})
            return await (await engines[id(server)].start(plan)).result()

        yield used


async def test_everything_answers_with_text_structure_and_pictures(using):
    server = node("everything", env={"ONLY": "this"})
    done = await using(server, "echo", message="hi")
    assert done.failure is None
    assert done.output == "Echo: hi"
    weather = (await using(server, "get-structured-content", location="New York")).output
    assert set(weather) == {"temperature", "conditions", "humidity"}
    assert [part["type"] for part in (await using(server, "get-tiny-image")).output] == ["text", "image", "text"]
    env = (await using(server, "get-env")).output
    assert '"ONLY": "this"' in env
    assert str(Path.home()) not in env


async def test_everything_tells_how_far_it_is(using):
    result = await using(node("everything"), "trigger-long-running-operation", duration=0.5, steps=2)
    assert result.status == "succeeded"


async def test_filesystem_writes_where_it_may_and_nowhere_else(using, tmp_path):
    ours = tmp_path / "ours"
    ours.mkdir()
    (tmp_path / "theirs").write_text("secret")
    server = node("filesystem", ours, tmp_path, write=(ours,))
    assert (await using(server, "write_file", path=str(ours / "a.txt"), content="hello")).status == "succeeded"
    assert (ours / "a.txt").read_text() == "hello"
    result = await using(server, "read_text_file", path=str(tmp_path / "theirs"))
    assert result.status == "failed", "the server may read all of it; the sandbox does not show it"
    assert "ENOENT" in result.failure.message


async def test_memory_remembers_in_a_file_of_its_own(using, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    server = node("memory", env={"MEMORY_FILE_PATH": str(kept / "graph.json")}, write=(kept,))
    entity = {"name": "perdure", "entityType": "engine", "observations": ["it goes on"]}
    assert (await using(server, "create_entities", entities=[entity])).status == "succeeded"
    found = (await using(server, "read_graph")).output
    assert [each["name"] for each in found["entities"]] == ["perdure"]


async def test_time_speaks_the_newest_protocol(using):
    server = python("time")
    assert (await using(server, "get_current_time", timezone="Etc/UTC")).output["timezone"] == "Etc/UTC"


@pytest.fixture
def repository(tmp_path):
    git = [shutil.which("git"), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", tmp_path / "repository"], check=True)
    subprocess.run(
        [*git, "-C", tmp_path / "repository", "commit", "-q", "--allow-empty", "-m", "The first"], check=True
    )
    return tmp_path / "repository"


async def test_git_sees_the_repository_that_is_named(using, repository):
    safe = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    server = python("git", read=(repository,), env=safe)
    assert "The first" in (await using(server, "git_log", repo_path=str(repository))).output
    blind = python("git")
    result = await using(blind, "git_log", repo_path=str(repository))
    assert result.status == "failed"


@pytest.fixture
def over_http():
    """The server of everything, at an address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["node", str(NODE / "server-everything" / "dist" / "index.js"), "streamableHttp"]
    env = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env) as process:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with socket.socket() as trying:
                if trying.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


async def test_everything_over_http(using, over_http):
    server = Server("everything", url=over_http)
    assert host_of(over_http).startswith("127.0.0.1:")
    done = await using(server, "echo", message="hi")
    assert done.failure is None
    assert done.output == "Echo: hi"
    assert (await using(server, "get-sum", a=1, b=2)).output == "The sum of 1 and 2 is 3."

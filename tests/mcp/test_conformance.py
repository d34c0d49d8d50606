"""The server, tried by the programs of those who make MCP: the conformance suite, and the inspector."""

import asyncio
import json
import socket
import subprocess
import sys
from contextlib import asynccontextmanager

import program
import pytest
import uvicorn
from mcp_programs import NEWER, NODE, install
from starlette.applications import Starlette

from perdure import Engine
from perdure.mcp import ByEngine, server_of
from perdure.mcp.http import PATH, over_http
from perdure.server.beside import Beside
from perdure.world import Alone

FOR_ANY_SERVER = (
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams",
)  # fmt: skip
"""What of the suite asks for nothing that its own server of examples alone has. docs/guides/mcp-server.md has the rest."""


@pytest.fixture(scope="module", autouse=True)
def installed():
    install()


@asynccontextmanager
async def served():
    """An engine that speaks MCP over HTTP, without a guard: the suite has no key."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with Engine.open() as engine, over_http(server_of(ByEngine(engine), Alone())) as app:
            config = uvicorn.Config(Starlette(routes=[Beside(PATH, app)]), log_level="warning", lifespan="off")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve([listener]))
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"
            finally:
                server.should_exit = True
                await serving


async def called(*words, cwd, **env):
    process = await asyncio.create_subprocess_exec(
        *map(str, words), cwd=cwd, env=env or None, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()


async def test_e8_the_conformance_suite_finds_nothing_wrong(tmp_path):
    suite = NODE / "conformance" / "dist" / "index.js"
    async with served() as url:
        for scenario in FOR_ANY_SERVER:
            code, said = await called(NEWER, suite, "server", "--url", url, "--scenario", scenario, cwd=tmp_path)
            assert code == 0, (scenario, said[-2_000:])
            assert "0 failed" in said, scenario


async def test_e8_the_inspector_reads_the_tools_and_calls_one(home):
    inspector = NODE / "inspector" / "clients" / "launcher" / "build" / "index.js"
    ours = ("--cli", sys.executable, "-m", "perdure", "mcp", "--db", "runs.db")
    environment = program.clean_environment(home)
    code, said = await called(NEWER, inspector, *ours, "--method", "tools/list", cwd=home, **environment)
    assert code == 0, said
    assert "perdure_follow" in {
        each["name"] for each in json.JSONDecoder().raw_decode(said[said.index("{") :])[0]["tools"]
    }
    words = ("--method", "tools/call", "--tool-name", "perdure_check", "--tool-arg", "plan=steps: []")
    code, said = await called(NEWER, inspector, *ours, *words, cwd=home, **environment)
    assert code == 0, said
    assert "PRD1" in said


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"

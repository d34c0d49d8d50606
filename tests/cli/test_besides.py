"""MCP over HTTP, beside the API of `perdure serve` and behind the same guard. E8, E16."""

from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult
from serve_scene import SAY, serving

ASKS = {"steps": [{"id": "sure", "ask": "Ship it?"}, {"id": "ship", "tool": "flow.echo", "with": {"value": "shipped"}}], "output": "${steps.ship.output}"}  # fmt: skip
ERAS = ("auto", "legacy")


@asynccontextmanager
async def client_of(server, mode="auto", answer=None):
    """A client with the key that the server's own client has."""
    headers = {"Authorization": server.client.headers["Authorization"]}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{server.told['url']}/mcp", http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=answer) as client:
            yield client


async def said(client, tool, **arguments):
    return await client.call_tool(f"perdure_{tool}", arguments)


@pytest.mark.parametrize("mode", ERAS)
async def test_e8_a_client_begins_and_follows_a_run_and_a_person_answers(place, mode):
    async def person(context, asked):
        return ElicitResult(action="accept", content={"confirm": True})

    with serving(place) as server:
        server.as_("run")
        async with client_of(server, mode, person) as client:
            run = (await said(client, "run", plan=ASKS)).structured_content["id"]
            news = (await said(client, "follow", run=run)).structured_content
            [question] = news["questions"]
            answered = await said(client, "answer", run=run, question=question, value="approved")
            assert not answered.is_error, answered.content[0].text
            while news["status"] in ("waiting", "running"):
                news = (await said(client, "follow", run=run, seconds=1)).structured_content
            assert news["output"] == "shipped"
        assert "run via" in str(server.client.get(f"/v1/runs/{run}/entries").json())
        server.ends()


async def test_e16_a_key_is_good_for_what_it_is_good_for(place):
    with serving(place) as server:
        server.as_("read")
        async with client_of(server) as client:
            assert not (await said(client, "runs")).is_error
            refused = await said(client, "run", **SAY)
            assert "PRD6050" in refused.content[0].text
        server.ends()


def test_nobody_comes_in_without_a_key_or_from_a_strangers_page(place):
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with serving(place) as server:
        assert server.post("/mcp", **hello).status_code == 401
        server.as_("admin")
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            assert server.post("/mcp", **hello, headers=headers).status_code in (400, 403, 421), headers
        server.ends()

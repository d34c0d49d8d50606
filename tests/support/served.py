"""An engine behind its API, in one process; every answer is held against what the OpenAPI document says of it."""

import asyncio
import json
import re
import socket
from contextlib import asynccontextmanager, contextmanager
from functools import cache

import httpx2
import jsonschema
import uvicorn

from perdure import Engine, Plan
from perdure.server import app_of
from perdure.testing.scripted import Scripted

ECHO = {"steps": [{"id": "say", "tool": "flow.echo", "with": {"value": "${inputs.word}"}}]}
SAY = {"goal": "Say ${inputs.word}", "inputs": {"word": {"type": "string", "minLength": 2}}, **ECHO}
ASK = {"goal": "Ask", "steps": [{"id": "sure", "ask": "Sure?"}, {"id": "pack", "tool": "shop.pack"}]}
WAIT = {"goal": "Wait", "steps": [{"id": "come", "wait": {"signal": "go"}}, {"id": "pack", "tool": "shop.pack"}]}


DOCUMENTS = {}
"""What the API says of itself: the same for every engine, so it is made once."""


@asynccontextmanager
async def serving(script=None, world=None, **settings):
    """An API over an engine; with a script, its tools are scripted."""
    if script is not None:
        settings["performer"] = Scripted(script, default=1)
    async with Engine.open(**settings) as engine, client_of(app_of(engine, world)) as client:
        client.engine = engine
        yield client


@asynccontextmanager
async def client_of(app):
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://perdure", event_hooks={"response": [checking(app)]}
    ) as client:
        client.app = app
        yield client


async def begun(client, plan=SAY, rested=True, **said):
    """The id of a run, begun by the API."""
    if plan is SAY:
        said.setdefault("inputs", {"word": "tide"})
    answer = await client.post("/v1/runs", json={"plan": Plan.model_validate(plan).canonical(), **said})
    assert answer.status_code == 202, answer.text
    run = answer.json()["id"]
    if rested:
        await client.engine.run(run).rested()
    return run


# ------------------------------------------------------------------------------- what was promised


def checking(app):
    """Looks at each answer: its status is documented, and its body is what the document says."""
    document = app.openapi_schema = DOCUMENTS.get("one") or DOCUMENTS.setdefault("one", app.openapi())

    async def check(response):
        path, method = route_of(document, response.request)
        if path is None:
            assert response.status_code in {404, 405}
            return
        status = str(response.status_code)
        told = document["paths"][path][method]["responses"].get(status)
        assert told is not None, f"{status} of {method} {path} is not documented"
        media = response.headers.get("content-type", "").partition(";")[0]
        assert media in told.get("content", {media: None}), f"{media} of {method} {path}"
        if media.endswith("json") and "content" in told:
            await response.aread()
            validator(path, method, status, media).validate(response.json())

    return check


@cache
def validator(path, method, status, media):
    schema = DOCUMENTS["one"]["paths"][path][method]["responses"][status]["content"][media]["schema"]
    return jsonschema.Draft202012Validator({"components": DOCUMENTS["one"]["components"], **schema})


def route_of(document, request):
    """The path of the route that answers, and the method; None if there is none."""
    method = request.method.lower()
    for path, operations in document["paths"].items():
        if method in operations and re.fullmatch(re.sub(r"\{.*?\}", "[^/]+", path), request.url.path):
            return path, method
    return None, method


# ------------------------------------------------------------------------------- over a real socket


@asynccontextmanager
async def listening(app):
    """The address of a server that serves an app; all that it sends is a stream of bytes, as it comes."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, lifespan="off", log_level="critical", timeout_graceful_shutdown=30)
        server = Unsignalled(config)
        task = asyncio.create_task(server.serve(sockets=[taken]))
        await until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            app.state.here.following.close()
            server.should_exit = True
            await task


async def until(holds):
    """Wait for something that nobody tells."""
    while not holds():  # noqa: ASYNC110  there is nothing to wait on but the state itself
        await asyncio.sleep(0.001)


class Unsignalled(uvicorn.Server):
    """A server that leaves signals to others."""

    @contextmanager
    def capture_signals(self):
        yield


async def turns_in(lines):
    """The turns of a stream, each with its number, the run and the entries; comments are None."""
    found = {}
    async for line in lines:
        if line.startswith(":"):
            yield None
        elif line:
            name, _, value = line.partition(": ")
            found[name] = value
        else:
            if "data" in found:
                assert found["event"] == "turn"
                turn = json.loads(found["data"])
                yield int(found["id"]), turn["run"], turn["entries"]
            found = {}


async def kept(journal):
    """What a stream has to tell: every turn, by the numbers of its entries."""
    every = await journal.arrived(0, 100_000)
    return [(each.number, each.run, [entry.seq for entry in each.entries]) for each in every]


def seen(told):
    """The same of what was told."""
    return [(number, run, [entry["seq"] for entry in entries]) for number, run, entries in filter(None, told)]

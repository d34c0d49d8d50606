"""`perdure mcp` as a client starts it: it talks on standard input and output, and runs outlive it."""

import json
import os
import signal
import sys
import time
from contextlib import asynccontextmanager

import program
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.types import ElicitResult

from perdure.journal.lock import writer_of

WAITS = {
    "steps": [
        {"id": "say", "tool": "flow.echo", "with": {"value": "hello"}},
        {"id": "sure", "ask": "Ship it?"},
        {"id": "ship", "tool": "flow.echo", "with": {"value": "shipped"}},
    ],
    "output": "${steps.ship.output}",
}
ERAS = ("auto", "legacy")


@pytest.fixture
def client(home):
    @asynccontextmanager
    async def started(*words, mode="auto", answer=None):
        command = ["-m", "perdure", "mcp", "--db", "runs.db", *words]
        environment = program.clean_environment(home)
        server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(home))
        async with Client(server, mode=mode, elicitation_callback=answer) as found:
            yield found

    return started


async def told(client, tool, **arguments):
    found = await client.call_tool(f"perdure_{tool}", arguments)
    assert not found.is_error, found.content[0].text
    return found.structured_content


async def over(client, run):
    while True:
        news = await told(client, "follow", run=run, seconds=5)
        if news["rests"]:
            return news


@pytest.mark.parametrize("mode", ERAS)
async def test_e8_a_client_begins_a_run_and_follows_it_to_its_end(client, mode):
    async with client(mode=mode) as found:
        assert (await told(found, "runs"))["runs"] == []
        plan = {"steps": [{"id": "say", "tool": "flow.echo", "with": {"value": 7}}], "output": "${steps.say.output}"}
        run = (await told(found, "run", plan=plan))["id"]
        news = await over(found, run)
        assert (news["status"], news["output"]) == ("succeeded", 7)


async def test_a_run_outlives_its_client_and_the_next_one_finds_it(client, perdure):
    async with client() as found:
        run = (await told(found, "run", plan=WAITS))["id"]
        assert (await over(found, run))["status"] == "waiting"
    shown = json.loads(perdure("show", run, "--db", "runs.db", "--json").stdout)
    assert (shown["status"], shown["interrupted"]) == ("waiting", False)

    async def person(context, asked):
        return ElicitResult(action="accept", content={"confirm": True})

    async with client(answer=person) as found:
        question = (await told(found, "questions"))["questions"][0]
        await told(found, "answer", run=run, question=question["id"], value="approved")
        news = await over(found, run)
        while news["status"] == "waiting":  # the answer is kept before what follows from it
            news = await told(found, "follow", run=run, after=news["next"], seconds=1)
        assert news["output"] == "shipped"


async def test_whose_owner_was_killed_is_said_to_be_interrupted_and_goes_on(client, perdure, home):
    async with client("--let-answer") as found:
        run = (await told(found, "run", plan={"steps": [{"id": "nap", "wait": "300ms"}, {"id": "sure", "ask": "?"}]}))[
            "id"
        ]
        await over(found, run)
        kill_the_owner(home)
        await told(found, "resume", run=run)
        question = (await told(found, "questions"))["questions"][0]["id"]
        await told(found, "answer", run=run, question=question, value="approved")
        while (news := await told(found, "follow", run=run, seconds=1))["status"] == "waiting":
            pass
        assert news["status"] == "succeeded"


def kill_the_owner(home):
    """Nobody has the journal any more when this returns."""
    note = json.loads((home / "runs.db.lock").read_text())
    os.kill(note["pid"], signal.SIGKILL)
    while writer_of(home / "runs.db"):
        time.sleep(0.01)


async def test_a_plan_is_tried_in_the_workspace_and_leaves_it_as_it_was(client, home):
    (home / "a.txt").write_text("before\n")
    plan = {"steps": [{"id": "write", "tool": "files.write", "with": {"path": "a.txt", "text": "after\n"}}]}
    async with client("--workspace", str(home)) as found:
        seen = await told(found, "rehearse", plan=plan)
        assert "+after" in seen["diff"], seen
        assert "flow.echo" in {each["name"] for each in (await told(found, "tools"))["tools"]}
    assert (home / "a.txt").read_text() == "before\n"


async def test_a_goal_that_names_a_tool_is_planned(client):
    async with client() as found:
        made = await told(found, "plan", goal="flow.echo value=3", inputs={"value": 3})
        assert made["plan"]["steps"]


def test_nothing_but_the_protocol_is_on_standard_output(perdure, home):
    done = perdure("mcp", "--db", "runs.db", stdin="this is no JSON\n")
    assert done.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())
    assert "Traceback" not in done.stderr


def test_what_a_module_of_tools_prints_is_kept_from_the_client(perdure, home):
    (home / "loud.py").write_text("print('hello')\nfrom perdure import tool\n")
    done = perdure("mcp", "--db", "runs.db", "--tools", "loud", stdin="", PYTHONPATH=str(home))
    assert "hello" not in done.stdout

"""Providers by their own protocols: one try, thoughts that are told again, prices of the list."""

import asyncio
import json

import pytest
from fake_provider import Reply, called, playing, refused, said

from perdure import Engine, Plan, tool
from perdure.agents.agent import Agent
from perdure.models.places import Place, Places
from perdure.models.provider import model_by_name
from perdure.models.tiers import Models
from perdure.ports import Answered, ModelFailed, Offer, Request, Returned, Said

KEY = "sk-do-not-tell-0123456789"
READ = Offer("files.read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
BASES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL", "openai-chat": "OPENAI_BASE_URL"}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def events(*told):
    pieces = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in told]
    return Reply(pieces, headers={"content-type": "text/event-stream"})


def spoken(*blocks, stop="end_turn"):
    """A message in Anthropic's form: each block with its beginning and what is added to it."""
    usage = {"input_tokens": 11, "output_tokens": 1}
    about = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": []}
    told = [{"type": "message_start", "message": {**about, "stop_reason": None, "usage": usage}}]
    for n, (block, *deltas) in enumerate(blocks):
        told.append({"type": "content_block_start", "index": n, "content_block": block})
        told += [{"type": "content_block_delta", "index": n, "delta": each} for each in deltas]
        told.append({"type": "content_block_stop", "index": n})
    told.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}})
    return events(*told, {"type": "message_stop"})


def words(text):
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}


@pytest.fixture
def played(monkeypatch):
    """What comes of a talk with a provider that plays these replies, and the server."""

    def play(name, replies, talk):
        async def go():
            async with playing(*replies) as fake:
                provider = name.partition(":")[0]
                url = fake.url.removesuffix("/v1") if provider == "anthropic" else fake.url
                monkeypatch.setenv(BASES[provider], url)
                model = model_by_name(name)
                try:
                    return await talk(model), fake
                finally:
                    await model.close()

        return asyncio.run(go())

    return play


def test_anthropic_is_heard_counted_and_priced(played):
    async def talk(model):
        heard = []
        answer = await model.ask(Request("default", [Said("Hi")], "Be brief.", tokens=50), heard.append)
        return answer, heard, model.price(11, 9)

    (answer, heard, price), fake = played("anthropic:claude-sonnet-5-5", [spoken(words("Hello"))], talk)
    assert (answer.text, heard, answer.finish) == ("Hello", ["Hello"], "stop")
    assert (answer.tokens_in, answer.tokens_out) == (11, 9)
    assert answer.usd == price > 0
    assert fake.asked[0]["max_tokens"] == 50
    assert KEY in fake.heads[0]


@pytest.mark.parametrize(
    ("stop", "finish"), [("max_tokens", "length"), ("refusal", "refused"), ("stop_sequence", "stop")]
)
def test_anthropic_says_why_it_ended(played, stop, finish):
    async def talk(model):
        return await model.ask(Request("default", [Said("Hi")]), lambda _: None)

    answer, _ = played("anthropic:claude-sonnet-5-5", [spoken(words("Hm"), stop=stop)], talk)
    assert answer.finish == finish


def test_signed_thoughts_are_told_again_as_they_were(played):
    thought = (
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let me see"},
        {"type": "signature_delta", "signature": "c2lnbmVk"},
    )
    call = (
        {"type": "tool_use", "id": "toolu_1", "name": "files__read", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"path": "a"}'},
    )

    async def talk(model):
        first = await model.ask(Request("default", [Said("Read a")], "", [READ]), lambda _: None)
        kept = json.loads(json.dumps(first.thoughts))
        talked = [Said("Read a"), Answered(first.text, first.wishes, kept), Returned(first.wishes[0], "it")]
        await model.ask(Request("default", talked, "", [READ]), lambda _: None)
        return first

    replies = [spoken(thought, call, stop="tool_use"), spoken(words("Done"))]
    first, fake = played("anthropic:claude-sonnet-5-5", replies, talk)
    assert (first.finish, first.wishes[0].tool, first.wishes[0].arguments) == ("calls", "files.read", {"path": "a"})
    assistant, results = fake.asked[1]["messages"][1:]
    assert {"type": "thinking", "thinking": "Let me see", "signature": "c2lnbmVk"} in assistant["content"]
    assert assistant["content"][-1]["id"] == results["content"][0]["tool_use_id"] == "toolu_1"
    assert "files__read" not in json.dumps(first.thoughts.get("model_name"))


@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-5-5", "openai:gpt-5-mini", "openai-chat:gpt-5-mini"])
@pytest.mark.parametrize(("status", "kind"), [(500, "unavailable"), (429, "rate_limited"), (401, "denied")])
def test_every_protocol_is_tried_once(played, name, status, kind):
    async def talk(model):
        with pytest.raises(ModelFailed) as found:
            await model.ask(Request("default", [Said("Hi")]), lambda _: None)
        return found.value.failure

    found, fake = played(name, [refused(status, f"no {KEY}"), refused(500)], talk)
    assert (found.kind, len(fake.asked), KEY in found.message) == (kind, 1, False)


def test_responses_of_openai_are_heard_and_counted(played):
    item = {"id": "m1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    about = {"id": "r1", "object": "response", "created_at": 1, "model": "gpt-5-mini-2025-08-07", "output": []}
    more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    used = {
        "input_tokens": 8,
        "output_tokens": 4,
        "total_tokens": 12,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    at = {"item_id": "m1", "output_index": 0, "content_index": 0}
    reply = events(
        {"type": "response.created", "sequence_number": 0, "response": {**about, **more, "status": "in_progress"}},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
        {"type": "response.content_part.added", "sequence_number": 2, **at, "part": part},
        {"type": "response.output_text.delta", "sequence_number": 3, **at, "delta": "Hello", "logprobs": []},
        {
            "type": "response.completed",
            "sequence_number": 4,
            "response": {**about, **more, "status": "completed", "usage": used},
        },
    )

    async def talk(model):
        return await model.ask(Request("default", [Said("Hi")], tokens=50), lambda _: None), model.price(8, 4)

    (answer, price), fake = played("openai:gpt-5-mini", [reply], talk)
    assert (answer.text, answer.finish, answer.tokens_in, answer.tokens_out) == ("Hello", "stop", 8, 4)
    assert answer.usd == price > 0
    assert fake.asked[0]["max_output_tokens"] == 50


def test_no_key_gets_into_the_journal(monkeypatch, tmp_path):
    async def go():
        async with playing(refused(401, f"Incorrect API key {KEY}")) as fake:
            monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
            step = {"id": "a", "model": "default", "prompt": "Hi", "recovery": {"other": ["fail"]}}
            async with Engine.open(tmp_path / "runs.db", models={"default": "openai:gpt-5-mini"}) as engine:
                run = await engine.start(Plan.model_validate({"steps": [step]}))
                return await run.result()

    result = asyncio.run(go())
    assert result.failure.kind == "denied"
    assert "does not take the key" in result.failure.message
    kept = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert b"Incorrect API key" in kept
    assert KEY.encode() not in kept


def test_an_agent_works_with_a_provider_and_connections_are_let_go():
    """Names of tools go out and come back, and a call and what came of it are one to the provider."""

    @tool(name="x.look", repeat="safe")
    def look(at: str) -> str:
        """Look at something."""
        return f"{at} is blue"

    agent = Agent(name="looker", tools=("x.*",), strategy="react")
    step = {"id": "a", "agent": "looker", "task": "What colour is the sky?"}

    async def go():
        async with playing(called(("x__look", '{"at": "the sky"}')), said("Blue")) as fake:
            models = Models({"default": "box:m"}, Places([Place("box", fake.url)]))
            async with Engine.open(models=models, agents=[agent], tools=[look]) as engine:
                run = await engine.start(Plan.model_validate({"steps": [step]}))
                result = await run.result()
            await asyncio.wait_for(fake.left.wait(), 5)
            return result, fake.asked

    result, (first, second) = asyncio.run(go())
    assert (result.status, "Blue" in json.dumps(result.output)) == ("succeeded", True)
    assert [each["function"]["name"] for each in first["tools"]] == ["x__look"]
    assistant, returned = second["messages"][-2:]
    assert assistant["tool_calls"][0]["id"] == returned["tool_call_id"] == "call0"
    assert returned["content"] == "the sky is blue"

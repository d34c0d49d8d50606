"""A model of a provider: asked once, heard as it speaks, and whatever comes back is an answer or a failure."""

import asyncio
import json
import random

import msgspec
import pytest
from fake_provider import Reply, called, chunk, playing, refused, said, stream, usage

from perdure.core.calls import Call, Outcome, Usage
from perdure.models.answering import form_of, outcome_of
from perdure.models.errors import NoKey, NoModel, NotNamed
from perdure.models.performing import ModelPerformer
from perdure.models.places import Place, Places
from perdure.models.provider import ProviderModel, model_by_name
from perdure.models.tiers import Models
from perdure.ports import Answered, Attempt, ModelFailed, Offer, Request, Returned, Said, Wish
from perdure.testing.models import ScriptedModel

READ = Offer("files.read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
KEY = "sk-do-not-tell-0123456789"


def request(**more):
    return Request("default", [Said("Hello")], **{"tokens": 50, **more})


def asked(*replies, seconds=10.0, keys=(), **more):
    """What comes of a request, what was heard meanwhile, and the server."""

    async def go():
        async with playing(*replies) as fake:
            model, heard = ProviderModel(Place("box", fake.url, keys), "m"), []
            try:
                async with asyncio.timeout(seconds):
                    found = await model.ask(request(**more), heard.append)
            except (ModelFailed, TimeoutError) as failed:
                found = failed
            finally:
                await model.close()
            return found, heard, fake

    return asyncio.run(go())


def failure(*replies, **more):
    found, _, fake = asked(*replies, **more)
    assert isinstance(found, ModelFailed), found
    return found.failure, fake


# ------------------------------------------------------------------------------- answers


def test_an_answer_is_heard_piece_by_piece_and_counted():
    answer, heard, fake = asked(said("Hel|lo!", used=(7, 2)), temperature=0.5, instructions="Be brief.")
    assert (answer.text, heard, answer.finish) == ("Hello!", ["Hel", "lo!"], "stop")
    assert (answer.tokens_in, answer.tokens_out, answer.usd, answer.model) == (7, 2, 0.0, "fake-1")
    sent = fake.asked[0]
    assert (sent["model"], sent["stream"], sent["temperature"]) == ("m", True, 0.5)
    assert sent["max_tokens"] == 50
    assert [each["role"] for each in sent["messages"]] == ["system", "user"]
    assert "tool_choice" not in sent


@pytest.mark.parametrize(
    ("finish", "expected"), [("stop", "stop"), ("length", "length"), ("content_filter", "refused"), ("eos", "stop")]
)
def test_why_it_ended_is_told(finish, expected):
    assert asked(said("Hm", finish))[0].finish == expected


def test_a_refusal_is_told_with_its_reason():
    answer, _, _ = asked(stream(chunk({"refusal": "I must not"}), chunk(finish="stop"), usage(1, 1)))
    assert (answer.finish, answer.text) == ("refused", "I must not")


def test_where_a_provider_counts_nothing_letters_are_counted():
    answer, _, _ = asked(said("x" * 400, used=None))
    assert (answer.tokens_in, answer.tokens_out) == (2, 134)


def test_what_a_call_took_is_told_by_the_users_own_price():
    async def go():
        async with playing(said("Hello!", used=(7, 2))) as fake:
            model = ProviderModel(Place("box", fake.url, prices=(("m", (1.0, 10.0)),)), "m")
            try:
                return await model.ask(Request("m", [Said("Hi")]), lambda _: None)
            finally:
                await model.close()

    assert asyncio.run(go()).usd == pytest.approx(27e-6)


def test_a_price_that_nobody_knows_is_none_and_a_server_here_costs_nothing():
    assert ProviderModel(Place("box", "https://models.example/v1"), "m").price(1000, 1000) is None
    assert ProviderModel(Place("box", "http://127.0.0.1:1/v1"), "m").price(1000, 1000) == 0.0
    assert ProviderModel(Place("openai", keys=("OPENAI_API_KEY",)), "gpt-5").price(1_000_000, 0) > 0
    assert ProviderModel(Place("openai", keys=("OPENAI_API_KEY",)), "no-such-thing").price(1, 1) is None


def test_many_may_ask_at_once_over_the_same_line():
    async def go():
        async with playing(*(said("Hi") for _ in range(5))) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            found = await asyncio.gather(*(model.ask(request(), lambda _: None) for _ in range(5)))
            line = model._line
            await model.close()
            return [each.text for each in found], line._client.is_closed

    assert asyncio.run(go()) == (["Hi"] * 5, True)


def test_a_model_that_was_closed_can_be_asked_again():
    async def again():
        async with playing(said("Hi"), said("Hi")) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            await model.ask(request(), lambda _: None)
            await model.close()
            answer = await model.ask(request(), lambda _: None)
            await model.close()
            return answer.text

    assert asyncio.run(again()) == "Hi"


# ------------------------------------------------------------------------------- tools


def test_tools_are_offered_by_names_that_providers_take_and_called_by_ours():
    hard = Offer("a.b_.c/ü", "Hard.", {"type": "object", "properties": {}})
    answer, _, fake = asked(called(("files__read", '{"path": "a.txt"}'), ("no_such", "{}")), offers=[READ, hard])
    names = [each["function"]["name"] for each in fake.asked[0]["tools"]]
    assert all(each.isascii() and each.replace("_", "").replace("-", "").isalnum() for each in names)
    assert answer.wishes == (Wish("files.read", {"path": "a.txt"}, "call0"), Wish("no_such", {}, "call1"))
    assert answer.finish == "calls"


@pytest.mark.parametrize(
    "given", ["{'path': 1}", "[1]", '"text"', "{" * 100_000, '{"path": "a', "null", '{"n": 1e999}']
)
def test_arguments_that_are_no_object_are_handed_on_as_they_are(given):
    answer, _, _ = asked(called(("files__read", given), finish="stop"), offers=[READ])
    assert answer.finish == "calls"
    assert not isinstance(answer.wishes[0].arguments, dict)


def test_an_answer_that_says_it_calls_but_does_not_is_a_plain_answer():
    answer, _, _ = asked(said("Nothing to do", "tool_calls"), offers=[READ])
    assert (answer.finish, answer.text, answer.wishes) == ("stop", "Nothing to do", ())


def test_what_was_said_before_is_said_again_in_the_form_of_the_provider():
    wish, plain = Wish("files.read", {"path": "a"}, "call_7"), Wish("files.read", "{broken", "x" * 100)
    remarks = [
        Said("Read"),
        Answered("Well", (wish, plain)),
        Returned(wish, "text of a"),
        Returned(plain, "no JSON", is_error=True),
    ]

    async def go():
        async with playing(said("Done")) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            await model.ask(Request("default", remarks, "Be brief.", [READ]), lambda _: None)
            await model.close()
            return fake.asked[0]["messages"]

    system, user, assistant, first, second = asyncio.run(go())
    assert (system["content"], user["content"], assistant["content"]) == ("Be brief.", "Read", "Well")
    assert [each["id"] for each in assistant["tool_calls"]] == ["call_7", "call_2"]
    assert [each["function"]["name"] for each in assistant["tool_calls"]] == ["files__read"] * 2
    assert (first["tool_call_id"], first["content"]) == ("call_7", "text of a")
    assert second["tool_call_id"] == "call_2"
    assert "no JSON" in second["content"]


def test_thoughts_are_kept_as_json_and_told_again():
    thought = stream(
        chunk({"reasoning_content": "Let me see"}),
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": "c1", "function": {"name": "files__read", "arguments": '{"path": "a"}'}}
                ]
            }
        ),
        chunk(finish="tool_calls"),
        usage(1, 1),
    )

    async def go():
        async with playing(thought, said("Done")) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            first = await model.ask(Request("default", [Said("Read")], "", [READ]), lambda _: None)
            thoughts = json.loads(json.dumps(first.thoughts))
            talk = [Said("Read"), Answered(first.text, first.wishes, thoughts), Returned(first.wishes[0], "text of a")]
            await model.ask(Request("default", talk, "", [READ]), lambda _: None)
            await model.close()
            return thoughts, fake.asked[1]["messages"][1]

    thoughts, assistant = asyncio.run(go())
    assert "Let me see" in json.dumps(thoughts)
    assert "Let me see" in json.dumps(assistant)
    assert assistant["tool_calls"][0]["id"] == "c1"


@pytest.mark.parametrize("thoughts", ["x", 7, {"parts": "?"}, {"kind": "response", "parts": [{"part_kind": "file"}]}])
def test_thoughts_that_cannot_be_read_are_left_out(thoughts):
    async def go():
        async with playing(said("Done")) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            talk = [Said("Hi"), Answered("Hello", (), thoughts), Said("Bye")]
            await model.ask(Request("default", talk), lambda _: None)
            await model.close()
            return [each["content"] for each in fake.asked[0]["messages"]]

    assert asyncio.run(go()) == ["Hi", "Hello", "Bye"]


# ------------------------------------------------------------------------------- forms


def test_a_value_is_asked_for_by_its_schema():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    answer, _, fake = asked(said('{"n": |7}'), returns=schema)
    assert answer.text == '{"n": 7}'
    assert fake.asked[0]["response_format"]["type"] == "json_schema"
    assert '"integer"' in fake.asked[0]["messages"][0]["content"]


def test_a_value_that_is_no_object_is_asked_for_in_one():
    answer, _, fake = asked(said('{"value": [1, 2]}'), returns={"type": "array", "$defs": {"x": {}}})
    assert answer.text == "[1, 2]"
    schema = fake.asked[0]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object"


def test_with_tools_the_schema_is_told_and_nothing_is_forced():
    _, _, fake = asked(said("7"), returns={"type": "integer"}, offers=[READ])
    assert "response_format" not in fake.asked[0]
    assert '{"type": "integer"}' in fake.asked[0]["messages"][0]["content"]


def test_a_choice_has_its_chances():
    token = {
        "token": "no",
        "logprob": -0.1,
        "bytes": None,
        "top_logprobs": [
            {"token": "no", "logprob": -0.1, "bytes": None},
            {"token": "ye", "logprob": -3.0, "bytes": None},
        ],
    }
    plain = {"token": '{"choice":"', "logprob": 0.0, "bytes": None, "top_logprobs": []}
    first = chunk({"content": '{"choice":"no"}'})
    first["choices"][0]["logprobs"] = {"content": [plain, token], "refusal": None}
    answer, _, fake = asked(stream(first, chunk(finish="stop"), usage(1, 1)), choices=("yes", "no"))
    assert answer.text == "no"
    assert answer.chances["no"] > 0.9
    assert answer.chances["yes"] > 0.0
    assert sum(answer.chances.values()) == pytest.approx(1)
    assert fake.asked[0]["logprobs"] is True
    assert "yes, no" in fake.asked[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("told", "missing", "more"),
    [
        ("logprobs is not supported by this model", "logprobs", {"choices": ("yes", "no")}),
        ("unknown field response_format", "json_schema", {"returns": {"type": "object"}}),
        ("'max_tokens' is not supported, use 'max_completion_tokens'", "max_tokens", {}),
    ],
)
def test_what_a_provider_does_not_take_is_left_out_at_the_next_try(told, missing, more):
    async def go():
        async with playing(refused(400, told), said('{"choice": "no"}')) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            with pytest.raises(ModelFailed) as first:
                await model.ask(request(**more), lambda _: None)
            await model.ask(request(**more), lambda _: None)
            await model.close()
            return first.value.failure, fake.asked

    found, (first, second) = asyncio.run(go())
    assert found.kind == "unavailable"
    assert missing in json.dumps(first)
    assert f'"{missing}"' not in json.dumps(second)


# ------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (429, "slow down", "rate_limited"),
        (401, "bad key", "denied"),
        (403, "not yours", "denied"),
        (402, "no credit", "denied"),
        (404, "no such model", "invalid"),
        (400, "what is this", "invalid"),
        (422, "what is this", "invalid"),
        (500, "oh no", "unavailable"),
        (502, "oh no", "unavailable"),
        (503, "overloaded", "unavailable"),
        (529, "overloaded", "unavailable"),
        (307, "elsewhere", "invalid"),
    ],
)
def test_a_refusal_is_a_failure_of_its_kind_and_asked_once(status, message, kind):
    found, fake = failure(refused(status, message, {"location": "http://127.0.0.1:1/"}), said("never asked"))
    assert (found.kind, message in found.message) == (kind, True)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "9" * 30}, 86_400.0),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_what_the_provider_says(headers, wait):
    assert failure(refused(429, "slow", headers))[0].retry_after == wait


def test_a_conversation_that_is_too_long_says_what_to_do():
    found, _ = failure(refused(400, "maximum context length is 10", code="context_length_exceeded"))
    assert found.kind == "invalid"
    assert "shorten" in found.message


@pytest.mark.parametrize(
    "reply",
    [
        Reply([b"<html>not a provider</html>"], headers={"content-type": "text/html"}),
        Reply([b"data: {broken\n\n"], headers={"content-type": "text/event-stream"}),
        Reply([b"data: 7\n\n"], headers={"content-type": "text/event-stream"}),
        Reply([b'data: {"choices": "x"}\n\n'], headers={"content-type": "text/event-stream"}),
        Reply([b"\xff\xfe\x00" * 99], headers={"content-type": "text/event-stream"}),
        Reply([b"data: [DONE]\n\n"], headers={"content-type": "text/event-stream"}),
        Reply([], headers={"content-type": "text/event-stream"}),
        Reply([b"{" * 50_000], 500),
        stream(chunk({"content": "Hel"})),
        stream(chunk({"content": "Hel"}), {"error": {"message": "broke down", "code": 500}}),
        Reply(stream(chunk({"content": "Hel"})).pieces[:1], headers={"content-type": "text/event-stream"}, cut=True),
    ],
)
def test_garbage_and_broken_answers_are_failures(reply):
    found, _ = failure(reply)
    assert found.kind in {"transient", "unavailable", "unknown", "invalid"}
    assert len(found.message) < 600


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("perdure.models.wire.MOST_BYTES", 100_000)
    endless = Reply([b"data: " + b"x" * 9_000] * 40, headers={"content-type": "text/event-stream"})
    found, _ = failure(endless)
    assert (found.kind, "more than" in found.message) == ("invalid", True)


def paid(*replies):
    """What is booked for a call, at a price of one dollar for a thousand tokens."""

    async def go():
        async with playing(*replies) as fake:
            place = Place("box", fake.url, prices=(("m", (1000.0, 1000.0)),))
            model = ProviderModel(place, "m")
            call = Call("model", "default", {"prompt": "Hello", "tokens": 50})
            attempt = Attempt("r", "a", 1, 1, "k", call, digest="d", seconds=10.0)
            try:
                return await ModelPerformer(Models({"default": model}), lambda *_: ()).perform(attempt)
            finally:
                await model.close()

    return asyncio.run(go())


TOLD = Usage(tokens=8, usd=0.008, calls=1)


@pytest.mark.parametrize(
    ("reply", "used"),
    [
        (said("Hello", "error"), TOLD),
        (said("Hello", "error", used=None), None),
        (stream(chunk({"content": "Hi"}), usage(3, 5), {"error": {"message": "slow down", "code": 429}}), TOLD),
        (
            stream(chunk({"content": "x" * 90}), usage(3, 5), {"error": {"message": "no"}}),
            Usage(tokens=33, usd=0.033, calls=1),
        ),
        (stream(chunk({"content": "Hi"}), {"error": {"message": "overloaded", "code": 503}}), None),
        (refused(503, "overloaded"), Usage(usd=0.0, calls=1)),
        (refused(429, "slow down"), Usage(usd=0.0, calls=1)),
    ],
)
def test_what_was_said_is_paid_also_where_it_is_of_no_use(reply, used):
    outcome = paid(reply)
    assert outcome.failure is not None
    assert outcome.usage == used


@pytest.mark.parametrize("told", [True, False])
def test_an_answer_that_is_too_long_is_paid(monkeypatch, told):
    monkeypatch.setattr("perdure.models.wire.MOST_BYTES", 100_000)
    words = [chunk({"content": "x" * 30}), *([usage(3, 5)] if told else [])]
    endless = Reply([*stream(*words).pieces[:-1], *[b"data: " + b"x" * 9_000] * 40])
    endless.headers["content-type"] = "text/event-stream"
    outcome = paid(endless)
    assert (outcome.failure.kind, "more than" in outcome.failure.message) == ("invalid", True)
    assert outcome.usage == (Usage(tokens=13, usd=0.013, calls=1) if told else None)


def test_a_slow_answer_is_left_when_its_time_is_over():
    async def go():
        async with playing(said("a|b|c|d|e|f|g|h", pause=0.2)) as fake:
            model, heard = ProviderModel(Place("box", fake.url), "m"), []
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await model.ask(request(), heard.append)
            await asyncio.wait_for(fake.left.wait(), 5)  # it is not paid for longer than it is heard
            await model.close()
            return heard

    assert asyncio.run(go()) in (["a"], ["a", "b"], ["a", "b", "c"])


def test_nobody_there_is_unavailable():
    async def go():
        model = ProviderModel(Place("box", "http://127.0.0.1:1/v1"), "m")
        with pytest.raises(ModelFailed) as found:
            await model.ask(request(), lambda _: None)
        await model.close()
        return found.value.failure

    assert asyncio.run(go()).kind == "unavailable"


# ------------------------------------------------------------------------------- keys


def test_a_key_is_sent_and_never_told(monkeypatch, caplog):
    monkeypatch.setenv("BOX_KEY", KEY)
    caplog.set_level("DEBUG")
    for reply in (refused(401, f"Incorrect key {KEY}"), Reply([KEY.encode()], 500), refused(400, f"?{KEY}")):
        found, _, fake = asked(reply, keys=("BOX_KEY",))
        assert f"Bearer {KEY}" in fake.heads[0]
        assert KEY not in str(found)
        assert found.__cause__ is None
        assert KEY not in repr(ProviderModel(Place("box", fake.url, ("BOX_KEY",)), "m").__dict__)
    assert KEY not in caplog.text


def test_no_key_of_another_provider_is_sent_to_a_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, _, fake = asked(said("Hi"))
    assert KEY not in fake.heads[0]


def test_a_server_here_is_not_asked_through_a_proxy(monkeypatch):
    for each in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(each, "http://127.0.0.1:1")
    assert asked(said("Hi"))[0].text == "Hi"


@pytest.mark.parametrize("name", ["openai:", ":x", "openai: ", "openai:a\nb"])
def test_a_name_that_names_nothing_says_how_to_write_one(name):
    with pytest.raises(NoModel, match="names no model") as found:
        model_by_name(name)
    assert found.value.code == "PRD4001"


def test_an_unknown_provider_says_how_to_reach_one():
    with pytest.raises(NoModel, match="no provider 'opnai'") as found:
        model_by_name("opnai:gpt-5")
    assert "openai" in found.value.help
    with pytest.raises(NoModel) as found:
        model_by_name("zzzz:m")
    assert "[providers.zzzz]" in found.value.help


def test_a_library_that_is_not_there_says_what_to_install(monkeypatch):
    monkeypatch.setattr("perdure.models.provider._is_there", lambda module: module == "pydantic_ai")
    for name, line in (
        ("openai:m", "perdure[openai]"),
        ("anthropic:m", "perdure[anthropic]"),
        ("box:m", "perdure[openai]"),
    ):
        with pytest.raises(NoModel) as found:
            model_by_name(name, Places([Place("box", "http://localhost/v1")], ["openai", "anthropic"]))
        assert found.value.help == f"pip install '{line}'"


def test_a_missing_key_names_its_variable(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(NoKey, match="ANTHROPIC_API_KEY is not set") as found:
        model_by_name("anthropic:claude-sonnet-5-5")
    assert found.value.code == "PRD4002"


# ------------------------------------------------------------------------------- who may be asked


def test_a_plan_cannot_ask_a_provider_that_nobody_named(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Models({}).find("anthropic:m").place.provider == "anthropic"
    assert Models({"default": "anthropic:m"}).find("anthropic:n").name == "n"
    for named in ({"default": "openai:m"}, {"default": ScriptedModel(["x"])}):
        with pytest.raises(NotNamed, match="anthropic is asked") as found:
            Models(named).find("anthropic:m")
        assert found.value.code == "PRD4003"


def test_a_name_that_the_provider_cannot_have_is_a_failure(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)

    async def go():
        with pytest.raises(ModelFailed, match="prefixed with the upstream provider") as found:
            await model_by_name("openrouter:m").ask(request(), lambda _: None)
        return found.value.failure.kind

    assert asyncio.run(go()) == "invalid"


@pytest.mark.parametrize("provider", ["openai", "openai-chat", "anthropic", "deepseek", "together"])
def test_known_providers_are_made_with_their_keys(provider, monkeypatch):
    for each in ("OPENAI", "ANTHROPIC", "DEEPSEEK", "OPENROUTER", "TOGETHER"):
        monkeypatch.setenv(f"{each}_API_KEY", KEY)

    async def go():
        from perdure.models.direct import Direct

        line = Direct(model_by_name(f"{provider}:m").place, "m")
        assert line._model.client.api_key == KEY
        await line.close()

    asyncio.run(go())


# ------------------------------------------------------------------------------- strangers

ODD = [None, True, -1, 10**30, 0.5, "", "x" * 5_000, "\x00\ud800", [], [None], {}, {"a": {"a": []}}, "{", "\u202e"]


def spoiled(value, chance):
    """The same, with something in it that does not belong there."""
    if chance.random() < 0.05:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {word: spoiled(each, chance) for word, each in value.items() if chance.random() > 0.02}
    return [spoiled(each, chance) for each in value] if isinstance(value, list) else value


@pytest.mark.campaign("answers of a provider that are damaged", "R19", of="answers", times=150)
def test_whatever_a_provider_sends_is_an_answer_or_a_failure(trials):
    many = 150
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "files__read", "arguments": '{"path": 1}'}}
    token = {"token": "no", "logprob": -0.1, "bytes": [110], "top_logprobs": [{"token": "no", "logprob": -0.1}]}
    told = chunk({"role": "assistant", "content": "no", "reasoning_content": "Hm", "tool_calls": [call]})
    told["choices"][0]["logprobs"] = {"content": [token]}
    whole = [told, chunk(finish="stop"), usage(3, 5)]
    kinds = [{}, {"offers": [READ]}, {"choices": ("yes", "no")}, {"returns": {"type": "integer"}}]

    async def go(chance):
        found = []
        async with playing(*(stream(*(spoiled(each, chance) for each in whole)) for _ in range(many))) as fake:
            model = ProviderModel(Place("box", fake.url), "m")
            for n in range(many):
                asking = request(**kinds[n % len(kinds)])
                try:
                    answer = await model.ask(asking, lambda _: None)
                    given = {"tools": asking.offers or None, "choices": asking.choices, "returns": asking.returns}
                    found.append(outcome_of(asking, answer, form_of(given)))
                except ModelFailed as failed:
                    found.append(failed.failure)
            await model.close()
        return found

    for seed in trials(1, 6):
        found = asyncio.run(go(random.Random(seed)))
        assert len(found) == many
        assert sum(isinstance(each, Outcome) for each in found) > many // 10, "some of it can be understood"
        for each in found:
            json.dumps(msgspec.to_builtins(each), allow_nan=False)

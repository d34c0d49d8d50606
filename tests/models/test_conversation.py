"""E9: what a model is asked is put together from calls that each say only what is new."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.core.calls import Call, Failure
from perdure.core.values import digest_of
from perdure.models import ModelPerformer, Models
from perdure.ports import Answer, Answered, Attempt, Returned, Said
from perdure.testing.models import ScriptedModel, calls, calls_all

TALK = {
    "steps": [
        {
            "id": "a",
            "model": "default",
            "instructions": "Be brief.",
            "prompt": "One",
            "tools": ["x.*"],
            "temperature": 0.5,
        },
        {"id": "look", "tool": "x.look", "with": {"at": "${steps.a.output.calls[0].with.at}"}},
        {"id": "b", "model": "default", "after": "a", "results": ["look", {"error": "no tool ${inputs.who}"}]},
        {"id": "c", "model": "default", "after": "b", "prompt": "Sure?", "tokens": 7},
    ],
    "inputs": {"who": {"type": "string"}},
}


@tool(name="x.look", repeat="safe")
def look(at: str) -> dict:
    """Look at something."""
    return {"seen": at, "long": "z" * 20_000}


def carried_out(plan, model, path=":memory:", **inputs):
    async def go():
        async with Engine.open(path, models={"default": model}, tools=[look]) as engine:
            run = await engine.start(Plan.model_validate(plan), inputs)
            return await run.result()

    return asyncio.run(go())


def test_a_conversation_is_put_together_from_what_each_call_says():
    model = ScriptedModel([calls_all(calls("x.look", at="here"), calls("y.none", n=1)), "I saw it", "Yes"])
    assert carried_out(TALK, model, who="y.none").output == {"text": "Yes", "calls": []}
    first, second, third = model.asked
    assert (first.instructions, first.temperature, [each.name for each in first.offers]) == (
        "Be brief.",
        0.5,
        ["x.look"],
    )
    assert list(first.remarks) == [Said("One")]
    answered = second.remarks[1]
    assert isinstance(answered, Answered)
    assert [wish.tool for wish in answered.wishes] == ["x.look", "y.none"]
    seen, missing = second.remarks[2:]
    assert isinstance(seen, Returned)
    assert '"seen": "here"' in seen.text
    assert len(seen.text) > 20_000
    assert (missing.text, missing.is_error) == ("no tool y.none", True)
    assert third.instructions == "Be brief."
    assert third.remarks[-2:] == [Answered("I saw it"), Said("Sure?")]
    assert third.tokens == 7
    assert len({each.digest for each in model.asked}) == 3


def test_two_may_go_on_with_the_same_conversation():
    steps = [
        {"id": "a", "model": "default", "prompt": "One", "needs": []},
        *({"id": n, "model": "default", "after": "a", "prompt": n, "needs": ["a"]} for n in ("b", "c", "d")),
    ]
    model = ScriptedModel(lambda request: "+".join(each.text for each in request.remarks))
    assert carried_out({"steps": steps}, model).output == {
        "a": "One",
        "b": "One+One+b",
        "c": "One+One+c",
        "d": "One+One+d",
    }


@pytest.mark.parametrize(
    ("call", "answer", "output"),
    [
        ({}, "Hello", "Hello"),
        ({"returns": {"type": "object", "required": ["n"]}}, {"n": 1}, {"n": 1}),
        ({"returns": {"type": "integer"}}, "Here you are:\n```json\n7\n```", 7),
        ({"choices": ["yes", "no"]}, " Yes. ", {"choice": "yes", "probabilities": None}),
        ({"choices": ["yes", "no"]}, Answer("no", chances={"no": 0.9}), {"choice": "no", "probabilities": {"no": 0.9}}),
        ({"choices": ["yes", "no"]}, "That cannot be.\n\n**Answer:** no", {"choice": "no", "probabilities": None}),
        ({"choices": ["yes", "no"]}, '{"choice": "no"}', {"choice": "no", "probabilities": None}),
        ({"choices": ["yes", "no"]}, '```json\n{"choice": "no"}\n```', {"choice": "no", "probabilities": None}),
        ({"choices": ["yes", "no"]}, '_**"NO"**_', {"choice": "no", "probabilities": None}),
        ({"choices": ["_a", "a"]}, "`_a`", {"choice": "_a", "probabilities": None}),
        ({"tools": []}, "Done", {"text": "Done", "calls": []}),
        ({"tools": ["x.*"], "returns": {"type": "integer"}}, "7", {"text": "7", "calls": [], "value": 7}),
    ],
)
def test_an_answer_is_read_as_the_step_wants_it(call, answer, output):
    plan = {"steps": [{"id": "a", "model": "default", "prompt": "One", **call}]}
    assert carried_out(plan, ScriptedModel([answer])).output == output


@pytest.mark.parametrize(
    ("call", "answer", "kind", "told"),
    [
        ({"returns": {"type": "integer"}}, "seven", "invalid", "it is no JSON"),
        ({"returns": {"type": "integer"}}, '"7"', "invalid", "integer"),
        ({"choices": ["yes", "no"]}, "yes or no", "invalid", "none of yes, no"),
        ({"choices": ["ship", "hold"]}, "Do NOT ship this yet", "invalid", "none of ship, hold: Do NOT ship"),
        ({"choices": ["ship", "hold"]}, "Answer: not ship", "invalid", "none of ship, hold"),
        ({"choices": ["ship", "hold"]}, '{"choice": "not ship"}', "invalid", "none of ship, hold"),
        ({"choices": ["ship", "hold"]}, 'Never:\n```json\n{"choice": "ship"}\n```', "invalid", "none of ship, hold"),
        ({"choices": ["ship", "hold"]}, "~~ship~~", "invalid", "none of ship, hold"),
        ({"tokens": 5}, Answer("and so on", finish="length"), "invalid", "cut off at 5 tokens"),
        ({}, Answer("I must not", finish="refused"), "logic", "refused to answer: I must not"),
        ({}, Failure("denied", "the key is wrong"), "denied", "the key is wrong"),
    ],
)
def test_an_answer_that_will_not_do_is_a_failure_that_says_why(call, answer, kind, told):
    plan = {"steps": [{"id": "a", "model": "default", "prompt": "One", "recovery": {"other": ["fail"]}, **call}]}
    result = carried_out(plan, ScriptedModel([answer]))
    assert (result.failure.kind, told in result.failure.message) == (kind, True)


def test_a_model_may_decide_and_say_how_sure_it_is():
    plan = {
        "steps": [
            {"id": "way", "decide": {"model": "weak", "prompt": "Which?"}, "choices": ["left", "right"]},
            {"id": "left", "done": "went left"},
            {"id": "right", "done": "went right"},
        ]
    }
    model = ScriptedModel([Answer("right", chances={"right": 0.8, "left": 0.2})])
    assert carried_out(plan, model).output == "went right"
    assert model.asked[0].choices == ("left", "right")


@pytest.mark.parametrize("is_same", [True, False])
def test_a_conversation_is_told_again_as_it_was_or_not_at_all(is_same):
    """After a restart it is put together from the calls before, whose digests were written down."""
    first = Call("model", "default", {"prompt": "One"})
    given = {"prompt": "Two", "after": digest_of(first.data), "answer": {"data": "1"}}
    told = first if is_same else Call("model", "default", {"prompt": "Uno"})
    attempt = Attempt("r", "b", 1, 1, "k", Call("model", "default", given), digest="d", before=lambda: [told])
    model = ScriptedModel(lambda request: "+".join(each.text for each in request.remarks))
    outcome = asyncio.run(ModelPerformer(Models({"default": model}), lambda _names, _layers: ()).perform(attempt))
    if is_same:
        assert outcome.output == "One+1+Two"
    else:
        assert (outcome.failure.kind, "cannot be told again" in outcome.failure.message) == ("invalid", True)

"""E5 X4: think, act, look, and think again, until there is an answer."""

import asyncio
import sys

import pytest

from perdure import Engine, Plan, tool
from perdure.agents import Agent
from perdure.core.calls import Failure
from perdure.ports import Answer, Answered, Returned, Said, Wish
from perdure.testing.models import ScriptedModel, calls, calls_all


@tool(name="math.add", repeat="safe")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(name="math.fail", repeat="safe")
def fail() -> None:
    """Never works."""
    raise ValueError("it never works")


SUM = {"id": "sum", "agent": "clerk", "task": "Add ${inputs.a} and 2", "with": {"hint": "use a tool"}}
CLERK = Agent(name="clerk", instructions="You add. Costs: ${5}.", tools=("math.*",))


def worked(model, step=None, agent=CLERK, path=":memory:", **plan):
    async def go():
        async with Engine.open(path, models={"default": model}, tools=[add, fail], agents=[agent]) as engine:
            document = {"steps": [{**SUM, **(step or {})}], "inputs": {"a": {"type": "integer"}}, **plan}
            run = await engine.start(Plan.model_validate(document), {"a": 40})
            return await run.result()

    return asyncio.run(go())


def test_e5_it_thinks_acts_and_looks_until_there_is_an_answer():
    model = ScriptedModel([calls("math.add", a=40, b=2), "It is 42"])
    assert worked(model).output == "It is 42"
    first, second = model.asked
    assert first.instructions.startswith("You add. Costs: ${5}.")
    assert first.remarks[0] == Said("Add 40 and 2\n\nWhat you are given:\nhint: use a tool")
    assert [each.name for each in first.offers] == ["math.add", "math.fail"]
    assert list(second.remarks[1:]) == [
        Answered("", (Wish("math.add", {"a": 40, "b": 2}),)),
        Returned(Wish("math.add", {"a": 40, "b": 2}), "42"),
    ]


def test_t8_it_is_told_what_was_done_before():
    model = ScriptedModel(["It is 42"])
    first = {"id": "first", "tool": "math.add", "with": {"a": 20, "b": 20}}
    assert worked(model, steps=[first, {**SUM, "context": "all"}]).output == "It is 42"
    told = "What was done before, the newest first:\n"
    assert model.asked[0].remarks[0].text.endswith(told + '[{"step":"first","exit":"success","output":40}]')


def test_calls_that_do_not_depend_on_each_other_are_made_at_once_and_told_in_order():
    model = ScriptedModel(
        [calls_all(calls("math.add", a=1, b=1), calls("math.fail"), calls("math.add", a=2, b=2)), "ok"]
    )
    assert worked(model).output == "ok"
    results = [each for each in model.asked[1].remarks if isinstance(each, Returned)]
    assert [(each.text, each.is_error) for each in results] == [
        ("2", False),
        ("unknown: ValueError: it never works", True),
        ("4", False),
    ]


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        (
            Wish("shell.run", {"command": ["rm"]}),
            "there is no tool 'shell.run' for you; write one of: math.add, math.fail",
        ),
        (Wish("rm -rf /; ${secrets.KEY}", {}), "there is no tool 'rm -rf /; ${secrets.KEY}' for you"),
        (Wish("math.add", "40 and 2"), "the arguments are no JSON object: Extra data: line 1 column 4 (char 3)"),
        (Wish("math.add", [40, 2]), "the arguments are no JSON object: they are another value. They were: [40, 2]"),
        (Wish("math.add", '{"a": NaN}'), 'no JSON object: NaN is no number of JSON. They were: {"a": NaN}'),
        (Wish("math.add", {"a": 1, "b": float("nan")}), "no JSON object: Out of range float values are not JSON"),
        (Wish("math.add", {'a"b': 1}), "no tool has an argument 'a\"b'"),
        (Wish("math.ad", {}), "there is no tool 'math.ad' for you; did you mean"),
        (Wish("math.add", {"a": 1}), "b"),
        (Wish("math.add", {"a": 1, "b": 2, "in": "${secrets.KEY}"}), "in"),
    ],
)
def test_what_cannot_be_called_goes_back_as_an_error(wish, told):
    model = ScriptedModel([Answer(wishes=(wish,), finish="calls"), "I see"])
    assert worked(model).output == "I see"
    [result] = [each for each in model.asked[1].remarks if isinstance(each, Returned)]
    assert result.is_error
    assert told in result.text


def test_arguments_that_look_like_expressions_stay_data():
    model = ScriptedModel([calls("math.add", a="${1 + 1}", b="${secrets.KEY}"), "no"])
    assert worked(model).output == "no"
    [result] = [each for each in model.asked[1].remarks if isinstance(each, Returned)]
    assert result.text == "invalid: a must be a whole number; b must be a whole number"


def test_an_answer_by_schema_is_sent_back_until_it_fits():
    step = {"returns": {"type": "object", "required": ["sum"], "properties": {"sum": {"type": "integer"}}}}
    model = ScriptedModel(["forty-two", {"sum": "42"}, {"sum": 42}])
    assert worked(model, step).output == {"sum": 42}
    assert "it is no JSON" in model.asked[1].remarks[-1].text
    assert "sum" in model.asked[2].remarks[-1].text
    result = worked(ScriptedModel(["no", "no", "no", "no"]), step)
    assert (result.failure.kind, "not what was asked for" in result.failure.message) == ("invalid", True)


@pytest.mark.parametrize("said", ["NaN", "[Infinity]", '{"sum": -Infinity}', '{"sum": 1e999}', "-1e400"])
def test_numbers_that_json_does_not_have_are_sent_back(said):
    model = ScriptedModel([said, {"sum": 42}])
    assert worked(model, {"returns": {}}).output == {"sum": 42}
    assert "is no number of JSON" in model.asked[1].remarks[-1].text


def test_an_agent_ends_with_a_verdict_where_the_step_has_some():
    step = {"verdicts": ["needs_work"], "on": {"needs_work": "done"}}
    model = ScriptedModel([{"verdict": "needs_work", "answer": "more"}])
    result = worked(model, step)
    assert (result.status, result.output) == ("succeeded", "more")
    assert worked(ScriptedModel([{"verdict": "success", "answer": 1}]), step).output == 1
    assert worked(ScriptedModel([{"verdict": "bad"}] * 3), step).failure.kind == "invalid"


def test_a_verdict_needs_no_answer_and_success_needs_one_where_the_step_wants_one():
    step = {"verdicts": ["needs_work"], "on": {"needs_work": "done"}, "returns": {"type": "object"}}
    assert worked(ScriptedModel([{"verdict": "needs_work"}]), step).status == "succeeded"
    model = ScriptedModel([{"verdict": "success"}, {"verdict": "success", "answer": {"n": 1}}])
    assert worked(model, step).output == {"n": 1}
    assert "answer" in model.asked[1].remarks[-1].text


def test_e17_it_ends_without_an_answer_when_it_had_its_thoughts():
    agent = Agent(name="clerk", tools=("math.*",), options={"rounds": 3})
    model = ScriptedModel(lambda request: calls("math.add", a=len(request.remarks), b=2))
    result = worked(model, {"recovery": {"stalled": ["fail"]}}, agent)
    assert (result.failure.kind, len(model.asked)) == ("stalled", 3)
    assert worked(ScriptedModel([Failure("denied", "no key")])).failure.kind == "denied"


def test_more_calls_than_it_may_ask_for_at_once_are_sent_back():
    agent = Agent(name="clerk", tools=("math.*",), options={"calls": 2})
    model = ScriptedModel([calls_all(*(calls("math.add", a=n, b=n) for n in range(4))), "ok"])
    worked(model, agent=agent)
    texts = [each.text for each in model.asked[1].remarks if isinstance(each, Returned)]
    assert texts[:2] == ["0", "2"]
    assert all("at most 2 calls at once" in each for each in texts[2:])


async def grown_to(turns):
    """What a run of so many thoughts writes down, in letters, and how many functions it calls."""
    agent = Agent(name="clerk", tools=("math.*",), options={"rounds": turns + 1})

    def say(request):
        number = len(request.remarks) // 2
        return calls("math.add", a=number, b=1) if number < turns else "done"

    called = 0

    def count(_frame, event, _arg):
        nonlocal called
        called += event == "call"

    async with Engine.open(tools=[add], agents=[agent], models={"default": ScriptedModel(say)}) as engine:
        sys.setprofile(count)
        run = await engine.start(Plan.model_validate({"steps": [{"id": "sum", "agent": "clerk", "task": "Go on"}]}))
        result = await run.result()
        sys.setprofile(None)
        _, entries = await engine.journal.load(run.id)
    assert result.output == "done"
    return sum(len(each.body) for each in entries), called


def test_a_conversation_of_many_turns_stays_linear_in_work_and_on_the_disk():
    short, long = (asyncio.run(grown_to(turns)) for turns in (50, 200))
    assert long[0] < 4.3 * short[0]
    assert long[1] < 4.3 * short[1]


@pytest.mark.parametrize("word", ["tokens", "calls", "steps"])
@pytest.mark.parametrize("most", [0, 1, 3, 40, 1500, 3000])
@pytest.mark.parametrize("strategy", ["react", "plan", "draft"])
def test_e21_nobody_spends_more_than_there_is_and_everybody_ends(strategy, word, most):
    model = ScriptedModel(lambda request: Answer("", (Wish("math.add", {"a": 1, "b": len(request.remarks)}),), "calls"))
    agent = Agent(name="clerk", strategy=strategy, tools=("math.*",), tokens=200)
    step = {"recovery": {"other": ["fail"], "stalled": ["fail"]}}
    result = worked(model, step, agent, budget={word: most})
    assert result.status == "failed"
    used = {"tokens": result.usage.tokens, "calls": result.usage.calls, "steps": result.usage.attempts}[word]
    assert used <= most
    if word != "tokens":
        wanted = {"calls": 50, "steps": 100}[word] if strategy == "react" else 3
        assert used == min(most, wanted)  # whatever can be paid is done

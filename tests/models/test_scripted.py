"""A model that plays by a script: from a list, from words, from a file, and in place of a model that is configured."""

import asyncio

import pytest

from perdure import Plan, run_sync
from perdure.core.calls import Failure
from perdure.models import Models, NoModel, NotNamed
from perdure.models.scripted import ScriptedModel, calls
from perdure.ports import Answered, ModelFailed, Request, Said, Wish

ASKS = {"id": "a", "model": "default", "prompt": "The capital of France?"}


def said(model, *remarks):
    return asyncio.run(model.ask(Request("default", remarks or [Said("Go")]), lambda _: None))


def written(tmp_path, text):
    (tmp_path / "answers.yaml").write_text(text)
    return tmp_path / "answers.yaml"


def test_e9_the_turn_of_the_conversation_says_which_answer_is_due():
    model = ScriptedModel(["first", calls("x.y", n=1)])
    assert said(model).text == "first"
    assert said(model, Said("Go"), Answered("first"), Said("On")).wishes == (Wish("x.y", {"n": 1}),)
    assert said(model).text == "first"  # whatever this process was asked before
    with pytest.raises(ModelFailed, match="ends after 2 answers"):
        said(model, Answered(""), Answered(""), Said("On"))


def test_a_file_has_texts_values_calls_and_failures(tmp_path):
    text = """
        France: Paris
        value: {city: Paris}
        call: {text: Let me see., calls: [{tool: web.get, with: {url: x}}, {tool: web.none}]}
        plain: {text: as it is}
        fail: {fails: {kind: rate_limited, message: slowly}}
        """
    model = ScriptedModel.from_file(written(tmp_path, text))
    assert said(model, Said("In France?")).text == "Paris"
    assert said(model, Said("a value")).text == '{"city": "Paris"}'
    assert said(model, Said("plain")).text == "as it is"
    found = said(model, Said("call"))
    assert (found.text, found.finish) == ("Let me see.", "calls")
    assert found.wishes == (Wish("web.get", {"url": "x"}), Wish("web.none", {}))
    with pytest.raises(ModelFailed) as failed:
        said(model, Said("fail"))
    assert failed.value.failure == Failure("rate_limited", "slowly")
    with pytest.raises(ModelFailed, match="no answer to: Spain"):
        said(model, Said("Spain"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("just words", "neither a list nor a mapping"),
        ("[a, b", "cannot be read"),
        ("- {calls: [{with: {}}]}", "a call is {tool: NAME"),
        ("- {calls: 3}", "`calls` is a list of {tool: NAME"),
        ("- {calls: {tool: x.y}}", "`calls` is a list of {tool: NAME"),
        ("- {calls: [shell.run]}", "a call is {tool: NAME"),
        ("- {calls: [{tool: x.y, with: [1]}]}", "a call is {tool: NAME"),
        ("- {fails: busy}", "a failure is {kind: WORD"),
    ],
)
def test_what_is_no_script_is_told(tmp_path, text, told):
    with pytest.raises(NoModel) as found:
        ScriptedModel.from_file(written(tmp_path, text))
    assert told in found.value.message
    assert "answers.yaml" in found.value.message
    assert "one answer for each turn" in found.value.help


def test_a_script_stands_for_a_tier_and_costs_nothing(tmp_path):
    path = written(tmp_path, "France: Paris")
    models = {"default": f"script:{path}"}
    result = run_sync(Plan.model_validate({"steps": [ASKS]}), models=models)
    assert (result.output, result.usage.usd) == ("Paris", 0.0)
    with pytest.raises(NoModel, match="No such file"):
        Models({"default": "script:none.yaml"}).find("weak")


def test_a_plan_cannot_choose_what_a_model_says(tmp_path):
    path = written(tmp_path, "France: Paris")
    models = Models({"default": f"script:{path}"})
    with pytest.raises(NotNamed, match="yours to name"):
        models.find(f"script:{path}")
    with pytest.raises(NotNamed, match="you named only script"):
        models.find("openai:gpt-5")

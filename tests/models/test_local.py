"""A real model, on this machine: what everything around a model does with what a model really says."""

import asyncio
import json
import time

import local_model as local
import pytest

from perdure import Engine, Plan
from perdure.models.places import Place, Places
from perdure.models.provider import ProviderModel
from perdure.models.tiers import Models
from perdure.ports import Answered, ModelFailed, Offer, Request, Returned, Said, Wish

READ = Offer("files.read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
CAT = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "legs": {"enum": [2, 4]}},
    "required": ["name", "legs"],
    "additionalProperties": False,
}


def ask(url, *remarks, **more):
    """The answer, what was heard of it, and what went wrong."""

    async def go():
        model, heard = ProviderModel(Place("local", url), local.NAME), []
        try:
            given = {"tokens": 24, "temperature": 0.0, **more}
            return await model.ask(Request("default", remarks or [Said("Say hello.")], **given), heard.append), heard
        finally:
            await model.close()

    return asyncio.run(go())


def test_a_text_comes_in_pieces_and_is_counted(local_model):
    answer, heard = ask(local_model, Said("What is the capital of France?"), instructions="Be brief.")
    assert answer.text == "".join(heard)
    assert len(heard) > 2
    assert answer.tokens_in > 10
    assert 2 < answer.tokens_out <= 24
    assert (answer.usd, answer.model) == (0.0, local.NAME)


def test_an_answer_is_cut_off_where_it_was_told(local_model):
    answer, _ = ask(local_model, Said("Count from one to one hundred."), tokens=5)
    assert (answer.finish, answer.tokens_out) == ("length", 5)


def test_a_value_has_the_form_it_was_asked_for(local_model):
    answer, _ = ask(local_model, Said("Describe a cat."), returns=CAT, tokens=80)
    found = json.loads(answer.text)
    assert set(found) == {"name", "legs"}
    assert found["legs"] in {2, 4}


def test_a_number_is_a_number(local_model):
    answer, _ = ask(local_model, Said("How many legs has a cat?"), returns={"type": "integer"}, tokens=60)
    assert isinstance(json.loads(answer.text), int)


def test_a_choice_has_chances_that_are_all(local_model):
    answer, _ = ask(local_model, Said("Is the sky blue?"), choices=("yes", "no"), tokens=60)
    assert answer.text in {"yes", "no"}
    assert set(answer.chances) == {"yes", "no"}
    assert sum(answer.chances.values()) == pytest.approx(1)
    assert min(answer.chances.values()) > 0


def test_tools_can_be_offered_and_what_came_of_them_told(local_model):
    wish = Wish("files.read", {"path": "a.txt"}, "c1")
    talk = [Said("Read a.txt."), Answered("", (wish,)), Returned(wish, "Hello from a file.")]
    for remarks in (talk[:1], talk):
        answer, _ = ask(local_model, *remarks, offers=[READ])
        assert answer.finish in {"stop", "length", "calls"}
        assert (answer.finish == "calls") <= bool(answer.wishes)


def test_whoever_stops_listening_frees_the_model(local_model):
    async def go():
        model, heard = ProviderModel(Place("local", local_model), local.NAME), asyncio.Event()
        long = Request("default", [Said("Tell a very long story.")], tokens=1500)
        task = asyncio.create_task(model.ask(long, lambda _: heard.set()))
        await asyncio.wait_for(heard.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        began = time.monotonic()
        await model.ask(Request("default", [Said("Hi")], tokens=2), lambda _: None)
        await model.close()
        return time.monotonic() - began

    assert asyncio.run(go()) < 10, "there is one slot, and 1,500 tokens take longer"


@pytest.mark.usefixtures("local_model")
def test_a_server_that_dies_in_the_middle_is_a_failure():
    async def go(process, url):
        model = ProviderModel(Place("local", url), local.NAME)
        with pytest.raises(ModelFailed) as found:
            await model.ask(Request("default", [Said("Tell a long story.")], tokens=500), lambda _: process.kill())
        process.wait()
        with pytest.raises(ModelFailed) as after:
            await model.ask(Request("default", [Said("Hello?")]), lambda _: None)
        await model.close()
        return found.value.failure.kind, after.value.failure.kind

    with local.served() as (process, url):
        assert asyncio.run(go(process, url)) == ("transient", "unavailable")


def test_a_plan_lives_with_what_a_model_says_and_pays_for_it(local_model):
    plan = {
        "budget": {"tokens": 3000},
        "steps": [
            {"id": "cat", "model": "default", "prompt": "Describe a cat.", "returns": CAT, "tokens": 80},
            {"id": "more", "model": "weak", "prompt": "Say something about ${steps.cat.output.name}.", "tokens": 16,
             "recovery": {"other": ["continue"]}},
        ],
    }  # fmt: skip

    async def go():
        models = Models({"default": f"local:{local.NAME}"}, Places([Place("local", local_model)]))
        async with Engine.open(models=models) as engine:
            run = await engine.start(Plan.model_validate(plan))
            return await run.result()

    result = asyncio.run(go())
    assert result.status == "succeeded"

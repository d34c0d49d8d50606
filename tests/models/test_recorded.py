"""E9: what models have said in an earlier run is said again, and nobody is asked; what was never asked is told."""

import asyncio
import json

import pytest
from agent_scenes import ASKED, EFFECTS, SCENES, opened, plan_for, settings

from perdure import Engine, Plan, run_sync
from perdure.agents import Agent
from perdure.core.calls import Failure
from perdure.ports import Answer, Answered, BadExport, ModelFailed, NoJournal, Request, Said, UnknownRun
from perdure.testing.models import ScriptedModel
from perdure.testing.recorded import RecordedModel

CHOICE = {"id": "kind", "model": "weak", "prompt": "A complaint?", "choices": ["yes", "no"]}
RETRIED = {"id": "points", "model": "default", "prompt": "List them.", "returns": {"type": "array"}}
PLAN = {"steps": [CHOICE, {**RETRIED, "retry": {"attempts": 2, "wait": "1ms"}}]}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(EFFECTS, str(tmp_path / "effects"))
    monkeypatch.setenv(ASKED, str(tmp_path / "asked"))
    return tmp_path


def carried_out(plan, path, **models):
    """The id of a run that is kept."""

    async def go():
        async with Engine.open(path, models=models) as engine:
            run = await engine.start(Plan.model_validate(plan))
            await run.result()
            return run.id

    return asyncio.run(go())


async def exported(engine, run, file):
    file.write_bytes(b"".join([line async for line in engine.journal.export(run)]))


def again(plan, model):
    return run_sync(Plan.model_validate(plan), models={"default": model})


OURS = [each for each in SCENES if each != "adapted"]
"""An agent of another framework records what its own library said, in that one's words; `--stub` replays it."""


@pytest.mark.parametrize("scene", OURS)
def test_e9_an_agent_hears_again_what_its_model_has_said(scene, place):
    """Of every strategy: from the journal, and from an exported run."""

    async def first():
        async with opened(scene, place / "runs.db") as engine:
            run = await engine.start(plan_for(scene))
            await run.result()
            await exported(engine, run.id, place / "run.jsonl")
            return run.id

    async def once_more(model):
        async with Engine.open(**{**settings(scene), "models": {"default": model}}) as engine:
            return (await (await engine.start(plan_for(scene))).result()).output

    run = asyncio.run(first())
    for model in (RecordedModel.from_journal(place / "runs.db", run), RecordedModel.from_export(place / "run.jsonl")):
        assert (model.run, asyncio.run(once_more(model))) == (run, SCENES[scene][2])
        assert model.asked


def test_failures_choices_and_what_it_took_are_as_they_were(tmp_path):
    answers = iter([Failure("transient", "busy"), ["a new one"]])
    chosen = Answer("yes", tokens_in=3, tokens_out=1, usd=0.25, chances={"yes": 0.9, "no": 0.1})
    models = {"weak": ScriptedModel(lambda _: chosen), "default": ScriptedModel(lambda _: next(answers))}
    carried_out(PLAN, tmp_path / "runs.db", **models)
    result = again(PLAN, RecordedModel.from_journal(tmp_path / "runs.db"))
    assert result.steps["kind"].output == {"choice": "yes", "probabilities": {"yes": 0.9, "no": 0.1}}
    assert (result.output, result.steps["points"].attempts) == (["a new one"], 2)
    assert result.usage.tokens > 4
    assert result.usage.usd >= 0.25


def test_what_was_never_asked_fails_and_tells_the_nearest_and_where_they_differ(tmp_path):
    run = carried_out(PLAN, tmp_path / "runs.db", default=ScriptedModel({"complaint": "yes", "List": [[]]}))
    model = RecordedModel.from_journal(tmp_path / "runs.db", run)
    result = again({"steps": [CHOICE, {**RETRIED, "prompt": "List them all, please."}]}, model)
    assert result.failure.kind == "invalid"
    told = result.failure.message
    assert f"never asked in {run}. The nearest request is that of points. It differs in said.1: " in told
    assert "'List them.' then, 'List them all, please.' now" in told
    assert result.steps["points"].attempts == 1
    other = again({"steps": [{**CHOICE, "choices": ["yes", "no", "perhaps"]}]}, model).failure.message
    assert "that of kind. It differs in choices: " in other


def test_a_later_turn_is_held_against_turns_as_late(tmp_path):
    talk = [
        {"id": "a", "model": "default", "prompt": "One"},
        {"id": "b", "model": "default", "after": "a", "prompt": "Two"},
    ]
    carried_out({"steps": talk}, tmp_path / "runs.db", default=ScriptedModel(["1", "2"]))
    changed = {"steps": [talk[0], {**talk[1], "prompt": "Two and a half"}]}
    told = again(changed, RecordedModel.from_journal(tmp_path / "runs.db")).failure.message
    assert "that of b. It differs in said.3: 'Two' then, 'Two and a half' now" in told


def test_of_turns_that_end_alike_the_one_as_late_is_the_nearest(tmp_path):
    same = "On. " * 1_000
    talk = [{"id": "a", "model": "default", "prompt": f"Begin. {same}"}]
    talk += [{"id": now, "model": "default", "after": before, "prompt": same} for before, now in ("ab", "bc", "cd")]
    carried_out({"steps": talk}, tmp_path / "runs.db", default=ScriptedModel(lambda _: same))
    model = RecordedModel.from_journal(tmp_path / "runs.db")
    first, second, third = (asyncio.run(asked_again(model, turns)) for turns in (1, 2, 3))
    assert ["that of a." in first, "that of b." in second, "that of c." in third] == [True] * 3


async def asked_again(model, turns):
    """What is said of a conversation of so many turns, which began otherwise."""
    same = "On. " * 1_000
    remarks = [each for _ in range(turns) for each in (Said(same), Answered(same))][:-1]
    with pytest.raises(ModelFailed) as failed:
        await model.ask(Request("default", remarks), lambda _: None)
    return str(failed.value)


def test_a_judge_that_is_an_agent_says_the_same_again(tmp_path):
    judged = {**CHOICE, "accept": [{"agent": "critic", "title": "Is it fair?"}]}
    critic = Agent(name="critic", model="strong")

    def judge(model):
        async def go():
            models = {"default": model, "strong": model}
            async with Engine.open(tmp_path / "runs.db", models=models, agents=[critic]) as engine:
                return await (await engine.start(Plan.model_validate({"steps": [judged]}))).result()

        return asyncio.run(go())

    said = ScriptedModel({"complaint": "yes", "fair": {"met": False, "why": "too short"}})
    assert "too short" in judge(said).failure.message
    assert "too short" in judge(RecordedModel.from_journal(tmp_path / "runs.db")).failure.message


def test_what_is_no_recording_is_refused(tmp_path):
    with pytest.raises(NoJournal):
        RecordedModel.from_journal(tmp_path / "none.db")
    carried_out({"steps": [{"id": "w", "wait": "1ms"}]}, tmp_path / "runs.db")
    with pytest.raises(UnknownRun):
        RecordedModel.from_journal(tmp_path / "runs.db", "r_none")
    silent = RecordedModel.from_journal(tmp_path / "runs.db")
    assert "has asked no model" in again({"steps": [CHOICE]}, silent).failure.message
    (tmp_path / "odd.jsonl").write_text(json.dumps({"steps": []}))
    with pytest.raises(BadExport):
        RecordedModel.from_export(tmp_path / "odd.jsonl")

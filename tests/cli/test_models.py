"""`perdure models`: which models stand behind the tiers, and whether they answer."""

import asyncio
import json
import subprocess
import sys

import local_model as local
import program
import pytest
from fake_provider import playing, refused, said


@pytest.fixture
def home(tmp_path):
    (tmp_path / ".config" / "perdure").mkdir(parents=True)
    return tmp_path


def own_file(home, text):
    (home / ".config" / "perdure" / "config.toml").write_text(text)


def checked(home, *replies, names=()):
    """What `perdure models check --json` ends with and says, of a server that plays these replies."""

    async def go():
        async with playing(*replies) as fake:
            own_file(home, f'[models]\ndefault = "box:m"\n[providers.box]\nurl = "{fake.url}"\n')
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "perdure", "models", "check", *names, "--json"),
                cwd=home,
                env=program.clean_environment(home),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            out, err = await process.communicate()
            assert not err, err
            return process.returncode, json.loads(out)["models"], fake

    return asyncio.run(go())


def test_tiers_are_listed_with_who_says_so_and_what_they_cost(home):
    own_file(
        home, '[models]\ndefault = "box:m"\nstrong = "openai:gpt-5"\n[providers.box]\nurl = "http://localhost:1/v1"\n'
    )
    done = program.perdure("models", "ls", "--json", home=home, OPENAI_API_KEY="")
    found = {each["tier"]: each for each in json.loads(done.stdout)["models"]}
    assert list(found) == ["weak", "default", "strong"]
    assert found["weak"]["model"] == found["default"]["model"] == "box:m"
    assert found["default"]["usd_per_million"] == [0.0, 0.0]
    assert (found["default"]["key"], found["default"]["url"]) == (None, "http://localhost:1/v1")
    assert found["strong"]["usd_per_million"][0] > 0
    assert (found["strong"]["key"], found["strong"]["key_is_set"]) == ("OPENAI_API_KEY", False)
    assert found["strong"]["origin"].endswith("config.toml")
    told = program.perdure("models", "ls", home=home, OPENAI_API_KEY="sk-secret-0").stdout
    assert "OPENAI_API_KEY is set" in told
    assert "none needed" in told
    assert "sk-secret-0" not in told


def test_without_models_it_says_how_to_set_one(home):
    done = program.perdure("models", "ls", home=home)
    assert done.stdout.count("not set") == 3
    assert "PERDURE_MODEL" in done.stdout
    done = program.perdure("models", "check", home=home)
    assert (done.returncode, "PRD4001" in done.stderr, "[models]" in done.stderr) == (6, True, True)


def test_a_model_that_answers_is_told_with_its_numbers(home):
    code, (found,), fake = checked(home, said('{"word": |"ready"}', used=(20, 6)))
    assert (code, len(fake.asked)) == (0, 1)
    assert (found["name"], found["model"], found["answered"], found["form"]) == ("default", "box:m", True, "yes")
    assert (found["tokens_in"], found["tokens_out"], found["usd"]) == (20, 6, 0.0)
    assert found["seconds"] > 0


def test_a_provider_without_schemas_is_asked_in_words(home):
    code, (found,), fake = checked(home, refused(400, "response_format is unknown"), said('{"word": "ready"}'))
    assert (code, len(fake.asked)) == (0, 2)
    assert found["form"] == "only when it is told in the prompt"


def test_a_model_that_does_not_keep_to_the_form_still_answers(home):
    code, (found,), _ = checked(home, said("I am ready"))
    assert (code, found["answered"], found["form"].startswith("no: ")) == (0, True, True)


@pytest.mark.parametrize(
    ("reply", "told"), [(refused(401, "bad key"), "denied"), (refused(503, "later"), "unavailable")]
)
def test_a_model_that_gives_no_answer_is_told_with_the_reason(home, reply, told):
    code, (found,), _ = checked(home, reply)
    assert (code, found["answered"], told in found["problem"]) == (1, False, True)


def test_a_missing_key_and_an_unknown_tier_are_told(home):
    _, found, _ = checked(home, names=("openai:gpt-5", "best"))
    assert "you named only box" in found[0]["problem"]
    assert "no model for 'best'" in found[1]["problem"]


def test_a_real_model_answers(home, local_model):
    own_file(home, f'[models]\ndefault = "local:{local.NAME}"\n[providers.local]\nurl = "{local_model}"\n')
    done = program.perdure("models", "check", "default", home=home)
    assert done.returncode == 0, done.stderr
    assert "answers" in done.stdout


def test_a_run_asks_the_model_of_the_settings(home, local_model):
    own_file(home, f'[models]\ndefault = "local:{local.NAME}"\n[providers.local]\nurl = "{local_model}"\n')
    step = {"id": "a", "model": "default", "prompt": "Is the sky blue?", "choices": ["yes", "no"], "tokens": 200}
    (home / "plan.json").write_text(json.dumps({"perdure": 1, "steps": [step]}))
    done = program.perdure("run", "plan.json", "--json", "--db", "runs.db", home=home)
    assert done.returncode == 0, done.stderr
    assert '"probabilities"' in done.stdout


def test_a_goal_is_planned_and_carried_out_by_a_script(home):
    """Nobody needs a key, or Python, to see agents at work."""
    (home / "notes.txt").write_text("one two three")
    (home / "answers.yaml").write_text("""
Read notes.txt and translate:
  steps:
    - {id: read, tool: files.read, with: {path: notes.txt}}
    - {id: say, tool: model.think, with: {prompt: "In French, ${steps.read.output.text}"}}
In French: un deux trois
""")
    script = {"PERDURE_MODEL": "script:answers.yaml"}
    done = program.perdure("run", "Read notes.txt and translate it", home=home, cwd=home, **script)
    assert (done.returncode, done.stdout) == (0, "un deux trois\n"), done.stderr
    found = json.loads(program.perdure("models", "ls", "--json", home=home, cwd=home, **script).stdout)["models"]
    assert {each["usd_per_million"][0] for each in found} == {0.0}
    missing = program.perdure("models", "ls", home=home, cwd=home, PERDURE_MODEL="script:none.yaml").stdout
    assert "none.yaml cannot be read: No such file" in missing

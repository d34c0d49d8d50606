"""E12 X2: `perdure plan --planner model` and `perdure run GOAL` with a model: a run makes the plan, and is kept."""

import asyncio
import json
import subprocess
import sys

import program
from fake_provider import playing, said

from perdure.plan.reading import read_text

GOAL = "Greet the whole crew kindly"
SKETCH = {"steps": [{"id": "greet", "tool": "flow.echo", "with": {"value": "hello crew"}}]}
NONSENSE = {"steps": [{"id": "greet", "tool": "flow.echo", "with": {"value": "${steps.none.output}"}}]}


def perdure(home, replies, *words):
    """What a command ends with, prints and says, beside a model that plays these replies."""

    async def go():
        async with playing(*replies) as fake:
            place = home / ".config" / "perdure"
            place.mkdir(parents=True, exist_ok=True)
            (place / "config.toml").write_text(f'[models]\ndefault = "box:m"\n[providers.box]\nurl = "{fake.url}"\n')
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "perdure", *words),
                cwd=home,
                env=program.clean_environment(home),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            out, err = await process.communicate()
            return process.returncode, out.decode(), err.decode()

    return asyncio.run(go())


def test_e12_a_model_makes_the_plan_and_what_is_wrong_with_it_goes_back(tmp_path):
    replies = [said(json.dumps(NONSENSE)), said(json.dumps(SKETCH))]
    code, out, err = perdure(tmp_path, replies, "plan", GOAL, "--planner", "model")
    assert (code, [each.id for each in read_text(out).plan.steps]) == (0, ["greet"])
    assert "planner model" in err
    run = err.rpartition("perdure show ")[2].split()[0]
    shown = program.perdure("show", run, home=tmp_path, cwd=tmp_path)
    assert "succeeded" in shown.stdout


def test_a_goal_that_nobody_else_can_plan_is_planned_by_the_model_and_carried_out(tmp_path):
    code, out, err = perdure(tmp_path, [said(json.dumps(SKETCH))], "run", GOAL)
    assert (code, out) == (0, "hello crew\n"), err


def test_no_plan_is_said_with_the_reason_and_the_run(tmp_path):
    code, _, err = perdure(tmp_path, [said("I cannot plan")] * 3, "plan", GOAL, "--planner", "model")
    assert (code, "PRD4205" in err, "perdure show" in err) == (6, True, True)
    assert "there is no plan that can be carried out" in err


def test_e9_a_plan_by_a_model_replays_offline_and_a_changed_prompt_is_told(tmp_path):
    code, _, err = perdure(tmp_path, [said(json.dumps(SKETCH))], "plan", GOAL, "--planner", "model")
    assert code == 0, err
    assert program.perdure("replay", "@last", "--stub", home=tmp_path, cwd=tmp_path).returncode == 0
    assert program.perdure("replay", "@last", "--decide", home=tmp_path, cwd=tmp_path).returncode == 0
    agents = tmp_path / ".config" / "perdure" / "agents"
    agents.mkdir()
    (agents / "planning.md").write_text("---\nmodel: strong\nstrategy: draft\n---\nPlan as a poet would.\n")
    done = program.perdure("replay", "@last", "--stub", home=tmp_path, cwd=tmp_path)
    assert (done.returncode, "plan/1.1" in done.stdout, "differs  with.instructions: " in done.stdout) == (
        3,
        True,
        True,
    )
    assert "→ Plan as a poet would." in done.stdout

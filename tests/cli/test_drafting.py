"""E12 X2: `perdure plan --planner model` and `perdure run GOAL` with a model: a run makes the plan, and is kept."""

import asyncio
import json
import subprocess
import sys

import program
import pytest
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


def by_own_agent(home, strategy, reply, *words):
    """The same where the user has an agent of that name, which works in its own way."""
    agents = home / ".config" / "perdure" / "agents"
    agents.mkdir(parents=True)
    (agents / "planning.md").write_text(f"---\nstrategy: {strategy}\n---\nPlan as a poet would.\n")
    return perdure(home, [said(reply)] * 2, *words)


@pytest.mark.parametrize("strategy", ["single", "react"])
def test_an_agent_of_ones_own_plans_in_its_own_way(tmp_path, strategy):
    reply = f"```json\n{json.dumps({'perdure': 1, **SKETCH})}\n```"
    code, out, err = by_own_agent(tmp_path, strategy, reply, "plan", GOAL, "--planner", "model")
    assert (code, [each.id for each in read_text(out).plan.steps]) == (0, ["greet"]), err


@pytest.mark.parametrize("reply", ["Roses are red", '{"steps": "roses"}', '[{"id": "a"}]', "null"])
def test_what_an_agent_of_ones_own_gives_and_is_no_plan_is_said_in_a_sentence(tmp_path, reply):
    code, out, err = by_own_agent(tmp_path, "single", reply, "plan", GOAL, "--planner", "model")
    assert (code, out) == (6, ""), err
    assert 'PRD4205: no plan could be made: model: what the agent "planning" has answered is no plan: ' in err
    assert "give it `strategy: draft`, or have it answer with a plan as JSON; see: perdure show" in err


def test_x7_where_an_agent_of_ones_own_gives_no_plan_the_goal_is_served_without(tmp_path):
    code, out, err = by_own_agent(tmp_path, "single", "Roses are red", "run", GOAL)
    assert (code, out, "planner nobody" in err) == (0, "Roses are red\n", True), err


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


def test_x7_where_planning_fails_the_goal_is_served_without_a_plan_and_that_is_said(tmp_path):
    replies = [*[said("I cannot plan")] * 3, said("Hello, crew!")]
    code, out, err = perdure(tmp_path, replies, "run", GOAL)
    assert (code, out) == (0, "Hello, crew!\n"), err
    assert "planner nobody" in err
    assert "the agent generalist does it without a plan" in err
    assert "succeeded, without a plan: no plan could be made: model: there is no plan that can be carried out" in err
    shown = program.perdure("show", "@last", "--json", home=tmp_path, cwd=tmp_path)
    assert json.loads(shown.stdout)["unplanned"].startswith("no plan could be made")


def test_x7_where_no_model_can_be_asked_nobody_is_said_to_do_it_without_a_plan(tmp_path):
    for script in ("none.yaml", "."):
        world = {"PERDURE_MODEL": f"script:{script}", "home": tmp_path, "cwd": tmp_path}
        done = program.perdure("run", GOAL, **world)
        assert (done.returncode, "Traceback" in done.stderr) == (6, False)
        assert "PRD4215" in done.stderr
        assert done.stderr.count("cannot be read") == 1
        assert "does it without a plan" not in done.stderr


def test_x7_who_names_a_planner_wants_a_plan_or_nothing(tmp_path):
    code, out, err = perdure(tmp_path, [said("I cannot plan")] * 3, "run", GOAL, "--planner", "model")
    assert (code, out, "PRD4205" in err) == (6, "", True)
    code, _, err = perdure(tmp_path, [], "run", GOAL, "--planner", "tools")
    assert (code, "PRD4205" in err) == (6, True)


def test_a_planner_is_named_for_goals_alone(tmp_path):
    (tmp_path / "plan.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: flow.echo, with: {value: 1}}]\n")
    code, _, err = perdure(tmp_path, [], "run", "plan.yaml", "--planner", "model")
    assert (code, "--planner is for a GOAL" in err) == (2, True)


def test_e12_a_step_that_fails_is_planned_anew_by_the_model_in_the_same_run(tmp_path):
    broken = {"steps": [{"id": "greet", "tool": "flow.fail", "with": {"message": "no voice", "kind": "logic"}}]}
    code, out, err = perdure(tmp_path, [said(json.dumps(broken)), said(json.dumps(SKETCH))], "run", GOAL)
    assert (code, out) == (0, "hello crew\n"), err
    told = program.perdure("diff", "@last", home=tmp_path, cwd=tmp_path).stdout
    assert "by planner: greet failed; planning plans anew what is left" in told
    assert "by planning.replan: greet failed (logic: no voice)" in told
    assert program.perdure("replay", "@last", "--stub", home=tmp_path, cwd=tmp_path).returncode == 0
    assert program.perdure("replay", "@last", "--decide", home=tmp_path, cwd=tmp_path).returncode == 0


def test_x7_what_cannot_be_planned_anew_is_done_without_a_plan(tmp_path):
    broken = {"steps": [{"id": "greet", "tool": "flow.fail", "with": {"message": "no voice", "kind": "logic"}}]}
    replies = [said(json.dumps(broken)), *[said("I cannot plan")] * 3, said("Hello, crew!")]
    code, out, err = perdure(tmp_path, replies, "run", GOAL)
    assert (code, out) == (0, "Hello, crew!\n"), err
    assert "without greet, without a plan: greet failed (logic: no voice); planning finds no plan" in err

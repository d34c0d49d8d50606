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


def test_x2_values_that_are_given_reach_the_model_and_are_inputs_of_its_plan(tmp_path):
    sketch = {"steps": [{"id": "greet", "tool": "flow.echo", "with": {"value": "hello ${inputs.who}"}}]}
    (tmp_path / "long.txt").write_text("a long tale " * 5000)
    words = ("plan", GOAL, "-i", "who=Ann", "-i", "tale=@long.txt", "-o", "plan.yaml")
    code, _, err = perdure(tmp_path, [said(json.dumps(sketch))], *words)
    assert code == 0, err
    assert "the plan leaves out: -i tale" in err
    plan = read_text((tmp_path / "plan.yaml").read_text()).plan
    assert plan.inputs["who"] == {"type": "string", "default": "Ann"}
    done = program.perdure("run", "plan.yaml", home=tmp_path, cwd=tmp_path)
    assert done.stdout == "hello Ann\n"
    done = program.perdure("run", "plan.yaml", "-i", "who=Bob", home=tmp_path, cwd=tmp_path)
    assert done.stdout == "hello Bob\n"


def test_x2_what_a_plan_by_a_model_does_not_take_of_what_is_given_is_said_and_not_carried_out(tmp_path):
    code, out, err = perdure(tmp_path, [said(json.dumps(SKETCH))], "run", GOAL, "-i", "who=Ann")
    assert (code, out, "PRD4206" in err, "-i who" in err) == (6, "", True, True)
    code, out, err = perdure(tmp_path, [said(json.dumps(SKETCH))], "run", GOAL, "-i", "who=crew")
    assert (code, out) == (0, "hello crew\n"), err  # it stands in the plan as it is


def test_a2_who_names_a_template_gets_that_and_no_plan_by_a_model(tmp_path):
    (tmp_path / "perdure" / "templates").mkdir(parents=True)
    (tmp_path / "perdure.toml").write_text("")
    template = {"about": "Say a word.", "examples": ["say hello"]}
    inputs = {"word": {"type": "string"}}
    steps = [{"id": "say", "tool": "flow.echo", "with": {"value": "${inputs.word}"}}]
    document = {"perdure": 1, "name": "say", "meta": {"template": template}, "inputs": inputs, "steps": steps}
    (tmp_path / "perdure" / "templates" / "say.json").write_text(json.dumps(document))
    sketch = said(json.dumps(SKETCH))
    code, out, err = perdure(tmp_path, [sketch], "run", GOAL, "--template", "say", "-i", "word=hi")
    assert (code, out) == (0, "hi\n"), err
    code, out, err = perdure(tmp_path, [sketch], "run", GOAL, "--template", "say", "-i", "word=hi", "-i", "loud=yes")
    assert (code, "PRD4206" in err, "-i loud" in err) == (6, True, True)
    code, out, err = perdure(tmp_path, [sketch], "run", GOAL, "--template", "shout")
    assert (code, 'there is no template "shout"' in err) == (6, True)
    code, out, err = perdure(tmp_path, [sketch], "run", GOAL, "--template", "say", "--planner", "model")
    assert (code, "say one of them" in err) == (2, True)


def test_a1_a_secret_that_nobody_has_given_is_mended_by_the_model(tmp_path):
    place = tmp_path / ".config" / "perdure"
    place.mkdir(parents=True)
    (place / "secrets.toml").write_text('CREW_KEY = "a long secret"\n')
    (place / "secrets.toml").chmod(0o600)
    replies = [
        {"steps": [{"id": "a", "tool": "flow.echo", "with": {"value": f"${{secrets.{name}}}"}}]}
        for name in ("KEY", "CREW_KEY")
    ]
    code, out, err = perdure(tmp_path, [said(json.dumps(each)) for each in replies], "plan", GOAL)
    assert (code, "${secrets.CREW_KEY}" in out, "PRD4213" in err) == (0, True, False), err
    shown = program.perdure("show", "@last", "--json", home=tmp_path, cwd=tmp_path).stdout
    assert "a long secret" not in shown


MOVE = "move 'a.txt' to 'b.txt'"


def test_x8_a_model_fills_in_what_names_types_and_forms_do_not_tell_and_what_does_not_fit_goes_back(tmp_path):
    (tmp_path / "a.txt").write_text("moved")
    bad, good = ({"moves": [{"path": "a.txt", **more}]} for more in ({}, {"to": "b.txt"}))
    code, _, err = perdure(tmp_path, [said(json.dumps(bad)), said(json.dumps(good))], "run", MOVE)
    assert (code, (tmp_path / "b.txt").read_text()) == (0, "moved"), err
    assert "planner tools" in err
    assert "moves is what a model found in the request" in err
    assert 'found moves [{"path": "a.txt", "to": "b.txt"}] in the goal, by a model: perdure show r_' in err


def test_x8_what_the_model_does_not_find_the_person_is_asked_for(tmp_path):
    for reply in (said("{}"), said(json.dumps({"text": 5})), said("no idea")):
        code, _, err = perdure(tmp_path, [reply] * 3, "run", "count the words", "--patience", "0")
        assert (code, "asks first for: text" in err) == (4, True), err


def test_x8_a_template_is_filled_by_a_model_too_and_keeps_what_is_given(tmp_path):
    goal = "fetch a page and store it in x.html"
    reply = said(json.dumps({"url": "https://example.org/"}))
    code, out, err = perdure(tmp_path, [reply], "plan", goal)
    assert (code, "asks first" in err, "planner template" in err) == (0, False, True), err
    assert read_text(out).plan.inputs["url"]["default"] == "https://example.org/"
    code, out, err = perdure(tmp_path, [], "plan", goal, "-i", "url=https://a.org")
    assert (code, read_text(out).plan.inputs["url"]["default"]) == (0, "https://a.org"), err


def test_x8_who_names_a_planner_asks_no_model(tmp_path):
    code, _, err = perdure(tmp_path, [], "plan", "count the words", "--planner", "tools")
    assert (code, "asks first for: text" in err) == (0, True)


MANY = """
from perdure import tool

def made(number):
    def work(value: str) -> str:
        \"\"\"Nothing that the goal speaks of.\"\"\"
        return value
    return tool(name=f"zz.t{number:02}")(work)

TOOLS = [made(number) for number in range(45)]
"""


def test_x2_tools_that_are_named_are_shown_to_the_model_however_many_there_are(tmp_path):
    (tmp_path / "many.py").write_text(MANY)
    steps = [{"id": "last", "tool": "zz.t44", "with": {"value": "hello crew"}}]
    words = ("run", GOAL, "--tools", "many:TOOLS")
    code, out, err = perdure(tmp_path, [said(json.dumps({"steps": steps}))], *words)
    assert (code, out) == (0, "hello crew\n"), err

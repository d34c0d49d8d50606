"""E12: `perdure plan` and `perdure run GOAL`: plans without a model, and what is said where there is none."""

import json

import pytest

from perdure.plan.reading import read_text

GREET = """
perdure: 1
name: greet
inputs: {name: {type: string}}
meta: {template: {about: Greet somebody., words: [greet], examples: ['greet name "Ada"']}}
steps: [{id: say, tool: flow.echo, with: {value: "hello ${inputs.name}"}}]
output: ${steps.say.output}
"""


@pytest.fixture
def at(perdure, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "notes.txt").write_text("one two three\n")
    return lambda *words, **more: perdure(*words, cwd=tmp_path / "work", **more)


def test_e12_a_plan_goes_to_standard_output_and_the_reasons_to_standard_error(at):
    done = at("plan", "Read notes.txt and count the words")
    reading = read_text(done.stdout)
    assert (done.returncode, reading.problems) == (0, [])
    assert [step.tool for step in reading.plan.steps] == ["files.read", "text.words"]
    assert done.stderr.splitlines()[0] == "planner tools"
    assert "path is the next path in the request" in done.stderr


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_goal_that_says_nothing_is_refused(at, command):
    done = at(command, " ")
    assert (done.returncode, "this is empty" in done.stderr) == (2, True)


def test_a_plan_can_be_written_to_a_file_and_run(at, tmp_path, db):
    assert "wrote plan.json" in at("plan", "Read notes.txt and count the words", "-o", "plan.json").stderr
    assert json.loads((tmp_path / "work" / "plan.json").read_text())["perdure"] == 1
    assert at("run", "plan.json", "--db", db).stdout == "3\n"


def test_e12_a_goal_is_planned_and_carried_out(at, db):
    done = at("run", "Read notes.txt and count the words", "--db", db)
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert done.stderr.startswith("planner tools\n")


def test_one_document(at):
    found = json.loads(at("plan", "Read notes.txt and b.txt", "--json").stdout)
    assert (found["schema"], found["planner"], found["leaves_out"]) == ("perdure.planned/1", "tools", ["b.txt"])
    assert found["plan"]["steps"][0]["with"] == {"path": "notes.txt"}
    assert found["numbered"]["steps"][0]["step_number"] == 1


def test_x8_what_the_goal_does_not_say_is_asked_for_in_the_run(at, db):
    done = at("run", "count the words", "--db", db)
    assert done.returncode == 4
    assert "asks first for: text" in done.stderr
    run = done.stderr.split("run ")[1].split()[0]
    assert at("answer", run, "q_ask_1", '{"text": "a b"}', "--db", db).returncode == 0
    assert at("resume", run, "--db", db).stdout == "2\n"


def test_what_is_known_can_be_given(at, db):
    assert at("run", "count the words", "-i", "text=a b c d", "--db", db).stdout == "4\n"


def test_a_goal_that_nobody_can_plan_says_what_to_configure(at, db):
    done = at("run", "bake a cake", "--db", db)
    assert done.returncode == 6
    assert done.stderr.startswith(
        "error PRD4205: no plan could be made: template: no template fits; tools: no tool fits"
    )
    assert "a model" in done.stderr
    assert not db.exists()
    told = json.loads(at("run", "bake a cake", "--db", db, "--json").stderr)
    assert told["code"] == "PRD4205"


def test_a_plan_that_leaves_something_out_is_written_but_not_run(at, db):
    done = at("run", "Read notes.txt and summarise it", "--db", db)
    assert (done.returncode, db.exists()) == (6, False)
    assert "error PRD4206: the plan would leave out: summarise it" in done.stderr
    assert at("plan", "Read notes.txt and summarise it").returncode == 0


def test_a_name_that_looks_like_a_file_is_no_goal(at, db):
    assert at("run", "nothing.yaml", "--db", db).returncode == 3


def test_a2_templates_of_the_project_and_of_the_user_are_chosen(at, home, tmp_path, db):
    own = home / ".config" / "perdure" / "templates"
    own.mkdir(parents=True)
    project = tmp_path / "work" / "perdure" / "templates"
    project.mkdir(parents=True)
    (project / "greet.yaml").write_text(GREET.replace("hello", "welcome"))
    (project / "broken.yaml").write_text("perdure: 1\nsteps: []")
    done = at("run", 'greet name "Ada"', "--db", db)
    assert done.stdout == "welcome Ada\n"
    assert f"from {project / 'greet.yaml'}" in done.stderr
    assert "warning PRD4204" in done.stderr
    (own / "greet.yaml").write_text(GREET)
    assert at("run", 'greet name "Ada"', "--db", db).stdout == "hello Ada\n", "what the user has written counts first"
    assert at("run", "greet somebody", "--template", "greet", "--db", db).returncode == 4, "it asks who"


def test_a_template_can_be_named(at):
    done = at("plan", "do it", "--template", "test_and_tag", "-i", "name=v1", "-i", "test=true")
    assert read_text(done.stdout).plan.inputs["name"]["default"] == "v1"
    assert "the template test_and_tag was named" in done.stderr


def test_a1_what_stands_in_the_way_is_told_before_the_first_step(at, tmp_path, db):
    tools = """
from perdure import tool

@tool(name="mail.send", effects=["irreversible"])
def send(text: str, api_key: str) -> str:
    \"\"\"Send a mail.\"\"\"
    return text
"""
    (tmp_path / "work" / "post.py").write_text(tools)
    done = at("run", 'send a mail with text "hello"', "--tools", "post", "--db", db)
    assert (done.returncode, db.exists()) == (6, False)
    assert 'PRD4213: steps[0].with.api_key nobody has given the secret "API_KEY"' in done.stderr
    secret = {"PERDURE_SECRET_API_KEY": "of nobody"}
    given = at("run", 'send a mail with text "hello"', "--tools", "post", "--db", db, **secret)
    assert (given.returncode, given.stdout) == (0, "hello\n")


CONTRACTS = """
inputs: {word: {type: string}}
wanted: [said]
actions:
  flow.echo: {effects: [said], with: {value: "hello ${inputs.word}"}}
"""


def test_e12_what_is_wanted_by_contracts_is_planned_and_carried_out(at, tmp_path, db):
    (tmp_path / "work" / "wanted.yaml").write_text(CONTRACTS)
    wanted = ("wanted.yaml", "--planner", "contracts")
    plan = read_text(at("plan", *wanted, "-i", "word=Ann").stdout).plan
    assert plan.inputs["word"] == {"type": "string", "default": "Ann"}
    done = at("run", *wanted, "-i", "word=7", "--db", db)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"flow_echo": "hello 7"}), done.stderr
    assert "planner contracts" in done.stderr
    done = at("run", *wanted, "--db", db)
    assert (done.returncode, 'nobody gives the input "word"' in done.stderr) == (6, True)
    done = at("run", *wanted, "-i", "word=7", "-i", "loud=yes", "--db", db)
    assert (done.returncode, "PRD4206: the plan would leave out: -i loud" in done.stderr) == (6, True)


@pytest.mark.parametrize("goal", ["bake a cake", "nothing.yaml", "bake a cake " * 30])
def test_contracts_are_a_file(at, db, goal):
    done = at("run", goal, "--planner", "contracts", "--db", db)
    assert (done.returncode, db.exists(), "PRD4205" in done.stderr) == (6, False, True), done.stderr
    assert "planning from contracts needs a file" in done.stderr


@pytest.mark.parametrize("planner", ["model", "contracts"])
def test_planners_that_need_more_say_so(at, planner):
    done = at("plan", "bake a cake", "--planner", planner)
    assert (done.returncode, done.stderr[:13]) == (6, "error PRD4205")

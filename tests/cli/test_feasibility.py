"""A1: what a written plan lacks here is found before its first step, with the place in the file."""

import json

import program
import pytest

PLAN = """perdure: 1
budget: {calls: 1}
steps:
  - {id: first, tool: files.write, with: {path: done.txt, text: x}}
  - {id: ask, model: strong, prompt: Why?}
  - id: go
    agent: nobody
    task: Go
    alternates: [{model: "openai:x", prompt: y}]
  - {id: tell, tool: flow.echo, with: {value: "${secrets.KEY}"}}
  - {id: again, model: weak, prompt: Why?}
"""
FOUND = [
    ("PRD4214", 2, "error"),
    ("PRD4215", 5, "error"),
    ("PRD1402", 7, "error"),
    ("PRD4215", 9, "warning"),
    ("PRD4213", 10, "error"),
    ("PRD4215", 11, "error"),
]


@pytest.fixture
def home(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def told(problems):
    return [(each["code"], each["line"], each["severity"]) for each in problems]


def test_a1_check_tells_it_if_it_is_asked_to(home):
    done = program.perdure("check", "plan.yaml", home=home)
    assert done.returncode == 0, done.stderr
    done = program.perdure("check", "--feasible", "--json", "plan.yaml", home=home)
    (checked,) = json.loads(done.stdout)["plans"]
    assert (done.returncode, checked["ok"], told(checked["problems"])) == (6, False, FOUND)
    assert all(each["hint"] for each in checked["problems"])
    done = program.perdure("check", "--feasible", "--toolbox", "x.json", "plan.yaml", home=home)
    assert (done.returncode, "another machine" in done.stderr) == (2, True)


def test_a1_run_does_not_begin_what_cannot_come_to_its_end(home):
    done = program.perdure("run", "plan.yaml", "--json", "--db", "runs.db", home=home)
    assert done.returncode == 6
    assert told(json.loads(done.stderr)["problems"]) == [each for each in FOUND if each[2] == "error"]
    assert not (home / "done.txt").exists()
    assert not (home / "runs.db").exists()
    done = program.perdure("run", "plan.yaml", "--detach", "--db", "runs.db", home=home)
    assert (done.returncode, (home / "runs.db").exists()) == (6, False)
    assert "plan.yaml:5:22: error PRD4215: steps[1].model no model is set for 'strong'" in done.stderr


def test_a_dry_run_tells_it_and_walks_on(home):
    done = program.perdure("run", "plan.yaml", "--dry-run", "--json", home=home)
    document = json.loads(done.stdout)
    assert (done.returncode, told(document["lacks"])) == (6, FOUND)
    assert document["steps"][0] == {"step": "first", "exit": "success"}
    told_ = program.perdure("run", "plan.yaml", "--dry-run", home=home).stdout
    assert told_.startswith("dry run: it would not begin; with all that it needs, ")
    assert "  plan.yaml:7:12: error PRD1402: steps[2].agent there is no agent" in told_


def test_with_all_that_it_needs_it_begins(home):
    (home / "answers.yaml").write_text("Why: Because.")
    (home / "plan.yaml").write_text(PLAN.replace("nobody", "summarizer").replace("calls: 1", "calls: 9"))
    world = {"PERDURE_MODEL": "script:answers.yaml", "PERDURE_SECRET_KEY": "a long secret"}
    done = program.perdure("check", "--feasible", "plan.yaml", home=home, **world)
    assert done.returncode == 0, done.stdout
    assert "plan.yaml:9:26: warning PRD4215" in done.stdout
    done = program.perdure("run", "plan.yaml", "--timeout", "20", "--db", "runs.db", home=home, **world)
    assert "warning PRD4215" in done.stderr
    assert (home / "done.txt").exists()


def test_a1_e12_nor_does_it_begin_where_nobody_is_there_to_find_another_way(tmp_path):
    step = "  - {id: first, tool: files.write, with: {path: done.txt, text: x}}\n"
    (tmp_path / "plan.yaml").write_text(f"perdure: 1\nadjust: {{planner: zz, otherwise: yy}}\nsteps:\n{step}")
    done = program.perdure("check", "--feasible", "--json", "plan.yaml", home=tmp_path)
    (checked,) = json.loads(done.stdout)["plans"]
    assert (done.returncode, told(checked["problems"])) == (6, [("PRD1402", 2, "error")] * 2)
    done = program.perdure("run", "plan.yaml", "--db", "runs.db", home=tmp_path)
    assert (done.returncode, (tmp_path / "done.txt").exists()) == (6, False)
    assert 'plan.yaml:2:19: error PRD1402: adjust.planner there is no agent "zz"' in done.stderr


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ("strategy: nope", "PRD4101"),
        ("fallbacks: [nobody]", "PRD4101"),
        ("options: {rounds: lots}", "PRD4110"),
        ("{strategy: reflexion, options: {judge: {agent: nobody}}}", "PRD1402"),
        ("{strategy: reflexion, options: {judge: {model: 'openai:x'}}}", "PRD4215"),
        ("foo: nope", "PRD4101"),
    ],
)
def test_a1_an_agent_that_cannot_be_is_told_before_anything_begins(tmp_path, head, code):
    (tmp_path / "perdure" / "agents").mkdir(parents=True)
    (tmp_path / "perdure" / "agents" / "bob.md").write_text(f"---\n{head}\n---\nYou are bob.\n")
    (tmp_path / "answers.yaml").write_text("[]")
    (tmp_path / "plan.yaml").write_text("perdure: 1\nsteps:\n  - {id: a, agent: bob, task: t}\n")
    done = program.perdure(
        "check", "--feasible", "--json", "plan.yaml", home=tmp_path, PERDURE_MODEL="script:answers.yaml"
    )
    (checked,) = json.loads(done.stdout)["plans"]
    assert (done.returncode, told(checked["problems"])) == (6, [(code, 3, "error")])
    done = program.perdure("run", "plan.yaml", "--db", "runs.db", home=tmp_path, PERDURE_MODEL="script:answers.yaml")
    assert (done.returncode, code in done.stderr, (tmp_path / "runs.db").exists()) == (6, True, False)

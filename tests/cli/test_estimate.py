"""A7: `perdure estimate`: what a plan will take, before it begins and after it was carried out."""

import json

import pytest

PLAN = """
perdure: 1
name: greet
budget: {seconds: 60}
inputs: {name: {type: string}}
steps:
  - {id: say, tool: flow.echo, with: {value: "hello ${inputs.name}"}, estimate: {seconds: 30}}
"""


@pytest.fixture
def at(perdure, tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    return lambda *words, **more: perdure(*words, cwd=tmp_path, **more)


def test_a7_a_plan_is_estimated_from_what_it_declares_and_then_from_its_runs(at, db):
    first = at("estimate", "plan.yaml", "--db", db)
    assert (first.returncode, first.stderr) == (0, "")
    assert "basis    steps 1 declared" in first.stdout
    assert not db.exists(), "nothing is made by looking"
    for _ in range(4):
        at("run", "plan.yaml", "-i", "name=Ada", "--db", db)
    found = json.loads(at("estimate", "plan.yaml", "--db", db, "--json").stdout)
    assert (found["schema"], found["basis"]["runs"], found["basis"]["steps"]["history"]) == ("perdure.estimate/1", 4, 1)
    assert found["seconds"]["p50"] < 1
    assert found["budget"] == [
        {
            "of": "seconds",
            "limit": 60.0,
            "p90": found["budget"][0]["p90"],
            "beyond": found["budget"][0]["beyond"],
            "suffices": True,
        }
    ]


def test_a7_a_goal_is_planned_first(at, db):
    done = at("estimate", "Read notes.txt and count the words", "--db", db)
    assert done.returncode == 0
    assert "basis    a guess: steps 2 guessed" in done.stdout


def test_a_plan_that_cannot_be_used_is_refused(at, tmp_path):
    (tmp_path / "bad.yaml").write_text("perdure: 1\nsteps: [{id: a, tool: x.y, taks: 1}]\n")
    done = at("estimate", "bad.yaml")
    assert (done.returncode, "PRD1101" in done.stderr) == (6, True)
    assert at("estimate", "none.yaml").returncode == 3

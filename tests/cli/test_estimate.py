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


def test_a5_of_a_run_it_is_told_how_far_it_is(at, db, tmp_path):
    plan = (
        PLAN.replace("seconds: 60", "seconds: 600")
        + '  - {id: ok, ask: "Go on?"}\n  - {id: then, tool: flow.echo, estimate: {seconds: 50}, with: {value: 1}}\n'
    )
    (tmp_path / "asks.yaml").write_text(plan)
    assert at("run", "asks.yaml", "-i", "name=Ada", "--db", db).returncode == 4
    found = json.loads(at("estimate", "@last", "--db", db, "--json").stdout)
    assert (found["schema"], found["status"], found["waits"], found["steps_over"]) == (
        "perdure.progress/1",
        "waiting",
        1,
        1,
    )
    assert 20 < found["left"]["p50"] < 120
    assert "% is done; answers of people come besides" in at("show", "@last", "--db", db).stdout


def test_a7_a_dry_run_says_what_the_plan_would_take(at, db):
    done = at("run", "plan.yaml", "-i", "name=Ada", "--db", db, "--dry-run")
    assert "would take:\n  time: " in done.stdout
    assert (
        json.loads(at("run", "plan.yaml", "-i", "name=Ada", "--db", db, "--dry-run", "--json").stdout)["estimate"][
            "schema"
        ]
        == "perdure.estimate/1"
    )


def test_a7_it_says_whether_runs_that_fail_are_counted(at, db, tmp_path):
    (tmp_path / "round.yaml").write_text(
        "steps:\n"
        "  - {id: there, tool: flow.echo, with: {value: 1}, max_visits: 9, on: {success: back}}\n"
        "  - {id: back, tool: flow.echo, with: {value: 1}, on: {success: there}}\n"
    )
    told = at("estimate", "round.yaml", "--db", db).stdout
    assert "success  in 0% of the runs; the others are counted above" in told
    basis = json.loads(at("estimate", "round.yaml", "--db", db, "--json").stdout)["basis"]
    assert basis["counted"] == basis["simulated"]

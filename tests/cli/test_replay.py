"""E4 E9: `perdure replay`: verifies and folds, executes nothing, and names the first bad place."""

import json
import sqlite3
from pathlib import Path

import pytest
from runs import ASK, HELLO


def spoil(place, sql):
    with sqlite3.connect(place.db) as connection:
        connection.execute(sql)
    connection.close()


def test_the_same_facts_have_the_same_digest(place):
    place.run(ASK, code=4)
    before = place.do("replay", "@last").stdout
    assert "status  waiting" in before
    assert "1 question_asked" in before
    assert place.do("replay", "@last").stdout == before
    digest = json.loads(place.do("replay", "@last", "--json").stdout)["digest"]
    assert f"state   sha256:{digest}" in before
    place.do("approve", "@last")
    assert json.loads(place.do("replay", "@last", "--json").stdout)["digest"] != digest


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE turns SET body = x'7b7d' WHERE seq = (SELECT min(seq) FROM turns)",
        "UPDATE turns SET body = CAST(replace(body, 'attempt_ended', 'step_ended') AS BLOB)",
        "DELETE FROM turns WHERE seq = (SELECT min(seq) FROM turns)",
    ],
)
def test_a_broken_run_has_an_exit_code_of_its_own(place, sql):
    place.run(HELLO, "-i", "name=Ada")
    spoil(place, sql)
    done = place.do("replay", "@last", code=7)
    assert "is broken at entry" in done.stderr
    found = json.loads(place.do("replay", "@last", "--json", code=7).stdout)
    assert (found["ok"], found["bad"] <= 3) == (False, True)
    assert "PRD2204" in place.do("show", "@last", code=1).stderr
    assert "Traceback" not in place.do("resume", "@last", code=1).stderr


def test_a_value_that_was_changed_is_found(place):
    place.run(HELLO, "-i", "name=" + "x" * 9_000)
    spoil(place, "UPDATE artifacts SET data = x'31' WHERE length(data) > 8900")
    assert place.do("replay", "@last", code=7).stdout == ""


def test_what_is_not_there(place):
    place.do("replay", "@last", code=3)


def test_deciding_again(place):
    place.run(HELLO, "-i", "name=Ada")
    assert "would be decided the same" in place.do("replay", "@last", "--decide").stdout
    found = json.loads(place.do("replay", "@last", "--decide", "--json").stdout)
    assert (found["ok"], found["same_release"], found["difference"]) == (True, True, None)


def test_deciding_again_without_the_tools_of_the_run(place):
    place.run("perdure: 1\nsteps: [{id: a, tool: deed.write, with: {name: a}}]", "--tools", "deeds")
    assert "PRD3302" in place.do("replay", "@last", "--decide", code=2).stderr
    place.do("replay", "@last", "--decide", "--tools", "deeds")


OLD = Path(__file__).parents[1] / "golden" / "tried_again.jsonl"


def test_what_another_release_decided_is_shown_and_no_error(place):
    place.do("import", str(OLD))
    done = place.do("replay", "@last", "--decide")
    assert "would be decided otherwise in turn 3, from fact 4 on" in done.stdout
    assert "recorded  step_ended  a  over, success" in done.stdout
    assert "a release that did not say which" in done.stderr
    place.do("replay", "@last", "--decide", "--strict", code=7)
    assert json.loads(place.do("replay", "@last", "--decide", "--json").stdout)["difference"]["seq"] == 4


def test_the_recorded_run_once_more_without_its_tools(place, tmp_path):
    plan = "perdure: 1\nsteps: [{id: a, tool: deed.write, with: {name: a}}, {id: q, ask: Go on?}]\n"
    place.run(plan, "--tools", "deeds", code=4)
    place.do("approve", "@last")
    place.do("resume", "@last", "--tools", "deeds")
    assert "it came to the end that was recorded" in place.do("replay", "@last", "--stub").stdout
    changed = tmp_path / "changed.yaml"
    changed.write_text(plan.replace("name: a", "name: b"))
    done = place.do("replay", "@last", "--stub", str(changed), code=3)
    assert "stopped  in a: its call was never recorded" in done.stdout
    assert 'nearest  {"tool": "deed.write", "with": {"name": "a"}} in a' in done.stdout
    changed.write_text(plan + "output: nothing\n")
    found = json.loads(place.do("replay", "@last", "--stub", str(changed), "--json", code=1).stdout)
    assert (found["status"], found["difference"]["now"]["output"]) == ("succeeded", "nothing")
    assert place.deeds() == ["a"]
    place.do("replay", "@last", "--stub", "--decide", code=2)

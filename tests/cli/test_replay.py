"""`perdure replay`: verifies and folds, executes nothing, and names the first bad place."""

import json
import sqlite3

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

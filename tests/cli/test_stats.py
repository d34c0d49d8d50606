"""X9: `perdure stats`: many runs in numbers."""

import json

from runs import ASK, FAIL, HELLO


def stats(place, *words):
    return json.loads(place.do("stats", "--json", *words).stdout)


def test_x9_runs_steps_failures_and_questions_are_counted(place):
    for name in ("Ada", "Grace"):
        place.run(HELLO, "-i", f"name={name}")
    place.run(FAIL, code=1)
    place.run(ASK, code=4)
    place.do("approve", "@last")
    place.do("resume", "@last")
    found = stats(place)
    assert found["schema"] == "perdure.stats/1"
    assert found["runs"]["started"] == 4
    assert found["runs"]["over"] == {"failed": 1, "succeeded": 3}
    assert found["runs"]["success_rate"] == 0.75
    assert found["runs"]["seconds"]["count"] == 4
    assert found["runs"]["steps_in_plan"]["sum"] == 1 + 1 + 2 + 3
    assert found["steps"]["over"]["flow.echo"] == {"success": 5}
    assert found["steps"]["over"]["flow.fail"] == {"failure": 1}
    assert found["steps"]["over"]["ask"] == {"approved": 1}
    assert found["failures"] == {"logic": 1}
    assert found["planners"]["person"]["over"] == {"failed": 1, "succeeded": 3}
    assert found["questions"]["plan"]["asked"] == 1
    assert found["questions"]["plan"]["closed"] == {"answered": 1}
    assert found["since"] < found["until"]


def test_x9_who_made_the_plan_is_told_apart(place):
    place.run(HELLO, "-i", "name=Ada")
    (place.path / "notes.txt").write_text("one two three\n")
    place.do("run", "Read the file notes.txt")
    found = stats(place)["planners"]
    assert found.keys() >= {"person"}
    assert sum(each["started"] for each in found.values()) == 2
    assert len(found) == 2


def test_a_fork_counts_only_what_it_did_itself(place):
    place.run(FAIL, code=1)
    place.do("fork", "@last", code=1)
    found = stats(place)
    assert found["runs"]["started"] == 2
    assert found["runs"]["over"] == {"failed": 2}
    assert found["steps"]["over"]["flow.echo"] == {"success": 1}, "the fork has taken it over"


def test_only_what_happened_since(place):
    place.run(HELLO, "-i", "name=Ada")
    assert stats(place, "--since", "1d")["runs"]["started"] == 1
    assert stats(place, "--since", "0s")["runs"]["started"] == 0
    refused = place.do("stats", "--since", "yesterday", code=2)
    assert "duration" in refused.stderr


def test_a_table_for_people(place):
    place.run(HELLO, "-i", "name=Ada")
    rows = [line.split("\t") for line in place.do("stats").stdout.splitlines()]
    assert ["runs", "succeeded", "1", "", ""] in rows
    assert ["steps flow.echo", "1 success", "1", "", ""] in rows
    assert all(len(row) == 5 for row in rows)


def test_no_journal_is_no_runs(place):
    found = stats(place)
    assert found["runs"]["started"] == 0
    assert found["runs"]["per_hour"] is None


def test_x9_a_dashboard_is_printed(place):
    assert json.loads(place.do("stats", "--dashboard").stdout)["title"] == "Perdure"

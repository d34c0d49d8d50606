"""E16 E17: `perdure stop --all`: the kill switch."""

import json

from runs import ASK, TEXT, WAIT, until

TOOLS = ("--tools", "deeds")


def test_everything_of_another_process_ends_at_once(place):
    place.run(TEXT)
    place.run(ASK, code=4)
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        stopped = place.do("stop", "--all").stdout.split()
        assert len(stopped) == 2
        going.ends(5)
    statuses = [line.split("\t")[1] for line in place.perdure("ls", "--db", place.db).stdout.splitlines()]
    assert sorted(statuses) == ["cancelled", "cancelled", "succeeded"]


def test_without_an_owner_it_is_done_here(place):
    place.run(ASK, code=4)
    place.run(ASK, code=4)
    found = json.loads(place.do("stop", "--all", "--json").stdout)
    assert (found["schema"], len(found["runs"])) == ("perdure.stop/1", 2)
    assert [place.shown(run)["status"] for run in found["runs"]] == ["cancelled", "cancelled"]
    assert "stopped 0 runs" in place.do("stop", "--all").stderr


def test_it_has_to_be_meant(place):
    assert "--all" in place.do("stop", code=2).stderr
    assert "no journal" in place.do("stop", "--all").stderr
    assert not place.db.exists()

"""E8 E16: `perdure pause`, and its other name."""

import pytest
from runs import ASK, TEXT, WAIT, until


@pytest.mark.parametrize("verb", ["pause", "interrupt"])
def test_a_run_of_another_process_begins_nothing_new(place, verb):
    with place.going("run", place.plan(WAIT), "--tools", "deeds") as going:
        until(place.deeds, "the first step")
        place.do(verb, going.run, "-m", "lunch", "--by", "ann")
        place.let("one")
        going.ends(4)
        assert "the run is paused: lunch, by ann" in going.err
    assert place.deeds() == ["begun one"]
    assert place.do("resume", "@last", "--tools", "deeds").stdout == "two\n"


def test_a_run_that_nobody_drives(place):
    place.run(ASK, code=4)
    assert "nobody drives it" in place.do("pause", "@last").stderr
    assert place.shown()["status"] == "paused"
    assert "PRD3001" in place.do("pause", "@last", code=1).stderr
    place.do("approve", "@last")
    assert place.shown()["steps"].keys() == {"build", "ship"} or place.shown()["usage"]["attempts"] == 1
    assert place.do("resume", "@last").stdout == "published\n"


def test_a_run_that_is_over_or_not_there(place):
    place.run(TEXT)
    assert "PRD3002" in place.do("pause", "@last", code=1).stderr
    assert "PRD2002" in place.do("pause", "r_zzz", code=3).stderr
    assert "interrupt" not in place.perdure("--help").stdout

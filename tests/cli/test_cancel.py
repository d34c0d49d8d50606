"""E16: `perdure cancel`: a run, or one step of it."""

import signal

from runs import ASK, TEXT, WAIT, until

TWO = """
perdure: 1
join: settled
parallel:
  - {id: left, tool: deed.wait, with: {name: left}}
  - {id: right, tool: deed.wait, with: {name: right}}
"""
TOOLS = ("--tools", "deeds")


def test_a_run_that_nobody_drives_is_over_at_once(place):
    place.run(ASK, code=4)
    done = place.do("cancel", "@last", "-m", "too late", "--by", "ann")
    assert "was cancelled" in done.stderr
    assert "nobody drives it" not in done.stderr
    assert place.shown()["status"] == "cancelled"
    assert "the run is stopped: too late, by ann" in place.do("logs", "@last").stdout


def test_a_run_whose_process_was_killed(place):
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    place.do("cancel", "@last")
    assert place.shown()["status"] == "cancelled"
    assert place.deeds() == ["begun one"]


def test_one_step_of_a_run_of_another_process(place):
    with place.going("run", place.plan(TWO), *TOOLS) as going:
        until(lambda: len(place.deeds()) == 2, "both steps")
        assert "left is cancelled" in place.do("cancel", going.run, "left").stderr
        place.let("right")
        going.ends(0)
    steps = place.shown()["steps"]
    assert (steps["left"]["exit"], steps["right"]["exit"]) == ("cancelled", "success")


def test_what_cannot_be_cancelled(place):
    place.run(TEXT)
    assert "PRD3002" in place.do("cancel", "@last", code=1).stderr
    assert "PRD2002" in place.do("cancel", "r_zzz", code=3).stderr
    assert "for a whole run" in place.do("cancel", "@last", "say", "-m", "why", code=2).stderr
    place.run(ASK, code=4)
    assert "PRD3006" in place.do("cancel", "@last", "nowhere", code=3).stderr

"""`perdure retry`: a run that failed goes on."""

import pytest
from runs import TEXT, until

PLAN = """
perdure: 1
steps:
  - {id: first, tool: deed.write, with: {name: first}}
  - {id: look, tool: deed.wait, with: {name: one}, timeout: 300ms}
output: ${steps.look.output}
"""
TOOLS = ("--tools", "deeds")


def test_what_worked_stays_and_what_failed_is_done_again(place):
    done = place.run(PLAN, *TOOLS, code=1)
    assert "try again with: perdure retry" in done.stderr
    place.let("one")
    command = done.stderr.rpartition("try again with: perdure ")[2].split()
    again = place.perdure(*command)
    assert (again.returncode, again.stdout) == (0, "one\n")
    assert "the run starts" not in again.stderr
    assert place.deeds() == ["first", "begun one", "begun one"]
    assert place.is_replayed() == "succeeded"


def test_one_step_by_name(place):
    place.run(PLAN, *TOOLS, code=1)
    place.let("one")
    place.do("retry", "@last", "first", *TOOLS)
    assert place.deeds() == ["first", "begun one", "first", "begun one"]


def test_by_the_process_that_has_the_journal(place):
    place.run(PLAN, *TOOLS, code=1)
    run = place.shown()["id"]
    slow = "perdure: 1\nsteps: [{id: nap, tool: deed.wait, with: {name: never}}]"
    with place.going("run", place.plan(slow), *TOOLS):
        until(lambda: "begun never" in place.deeds(), "the owner")
        place.let("one")
        assert place.do("retry", run, *TOOLS).stdout == "one\n"


@pytest.mark.parametrize(("words", "code"), [(["@last"], 1), (["@last", "nowhere"], 1), (["r_zzz"], 3), ([], 2)])
def test_what_did_not_fail_is_not_tried_again(place, words, code):
    place.run(TEXT)
    before = place.shown()
    done = place.do("retry", *words, code=code)
    assert "Traceback" not in done.stderr
    assert place.shown() == before


def test_a_step_that_is_not_there(place):
    place.run(PLAN, *TOOLS, code=1)
    before = place.shown()
    assert "PRD3006" in place.do("retry", "@last", "nowhere", *TOOLS, code=3).stderr
    assert place.shown() == before

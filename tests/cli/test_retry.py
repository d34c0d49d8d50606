"""E4: `perdure retry`: a run that failed goes on."""

import pytest
from runs import TEXT, editor, until

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


# ------------------------------------------------------------ with another plan

OTHER = PLAN.replace(
    "  - {id: look, tool: deed.wait",
    "  - {id: before, tool: deed.write, with: {name: before}}\n  - {id: look, tool: deed.wait",
)


def test_the_plan_of_a_run_that_failed_is_mended_and_it_goes_on(place):
    place.run(PLAN, *TOOLS, code=1)
    place.let("one")
    new = place.plan(OTHER, "new.yaml")
    done = place.do("retry", "@last", "--plan", new, "--why", "it was not prepared", "--by", "ann", *TOOLS)
    assert done.stdout == "one\n"
    assert "+ before  at steps[1]" in done.stderr
    assert place.deeds() == ["first", "begun one", "before", "begun one"]
    assert place.is_replayed() == "succeeded"
    assert "by ann: it was not prepared" in place.do("diff", "@last").stdout
    assert "would be decided the same" in place.do("replay", "@last", "--decide", *TOOLS).stdout
    assert place.shown()["revision"] == 1


def test_in_an_editor_that_says_what_comes_again(place):
    place.run(PLAN, *TOOLS, code=1)
    before = place.shown()
    assert "nothing was changed" in place.do("retry", "@last", "--edit", *TOOLS, **editor(place, PLAN)).stderr
    assert place.shown() == before
    seen = (place.path / "seen").read_text()
    assert "# comes again: look\n# over: first\n" in seen
    place.let("one")
    done = place.do("retry", "@last", "--edit", *TOOLS, stdin="y\n", **editor(place, OTHER))
    assert done.stdout == "one\n"


def test_what_cannot_be_mended_is_said_and_the_run_is_over_as_it_was(place):
    place.run(PLAN, *TOOLS, code=1)
    before = place.shown()
    bad = place.plan(PLAN.replace("{name: first}", "{name: other}"), "bad.yaml")
    assert "PRD1508" in place.do("retry", "@last", "--plan", bad, *TOOLS, code=2).stderr
    assert "both say" in place.do("retry", "@last", "--plan", bad, "--edit", *TOOLS, code=2).stderr
    told = place.do("edit", "@last", "--file", bad, "--yes", code=1).stderr
    assert "perdure retry RUN --edit" in told
    assert place.shown() == before
    place.run(TEXT)
    told = place.do("edit", "@last", "--file", bad, "--yes", code=1).stderr
    assert "perdure fork RUN --from STEP --plan FILE" in told


def test_mended_by_the_process_that_has_the_journal(place):
    place.run(PLAN, *TOOLS, code=1)
    run = place.shown()["id"]
    slow = "perdure: 1\nsteps: [{id: nap, tool: deed.wait, with: {name: never}}]"
    with place.going("run", place.plan(slow, "slow.yaml"), *TOOLS):
        until(lambda: "begun never" in place.deeds(), "the owner")
        place.let("one")
        assert place.do("retry", run, "--plan", place.plan(OTHER, "new.yaml"), *TOOLS).stdout == "one\n"
    assert "before" in place.deeds()

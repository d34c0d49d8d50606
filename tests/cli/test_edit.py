"""`perdure edit`, and `perdure diff` and `perdure draw` of a run: plans that change while they run."""

import json

from runs import ASK, TEXT, editor, until

TWO = """
perdure: 1
steps:
  - id: both
    parallel:
      - {id: left, tool: deed.wait, with: {name: left}}
      - {id: right, tool: deed.wait, with: {name: right}}
  - {id: last, tool: deed.write, with: {name: last}}
"""
MORE = TWO.replace("  - {id: last,", "  - {id: first, tool: deed.write, with: {name: first}}\n  - {id: last,").replace(
    "{name: right}}", "{name: right}}\n      - {id: third, tool: deed.write, with: {name: third}}"
)
TOOLS = ("--tools", "deeds")


def test_a_person_edits_a_run_of_another_process_in_the_middle_of_a_group(place):
    with place.going("run", place.plan(TWO), *TOOLS) as going:
        until(lambda: len(place.deeds()) == 2, "both steps")
        new = place.plan(MORE, "new.yaml")
        done = place.do("edit", going.run, "--file", new, "--yes", "--by", "ann", "--why", "one more")
        assert "+ third" in done.stdout
        assert "revision 1" in done.stderr
        until(lambda: "third" in place.deeds(), "the new step")
        place.let("left")
        place.let("right")
        going.ends(0)
    assert place.deeds()[-3:] == ["third", "first", "last"]
    told = place.do("diff", "@last").stdout
    assert "by ann: one more" in told
    assert "+ first  at steps[1]" in told
    assert json.loads(place.do("diff", "@last", "--json").stdout)["revisions"][0]["why"] == "one more"
    assert "+ third" in place.do("diff", "@last", "0", "1").stdout
    assert "+ third" in place.do("diff", "@last", "0").stdout
    assert "no revision" in place.do("diff", "@last", "7", code=2).stderr
    assert "third" in place.do("draw", "@last").stdout
    assert place.shown()["revision"] == 1
    assert "revision 1" in place.do("show", "@last").stdout
    assert "revision 1 of the plan: by ann, one more" in place.do("logs", "@last").stdout


def test_the_editor_is_given_what_is_pinned_and_a_person_is_asked(place):
    place.run(ASK, code=4)
    assert "nothing was changed" in place.do("edit", "@last", **editor(place, ASK)).stderr
    seen = (place.path / "seen").read_text()
    assert "# at work: ship\n# over: build\n" in seen
    more = ASK.replace("output:", "  - {id: boast, tool: flow.echo, with: {value: out}}\noutput:")
    assert "the plan is as it was" in place.do("edit", "@last", stdin="n\n", **editor(place, more)).stderr
    done = place.do("edit", "@last", stdin="y\n", **editor(place, more))
    assert "+ boast  at steps[3]" in done.stdout
    assert "nobody drives it" in done.stderr
    assert "PRD1" in place.do("edit", "@last", code=6, **editor(place, "steps: 3")).stderr
    place.do("approve", "@last")
    place.do("resume", "@last")
    assert place.shown()["steps"]["boast"]["exit"] == "success"
    assert place.is_replayed() == "succeeded"


def test_what_cannot_be_edited(place):
    place.run(TEXT)
    new = place.plan(TWO, "new.yaml")
    assert "PRD3002" in place.do("edit", "@last", "--file", new, "--yes", code=1).stderr
    place.run(ASK, code=4)
    assert "PRD1001" in place.do("edit", "@last", "--file", "nowhere.yaml", code=3).stderr
    assert "PRD3010" in place.do("edit", "@last", "--file", new, "--yes", code=2).stderr
    assert "as it was when" in place.do("diff", "@last").stderr
    assert "two plans" in place.do("diff", new, code=2).stderr
    assert "at most two" in place.do("diff", "@last", "0", "0", "0", code=2).stderr


RULED = """
perdure: 1
adjust:
  rules:
    - {after: [a], when: output == "many", why: there are many, edits: [{insert: {id: n, tool: flow.echo, with: {value: new}}, after: a}]}
    - {after: [n], edits: [{remove: a}]}
steps:
  - {id: a, tool: flow.echo, with: {value: many}}
  - {id: b, tool: flow.echo, with: {value: last}}
"""


def test_e19_the_command_line_lets_plans_change_by_rule_unless_it_is_told_not_to(place):
    place.run(RULED)
    assert [*place.shown()["steps"]] == ["a", "n", "b"]
    assert "revision 1" in (told := place.do("diff", "@last").stdout)
    assert "by rule 1: there are many" in told
    told = place.do("logs", "@last").stdout
    assert "revision 1 of the plan: after a, by rule 1, there are many" in told
    assert "the plan stays as it is: after n, by rule 2, the plan is as it was: PRD1508" in told
    assert place.is_replayed() == "succeeded"
    assert "decided the same" in place.do("replay", "@last", "--decide").stdout
    assert json.loads(place.do("replay", "@last", "--stub", "--json").stdout)["ok"]
    assert "n " in place.do("run", place.plan(RULED), "--dry-run").stdout
    place.run(RULED, PERDURE_AGENT_PLANNING="off")
    assert [*place.shown()["steps"]] == ["a", "b"]


def test_a_run_whose_rules_were_taken_can_be_edited_and_goes_on(place):
    ruled = RULED.replace("  - {id: b,", "  - {id: q, ask: Go on?}\n  - {id: b,")
    place.run(ruled, code=4)
    path = place.path / "editor"
    path.write_text('#!/bin/sh\nsed -i "s/value: last/value: other/" "$1"\n')
    path.chmod(0o755)
    assert "~ b" in place.do("edit", "@last", "--yes", VISUAL=str(path)).stdout
    place.do("approve", "@last")
    place.do("resume", "@last")
    assert place.shown()["steps"]["b"]["output"] == "other"


def test_an_editor_that_leaves_rubbish_behind_is_told_so(place):
    place.run(ASK, code=4)
    path = place.path / "editor"
    path.write_text('#!/bin/sh\nprintf "\\377\\376" > "$1"\n')
    path.chmod(0o755)
    assert "PRD1002" in place.do("edit", "@last", code=6, VISUAL=str(path)).stderr

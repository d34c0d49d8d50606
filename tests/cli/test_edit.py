"""E16: `perdure edit`, and `perdure diff` and `perdure draw` of a run: plans that change while they run."""

import json
import shlex
import stat
from pathlib import Path

import pytest
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


# ------------------------------------------------------------------------------- what was written is not lost


def kept(command, stderr):
    """How to go on with the text that is kept, and the file it is in."""
    [line] = [line for line in stderr.splitlines() if line.startswith("what you wrote is kept; go on with: ")]
    words = shlex.split(line.removeprefix("what you wrote is kept; go on with: "))
    assert words[:2] == ["perdure", command]
    return words[1:], next(Path(word) for word in words if word.endswith(".yaml"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ASK.replace("tool:", "tol:"), 6),
        (ASK.replace("id: ship", "id: build"), 6),
        (ASK.replace("Ship build", "Send build"), 2),
    ],
    ids=["unknown", "twice", "at work"],
)
def test_what_was_written_is_kept_if_it_is_refused(place, text, code):
    place.run(ASK, code=4)
    said = place.do("edit", "@last", "--yes", code=code, TMPDIR=str(place.path), **editor(place, text)).stderr
    command, file = kept("edit", said)
    assert file.read_text().strip() == text.strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(ASK.replace("output:", "  - {id: late, tool: flow.echo, with: {value: 1}}\noutput:"))
    assert command[-2:] == ["--db", str(place.db)]
    assert "+ late" in place.perdure(*command, "--yes").stdout


def test_what_was_written_is_kept_if_somebody_is_not_sure(place):
    place.run(ASK, code=4)
    more = ASK.replace("output:", "  - {id: late, tool: flow.echo, with: {value: 1}}\noutput:")
    said = place.do("edit", "@last", stdin="n\n", TMPDIR=str(place.path), **editor(place, more)).stderr
    assert kept("edit", said)[1].read_text().strip() == more.strip()


def test_what_was_written_for_a_retry_is_kept_too(place):
    place.run(TEXT.replace("flow.echo, with: {value:", "flow.fail, with: {message:"), code=1)
    about = ("retry", "@last", "say", "--edit", "--tools", "deeds")
    said = place.do(*about, code=6, TMPDIR=str(place.path), **editor(place, "steps: 3")).stderr
    command, file = kept("retry", said)
    assert file.read_text().strip() == "steps: 3"
    file.write_text(TEXT.replace("flow.echo, with: {value:", "deed.write, with: {name:"))
    assert place.do(*command).stdout == "one\ntwo\n"


def test_a_plan_that_is_left_as_it_was_gives_a_document_too(place):
    place.run(ASK, code=4)
    found = json.loads(place.do("edit", "@last", "--file", place.plan(ASK), "--json").stdout)
    assert (found["status"], found["revision"], found["driven"]) == ("waiting", 0, False)

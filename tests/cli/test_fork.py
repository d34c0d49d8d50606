"""`perdure fork`: a new run from where another one stood, in this process or through the one that has the journal.

E4.
"""

import json

from runs import until

PLAN = """
perdure: 1
goal: Wait for ${inputs.name}
inputs: {name: {type: string, default: one}}
steps:
  - {id: first, tool: deed.write, with: {name: first}}
  - {id: look, tool: deed.wait, with: {name: "${inputs.name}"}, timeout: 300ms}
output: ${steps.look.output}
"""
SLOW = "perdure: 1\nsteps: [{id: nap, tool: deed.wait, with: {name: never}}]"
TOOLS = ("--tools", "deeds")


def failed(place):
    place.run(PLAN, *TOOLS, code=1)
    return place.shown()["id"]


def test_a_failed_run_goes_on_with_other_inputs(place):
    old = failed(place)
    before = place.do("export", old, "-o", "-").stdout
    place.let("two")
    done = place.do("fork", old, "--set", "name=two", *TOOLS)
    assert done.stdout == "two\n"
    assert "the run starts" not in done.stderr
    assert f"goes its own way from {old} at 3" in done.stderr
    assert place.deeds() == ["first", "begun one", "begun two"]
    assert place.do("export", old, "-o", "-").stdout == before
    assert place.is_replayed() == "succeeded"
    place.do("replay", "@last", "--decide", *TOOLS)


def test_it_is_shown_as_what_it_is(place):
    old = failed(place)
    place.do("fork", old, *TOOLS, code=1)
    assert f"fork    of {old} at 3" in place.do("show", "@last").stdout
    assert f"fork of {old} at 3" in place.do("ls").stdout
    assert place.shown()["fork"] == {"of": old, "seq": 3}
    runs = json.loads(place.do("ls", "--json").stdout)["runs"]
    assert [run["fork"] for run in runs] == [{"of": old, "seq": 3}, None]


def test_where_to_begin(place):
    old = failed(place)
    place.let("one")
    place.do("fork", old, "--from", "first", *TOOLS)
    place.do("fork", old, "--from", "3", *TOOLS)
    assert place.deeds() == ["first", "begun one", "first", "begun one", "begun one"]
    assert "PRD3301" in place.do("fork", "@last", *TOOLS, code=2).stderr
    assert "PRD3301" in place.do("fork", old, "--from", "99", *TOOLS, code=2).stderr
    assert "PRD3006" in place.do("fork", old, "--from", "none", *TOOLS, code=3).stderr
    assert "PRD3101" in place.do("fork", old, "--set", "nome=x", *TOOLS, code=2).stderr
    place.do("fork", "r_none", *TOOLS, code=3)


def test_by_the_process_that_has_the_journal(place):
    old = failed(place)
    with place.going("run", place.plan(SLOW), *TOOLS):
        until(lambda: "begun never" in place.deeds(), "the owner")
        place.let("one")
        done = place.do("fork", old, *TOOLS)
        assert done.stdout == "one\n"
        assert "the run starts" not in done.stderr


def test_in_the_background(place):
    old = failed(place)
    place.let("one")
    told = json.loads(place.do("fork", old, *TOOLS, "--detach", "--json").stdout)
    until(lambda: place.shown(told["id"])["status"] == "succeeded", "the process in the background")


def test_of_a_run_that_came_from_elsewhere(place, tmp_path):
    old = failed(place)
    (tmp_path / "run.jsonl").write_text(place.do("export", old, "-o", "-").stdout)
    place.db = tmp_path / "other.db"
    place.do("import", tmp_path / "run.jsonl")
    place.let("one")
    assert place.do("fork", old, *TOOLS).stdout == "one\n"


def test_with_another_plan_from_there_on(place):
    old = failed(place)
    text = PLAN.replace("timeout: 300ms", "timeout: 20s").replace('"${inputs.name}"', "three")
    changed = place.plan(text, "new.yaml")
    place.let("three")
    assert place.do("fork", old, "--plan", changed, *TOOLS).stdout == "three\n"
    assert place.deeds() == ["first", "begun one", "begun three"]

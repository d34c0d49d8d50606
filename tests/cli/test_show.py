"""`perdure show`: steps, failures, questions; now and then."""

import json

from runs import ASK, FAIL, HELLO

MANY = """
perdure: 1
inputs: {list: {type: array}}
steps:
  - {id: each, map: "${inputs.list}", steps: [{id: say, tool: flow.echo, with: {value: "${item}"}}]}
"""


def test_steps_with_exits_outputs_and_failures(place):
    place.run(FAIL, code=1)
    shown = place.do("show", "@last").stdout
    assert "status  failed in bad: logic: no luck" in shown
    assert "✓ good" in shown
    assert "→ 1" in shown
    assert "✗ bad  failure" in shown
    assert f"plan    {place.shown()['plan']}" in shown


def test_open_questions_with_how_to_answer(place):
    place.run(ASK, code=4)
    shown = place.do("show", "@last").stdout
    assert "? ship  asks: Ship build 7?" in shown
    assert f"perdure approve {place.shown()['id']} q_ship_1 --db {place.db}" in shown
    assert "· publish" in shown


def test_as_it_stood(place):
    place.run(HELLO, "-i", "name=Ada")
    shown = place.do("show", "@last", "--at", 2).stdout
    assert "2 facts" in shown
    assert "▶ greet" in shown
    assert json.loads(place.do("show", "@last", "--at", 1, "--json").stdout)["steps"] == {}


def test_a_large_group_is_shown_in_part_unless_all_is_asked_for(place):
    place.run(MANY, "-i", f"list={list(range(130))}")
    part = place.do("show", "@last").stdout
    assert "130 of 130 over" in part
    assert "each/1[5].say" not in part
    whole = place.do("show", "@last", "--all").stdout
    assert whole.count("✓ each/1[") == 260


def test_what_is_not_there(place):
    assert place.do("show", "@last", code=3).stdout == ""
    place.run(FAIL, code=1)
    assert "PRD2002" in place.do("show", "r_zzz", code=3).stderr
    place.do("describe", "@last")

"""E1 A3: what a plan says about its own changes is looked at before anything runs."""

import pytest

from perdure.plan.problems import written
from perdure.plan.reading import read_text
from perdure.plan.toolbox import Toolbox

STEPS = "steps: [{id: a, tool: x.y}, {id: g, parallel: []}, {id: b, tool: x.y}]"
TOOLBOX = Toolbox.model_validate({"tools": {"x.y": {}}})


def found(text, toolbox=None):
    return [(each.code, written(each.path), each.message) for each in read_text(text, toolbox=toolbox).problems]


def ruled(rule, steps=STEPS):
    return f"adjust: {{rules: [{rule}]}}\n{steps}"


RIGHT = {
    "a step that grows": "steps: [{id: a, tool: x.y, grows: {into: g, most: 3, tools: [web.*]}}, {id: g, parallel: []}]",
    "a rule without a condition": ruled("{edits: [{insert: {id: n, tool: x.y}, after: a}]}"),
    "a rule on what the step gave": ruled("{after: [a], when: size(output.x) > 2, edits: [{remove: b}]}"),
    "a rule on a failure": ruled("{after: [a], on: [replan], kinds: [timeout], edits: [{remove: b}]}"),
    "a rule about a step that another rule puts in": ruled(
        "{edits: [{insert: {id: n, tool: x.y}, after: a}]}, {after: [n], edits: [{amend: n, fields: {title: t}}]}"
    ),
    "a rule about any exit of any step": ruled("{on: [odd], edits: [{remove: b}]}"),
}
WRONG = {
    "no such group": (
        "steps: [{id: a, tool: x.y, grows: {into: go}}, {id: g, parallel: []}]",
        ("PRD1420", "steps[0].grows.into", '"a" grows into "go", which is no group'),
    ),
    "a step that is no group": (
        "steps: [{id: a, tool: x.y, grows: {into: b}}, {id: b, tool: x.y}]",
        ("PRD1420", "steps[0].grows.into", '"a" grows into "b", which is no group'),
    ),
    "inside a map": (
        "steps: [{id: m, map: [1], steps: [{id: a, tool: x.y, grows: {into: g}}]}, {id: g, parallel: []}]",
        ("PRD1420", "steps[0].steps[0].grows.into", '"a" is inside of "m", where no steps are added'),
    ),
    "into a map": (
        "steps: [{id: a, tool: x.y, grows: {into: g}}, {id: m, map: [1], steps: [{id: g, parallel: []}]}]",
        ("PRD1420", "steps[0].grows.into", '"g" is inside of "m", where no steps are added'),
    ),
    "rules of a plan within": (
        "steps: [{id: p, plan: {adjust: {most: 3}, steps: [{id: a, tool: x.y}]}}]",
        ("PRD1421", "steps[0].plan.adjust", 'the rules of the plan in "p" would never be looked at'),
    ),
    "after nobody": (
        ruled("{after: [z], edits: [{remove: b}]}"),
        ("PRD1421", "adjust.rules[0].after[0]", 'there is no step "z"'),
    ),
    "after a step inside a map": (
        ruled("{after: [i], edits: [{remove: b}]}", "steps: [{id: m, map: [1], steps: [{id: i, tool: x.y}]}, {id: b, tool: x.y}]"),
        ("PRD1421", "adjust.rules[0].after[0]", '"i" is inside of "m"'),
    ),
    "an exit that its step does not have": (
        ruled("{after: [a], on: [sucess], edits: [{remove: b}]}"),
        ("PRD1421", "adjust.rules[0].on[0]", 'no step of this rule ends with "sucess"'),
    ),
    "a condition that cannot be read": (
        ruled("{after: [a], when: 'output.x >', edits: [{remove: b}]}"),
        ("PRD1201", "adjust.rules[0].when", "the expression ends too early"),
    ),
    "a condition about a step that is not there": (
        ruled("{after: [a], when: steps.z.output > 1, edits: [{remove: b}]}"),
        ("PRD1202", "adjust.rules[0].when", 'there is no step "z"'),
    ),
    "what is no edit": (
        ruled("{after: [a], edits: [{put: b}]}"),
        ("PRD1421", "adjust.rules[0].edits[0]", "this is no edit: an edit is insert, replace, remove or amend"),
    ),
    "an edit of a step that is not there": (
        ruled("{after: [a], edits: [{remove: z}]}"),
        ("PRD1421", "adjust.rules[0].edits", 'the plan would be wrong then: there is no step "z" to edit'),
    ),
    "a plan that would be wrong": (
        ruled("{after: [a], edits: [{insert: {id: n, tool: x.y, when: steps.z.output}, after: a}]}"),
        ("PRD1421", "adjust.rules[0].edits", 'the plan would be wrong then: there is no step "z"'),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_can_be_meant_is_taken(name):
    assert found(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_meant_is_told(name):
    text, (code, path, message) = WRONG[name]
    [(found_code, found_path, told)] = found(text)
    assert (found_code, found_path) == (code, path)
    assert told.startswith(message)


def test_tools_that_a_rule_would_bring_are_looked_up():
    text = ruled("{edits: [{insert: {id: n, tool: no.such}, after: a}]}")
    assert found(text) == []
    assert found(text, TOOLBOX)[0][:2] == ("PRD1421", "adjust.rules[0].edits")


def test_a_plan_that_is_wrong_anyway_is_told_so_first():
    text = ruled("{after: [z], edits: [{remove: b}]}", "steps: [{id: a, tool: x.y, on: {failure: q}}]")
    assert [code for code, *_ in found(text)] == ["PRD1301"]

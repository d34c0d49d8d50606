"""E12, X4: who makes a plan of a goal without a model, and what is said where nobody can."""

import json

import pytest
from errand_tools import SHOP

from perdure.agents.planners import PLANNERS, Asked, NoPlanner, plan_for
from perdure.agents.templates import stock, template_of
from perdure.tools import BUILTIN
from perdure.tools.builtin import HANDS

KNOWN = {each.name: each for each in (*BUILTIN, *HANDS, *SHOP.values())}


def made(goal, planner="auto", **more):
    return plan_for(Asked(goal, KNOWN, tuple(stock()), **more), planner)


def test_e12_a_template_that_fits_counts_before_tools():
    found = made("fetch https://a.org and store it in x.html")
    assert (found.planner, found.plan.name, found.asks, found.left) == ("template", "save_page", (), ())


def test_e12_else_tools_are_searched_for():
    found = made("read notes.txt and count the words")
    assert (found.planner, found.plan.output) == ("tools", "${steps.step_2.output}")
    assert found.numbered.steps[1].tool == "text.words"


def test_e12_where_nobody_can_all_reasons_are_told():
    with pytest.raises(NoPlanner) as refusal:
        made("bake a cake")
    assert refusal.value.code == "PRD4205"
    assert (
        refusal.value.message == "no plan could be made: template: no template fits; tools: no tool fits: bake a cake"
    )


@pytest.mark.parametrize(
    ("planner", "told"),
    [("contracts", "contracts"), ("template", "no template fits")],
)
def test_one_that_is_named_is_the_only_one_asked(planner, told):
    with pytest.raises(NoPlanner, match=told):
        made("read notes.txt", planner)


def test_the_planners_are_four():
    assert list(PLANNERS) == ["template", "tools", "contracts"]


def test_a_template_that_is_named_is_taken_whatever_the_goal_says():
    found = made("do it", template="test_and_tag", given={"name": 1, "test": "true"}, texts={"name": "1"})
    assert found.plan.inputs["name"]["default"] == "1"
    with pytest.raises(NoPlanner, match="there is no template"):
        made("do it", template="test_and_tug")


def test_what_the_plan_leaves_out_is_told():
    assert made("read notes.txt and summarise it").left == ("summarise it",)
    assert made("read a.txt and b.txt").left == ("b.txt",)
    assert made("read a.txt", given={"colour": "red"}).left == ("-i colour",)


def test_what_is_given_is_taken_as_the_tool_wants_it():
    found = made("set a timer", given={"minutes": 5}, texts={"minutes": "5"})
    assert found.numbered.steps[0].parameters == {"minutes": 5}
    text = made("count the words", given={"text": 5}, texts={"text": "5"})
    assert text.numbered.steps[0].parameters == {"text": "5"}


def test_m4_an_id_is_looked_up_before_it_is_used():
    found = made('Send an invoice over 5 to "Davis"')
    assert found.plan.requires_lookahead
    assert [step.id for step in found.plan.steps] == ["step_1", "found_1", "step_2"]


def test_x8_what_a_model_has_found_is_no_longer_asked_for_nor_left_out():
    goal = "move 'a.txt' to 'b.txt'"
    found = made(goal)
    assert (found.asks, found.left, found.loose) == (("moves",), ("a.txt", "b.txt"), ("a.txt", "b.txt"))
    assert list(found.form["properties"]) == ["moves"]
    moves = [{"path": "a.txt", "to": "b.txt"}]
    filled = made(goal, filled={"moves": moves, "more": 1})
    assert (filled.asks, filled.left, filled.form) == ((), (), {})
    assert filled.numbered.steps[0].parameters["moves"] == moves
    assert filled.numbered.metadata["parameters"]["1"]["moves"]["from"] == "model"
    assert made("count the words", filled={"text": "${secrets.KEY}"}).numbered.steps[0].parameters == {
        "text": "$${secrets.KEY}"
    }
    assert made("count the words", filled={"text": 5}).asks == ("text",)


def test_x8_a_secret_is_never_for_a_model_to_fill_in(tmp_path):
    inputs = {"api_token": {"type": "string"}, "city": {"type": "string"}}
    head = {"about": "Tell the weather.", "examples": ["tell the weather of a city"]}
    steps = [{"id": "a", "tool": "flow.echo", "with": {"value": "${inputs.city}"}}]
    document = {"perdure": 1, "name": "weather", "meta": {"template": head}, "inputs": inputs, "steps": steps}
    own = template_of(json.dumps(document).encode(), "weather.json", "here")
    found = plan_for(Asked("tell the weather of a city", {}, (own,)))
    assert (found.asks, list(found.form["properties"])) == (("api_token", "city"), ["city"])


def test_x8_what_a_model_has_found_changes_nothing_of_what_the_goal_says_plainly():
    steps = [{"id": "a", "tool": "flow.echo", "with": {"value": "${inputs.path} ${inputs.why}"}}]
    inputs = {"path": {"type": "string"}, "why": {"type": "string", "pattern": "^[a-z]+$"}}
    head = {"about": "Tell of a file.", "examples": ["tell of a.txt"]}
    document = {"perdure": 1, "name": "tell", "meta": {"template": head}, "inputs": inputs, "steps": steps}
    own = template_of(json.dumps(document).encode(), "tell.json", "here")

    def told(**filled):
        return plan_for(Asked("tell of a.txt", {}, (own,), filled=filled))

    assert told().asks == ("why",)
    found = told(path="b.txt", why="fun")
    assert [found.plan.inputs[name]["default"] for name in inputs] == ["a.txt", "fun"]
    assert {name: each["from"] for name, each in found.plan.meta["parameters"].items()} == {
        "path": "request",
        "why": "model",
    }
    assert told(why="NO").asks == ("why",)
